"""Closing loops from rough values, rates that fit, and how many freedoms are left."""

from __future__ import annotations

import numpy as np
import pytest

import chainform as cf
from chainform.errors import RunError
from chainform.readers import read_text
from chainform.simulation.equations.assembly import assemble, consistent_rates, mobility
from chainform.simulation.equations.loop_constraints import ConstraintResiduals
from unit.simulation.linkages import (
    CRANK,
    LEGS,
    ROD,
    chain_of_four,
    parallelogram,
    rough_platform,
    slider_crank,
    stewart,
)

pytestmark = pytest.mark.any_processor


def gap(mechanism: cf.Mechanism, q: np.ndarray) -> float:
    return float(np.max(np.abs(ConstraintResiduals(mechanism).at(q))))


@pytest.mark.parametrize("seed", range(6))
def test_loops_close_from_rough_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for mechanism in (slider_crank(), parallelogram(), chain_of_four()):
        near = assemble(mechanism, rng.uniform(-0.5, 0.5, mechanism.nq))
        q = assemble(mechanism, near + rng.uniform(-0.2, 0.2, mechanism.nq))
        assert gap(mechanism, q) < 1e-13
        assert np.abs(q - near).max() < 1.0


def test_whole_turns_are_left_out() -> None:
    """However far the steps went round, the pose is that next to the rough one."""
    rng = np.random.default_rng(1)
    for rough in rng.uniform(-3, 3, (40, 4)):
        q = assemble(chain_of_four(), rough)
        assert np.abs(q - rough).max() <= np.pi + 1e-9
        assert gap(chain_of_four(), q) < 1e-11


def test_fixed_coordinates_stay() -> None:
    for angle in np.linspace(-3, 3, 9):
        rough = {"crank": angle, "rod": -angle, "slider": 0.9}
        q = assemble(slider_crank(), rough, fixed=["crank"])
        assert q[0] == angle
        place = CRANK * np.cos(angle) + np.sqrt(ROD**2 - (CRANK * np.sin(angle)) ** 2)
        assert q[2] == pytest.approx(place, abs=1e-13)


def test_a_stretched_pose_is_left() -> None:
    """From the zero pose of this linkage no step closes it any further: it begins aside."""
    builder = cf.Mechanism.builder("elbow", gravity=(0, 0, 0))
    builder.segment("a", axis="z", mass=1, com=[1, 0, 0])
    builder.segment("b", parent="a", axis="z", position=[1, 0, 0], mass=1, com=[1, 0, 0])
    end = {"segment": "b", "point": [1, 0, 0]}
    builder.loop(
        "hand", kind="point", closing=end, target={"segment": "ground", "point": [1, 0, 0]}
    )
    q = assemble(builder.build())
    assert np.abs(np.abs(q) - [np.pi / 3, 2 * np.pi / 3]).max() < 1e-12


def test_a_platform_is_assembled_with_quaternions() -> None:
    mechanism = stewart()
    q = assemble(mechanism, rough_platform(), fixed=["platform_z"])
    assert gap(mechanism, q) < 1e-13
    assert q[:7] == pytest.approx([0, 0, 1, 0, 0, 0, 1], abs=1e-15)
    apart = 1 + 0.25 - 2 * 0.5 * np.cos(np.radians(40))
    legs = q[[mechanism.coordinate_index(leg) for leg in LEGS]]
    assert legs == pytest.approx(np.full(6, np.sqrt(apart + 1)), abs=1e-5)
    found = mobility(mechanism, q)
    assert (found.rows, found.rank, found.freedoms, found.notes) == (18, 18, 6, ())


@pytest.mark.slow
def test_what_cannot_be_assembled_is_named() -> None:
    with pytest.raises(RunError) as caught:
        assemble(slider_crank(), {"crank": 0.5, "slider": 5.0}, fixed=["crank", "slider"])
    assert caught.value.element == "loop 'pin'"
    assert "stays open by" in caught.value.message
    assert "leave crank, slider free" in str(caught.value.remedy)


ELLIPSE = """
name = "ellipse"
coordinates = [{ name = "x", unit = "m" }, { name = "y", unit = "m" }]
elements = ["ball: S(x, y, 0); 1, 0, 0, 0"]
gravity = [0, 0, 0]
[[constraints]]
name = "wire"
kind = "holonomic"
law = "x^2/4 + y^2 - 1 - t"
[[constraints]]
name = "skate"
kind = "nonholonomic"
law = "der(x) - 2*der(y)"
"""


def test_constraints_of_elements_are_met_at_a_time() -> None:
    mechanism = read_text(ELLIPSE, "toml")
    q = assemble(mechanism, {"x": 3.0, "y": 0.3}, t=1.25)
    assert q[0] ** 2 / 4 + q[1] ** 2 == pytest.approx(2.25, abs=1e-13)
    q = assemble(mechanism, {"x": 1.0, "y": 0.3}, fixed=["x"])
    assert q == pytest.approx([1.0, np.sqrt(0.75)], abs=1e-13)
    qd = consistent_rates(mechanism, q)
    rate = q[0] * qd[0] / 2 + 2 * q[1] * qd[1]
    assert rate == pytest.approx(1.0, abs=1e-12)
    assert qd[0] == pytest.approx(2 * qd[1], abs=1e-12)
    found = mobility(mechanism, q)
    assert (found.rank, found.freedoms) == (2, 0)
    with pytest.raises(RunError, match="constraint 'wire' stays at"):
        assemble(mechanism, {"x": 9.0, "y": 0.3}, fixed=["x"])


def test_rates_that_fit_are_found() -> None:
    mechanism = slider_crank()
    q = assemble(mechanism, {"crank": 0.7, "slider": 1.0}, fixed=["crank"])
    qd = consistent_rates(mechanism, q, {"crank": 2.0}, fixed=["crank"])
    speed = np.imag(
        CRANK * np.cos(0.7 + 2e-20j) + np.sqrt(ROD**2 - (CRANK * np.sin(0.7 + 2e-20j)) ** 2)
    )
    assert qd[2] == pytest.approx(speed / 1e-20, abs=1e-12)
    with pytest.raises(RunError, match="no such rates keep loop 'pin' closed"):
        consistent_rates(mechanism, q, {"crank": 2.0, "slider": 3.0}, fixed=["crank", "slider"])


def test_freedoms_redundancy_and_singular_positions() -> None:
    found = mobility(chain_of_four(), assemble(chain_of_four(), {"a": 1.0}, fixed=["a"]))
    assert (found.rows, found.rank, found.freedoms) == (6, 3, 1)
    assert found.redundant == {"loop 'whole'": (3, 6)}
    flat = mobility(parallelogram(), np.zeros(3))
    assert flat.is_singular
    assert (flat.rank, flat.rank_here, flat.freedoms) == (2, 1, 1)
    risen = mobility(parallelogram(), np.array([1.0, -1.0, 1.0]))
    assert not risen.is_singular


def test_a_loop_on_one_piece_binds_nothing() -> None:
    """Its rows are rounding, however they compare with each other."""
    builder = cf.Mechanism.builder("piece")
    builder.segment("a", axis=[1, 2, 3], mass=1, com=["0.1", 0, 0], inertia=[1, 1, 1])
    builder.segment("b", parent="a", joint="fixed", position=["0.1", "0.2", "0.3"], mass=1)
    own, other = ["0.3", "0.1", "0.7"], ["0.4", "0.3", 1]
    builder.loop("L", "frame", {"segment": "b", "point": own}, {"segment": "a", "point": other})
    found = mobility(builder.build(), [0.3])
    assert (found.rank, found.freedoms) == (0, 1)
    assert found.redundant == {"loop 'L'": (6, 6)}
