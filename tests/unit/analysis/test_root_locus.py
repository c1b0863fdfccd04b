"""Poles along a parameter: limits of stability against closed forms and published ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.analysis import Result
from published.cases.bicycle import FRONT, REAR, bicycle
from unit.analysis.oscillators import (
    TOP,
    G,
    oscillator,
    parallelogram,
    pendulums,
    spring_chain,
    top,
)

EXAMPLES = Path(__file__).parents[3] / "examples"
CROSSED = ("point", "divergence", "oscillation")


def crossing(found: Result) -> Any:
    (row,) = found.facts["crossings"]
    at = int(np.flatnonzero(found["kind"])[0])
    assert found["parameter"][at] == row[0]
    assert found["kind"][at] == CROSSED.index(row[1])
    return row


# --- limits of stability ------------------------------------------------------------------------


@pytest.mark.parametrize("joint", ["cardan", "spherical"])
def test_a_top_sleeps_from_its_limit_on(joint: str) -> None:
    """C n = 2 sqrt(A m g l): two pairs of poles meet there, with C n / (2 A) in space."""
    found = cf.root_locus(top(joint), "n", (20, 60), count=6, qd=[0, 0, "n"])
    limit = 2 * np.sqrt(TOP["A"] * TOP["moment"]) / TOP["C"]
    value, kind, frequency, direction = crossing(found)
    assert value == pytest.approx(limit, rel=1e-12)
    assert (kind, direction) == ("oscillation", -1)
    turned = TOP["C"] * limit / (2 * TOP["A"])
    wanted = turned if joint == "cardan" else limit - turned
    assert frequency == pytest.approx(wanted, rel=1e-10)
    assert found["unstable"].tolist() == [2.0] * 3 + [0.0] * 4


def test_the_mass_of_the_top_is_a_parameter_too() -> None:
    """Half of A goes with m: C n = 2 sqrt((0.02 + 0.09 m) m g l)."""
    found = cf.root_locus(top("cardan"), "m", (1, 4), count=4, qd=[0, 0, 40])
    roots = np.roots([0.09 * G * 0.3, 0.02 * G * 0.3, -((TOP["C"] * 40) ** 2) / 4])
    assert crossing(found)[0] == pytest.approx(max(roots), rel=1e-12)
    assert crossing(found)[3] == 1


def bead(c: str = "0.2") -> tuple[cf.Mechanism, dict[str, str]]:
    """Return a point mass on a hoop that turns with W: its weight, centrifugal force, friction."""
    builder = cf.Mechanism.builder("bead", gravity=(0, 0, -9.81))
    builder.segment("swing", axis="y", mass=1, com=[0, 0, -0.5])
    return builder.build(), {"swing": f"W^2*sin(swing)*cos(swing)/4 - {c}*der(swing)"}


@pytest.mark.parametrize("damping", ["0.2", "0"])
def test_a_turned_pendulum_leaves_the_lowest_place(damping: str) -> None:
    """W^2 = g/l, with friction and without: a divergence."""
    mechanism, law = bead(damping)
    found = cf.root_locus(mechanism, "W", (1, 8), count=15, forces=law)
    value, kind, _, direction = crossing(found)
    assert value == pytest.approx(np.sqrt(2 * G), rel=1e-10)
    assert (kind, direction) == ("divergence", 1)


def test_the_equilibrium_is_followed() -> None:
    """cos q = g / (l W^2), omega^2 = W^2 sin^2 q."""
    mechanism, law = bead("0")
    found = cf.root_locus(mechanism, "W", (5, 9), count=9, q=[1.0], forces=law)
    lean = np.arccos(2 * G / found["parameter"] ** 2)
    assert found["q"][:, 0] == pytest.approx(lean, rel=1e-10)
    assert np.abs(found["pole_imag"]) == pytest.approx(
        np.tile((found["parameter"] * np.sin(lean))[:, None], 2), rel=1e-9
    )
    assert not found.facts["crossings"]
    assert found.report[1] == "all poles stay on their side of the imaginary axis"


def test_modes_and_responses_find_the_equilibrium_near_by() -> None:
    mechanism, law = bead("0")
    forces = {"swing": law["swing"].replace("W", "7")}
    about: dict[str, Any] = {"q": [1.0], "forces": forces}
    lean = np.arccos(2 * G / 49)
    with pytest.raises(cf.Error, match="search=True"):
        cf.modes(mechanism, **about)
    found = cf.modes(mechanism, search=True, **about)
    assert found["q"][0] == pytest.approx([lean], rel=1e-10)
    assert found["angular_frequency"] == pytest.approx([7 * np.sin(lean)], rel=1e-9)
    answer = cf.frequency_response(
        mechanism, ["swing"], ["swing"], [0.1, 0.2], search=True, **about
    )
    assert answer["q"][:, 0] == pytest.approx(lean, rel=1e-10)
    with pytest.raises(cf.Error, match="no equilibrium"):
        cf.modes(mechanism, q=[1.0], forces={"swing": "100"}, search=True)


@pytest.mark.slow
def test_a_design_follows_the_equilibrium() -> None:
    """W sin q = 5 with cos q = g / (l W^2) and W = 7."""
    mechanism, law = bead("0")
    forces = {"swing": law["swing"].replace("W", "7")}
    study = {"task": "modes", "q": [1.0], "forces": forces, "search": True}
    found = cf.design(
        mechanism,
        {"g": [5, 20]},
        study,
        goals={"first(angular_frequency)": 5},
        starts=1,
        derivatives="differences",
    )
    assert found["g"][0] == pytest.approx(7 * np.sqrt(6), rel=1e-6)


def test_a_path_of_poles_begins_at_an_equilibrium_of_a_result() -> None:
    rest = cf.equilibria(pendulums(1), starts=30)
    options: dict[str, Any] = {"count": 3, "forces": {"p1": "-c*der(p1)"}}
    with pytest.raises(cf.Error, match="row = 1 to 2"):
        cf.root_locus(pendulums(1), "c", (0.1, 1), state=rest, **options)
    for row, grow in ((1, 0), (2, 1)):
        found = cf.root_locus(pendulums(1), "c", (0.1, 1), state=rest, row=row, **options)
        assert found["q"][0] == pytest.approx(rest["q"][row - 1])
        assert found["unstable"].tolist() == [grow] * 3
        assert len(cf.modes(pendulums(1), rest, row=row)) == grow + 1


def test_an_integral_gain_ends_in_a_hopf_point() -> None:
    """2 s^3 + 6 s^2 + 80 s + ki: Routh's limit is ki = 240, with omega^2 = 40."""
    pid = {"hold": {"type": "pid", "joint": "x", "kp": 30, "ki": "gain", "kd": 4}}
    found = cf.root_locus(oscillator(), "gain", (1, 500), count=8, controllers=pid)
    value, kind, frequency, direction = crossing(found)
    assert [value, frequency] == pytest.approx([240, np.sqrt(40)], rel=1e-11)
    assert (kind, direction) == ("oscillation", 1)
    for value, poles in zip(
        found["parameter"], found["pole_real"] + 1j * found["pole_imag"], strict=True
    ):
        wanted = np.roots([2, 6, 80, value])
        assert np.sort_complex(poles) == pytest.approx(np.sort_complex(wanted), rel=1e-9)
    # Each pole goes on in its column.
    steps = np.abs(np.diff(found["pole_real"] + 1j * found["pole_imag"], axis=0))
    assert steps.max() < 3


def test_integrals_follow_what_they_hold() -> None:
    """A pid that holds a pendulum aside at any angle needs another integral at each."""
    pid = {"p1": {"type": "pid", "kp": 40, "ki": 20, "kd": 5, "target": "angle"}}
    found = cf.root_locus(pendulums(1), "angle", (0, 1), count=5, q=["angle"], controllers=pid)
    assert found["q"][:, 0] == pytest.approx(found["parameter"], abs=1e-9)
    inertia, weight = 1.5 * 0.25, 1.5 * G * 0.5
    for row, angle in enumerate(found["parameter"]):
        wanted = np.roots([inertia, 5, 40 + weight * np.cos(angle), 20])
        poles = found["pole_real"][row] + 1j * found["pole_imag"][row]
        assert np.sort_complex(poles) == pytest.approx(np.sort_complex(wanted), rel=1e-8)


@pytest.mark.parametrize("span", [(-1, 1), (-1, 1.3), (1.3, -1)])
@pytest.mark.parametrize(("name", "kind"), [("d", "oscillation"), ("k", "divergence")])
def test_a_crossing_may_be_at_a_row(name: str, kind: str, span: tuple[float, float]) -> None:
    found = cf.root_locus(oscillator(), name, span, count=11)
    value, how, frequency, direction = crossing(found)
    assert abs(value) < 1e-9
    assert (how, direction) == (kind, int(np.sign(span[0] - span[1])))
    assert frequency == pytest.approx(5 if kind == "oscillation" else 0)


def test_a_closed_loop_is_followed() -> None:
    """The cranks hang under a spring that turns them over: -k a at 0 is the upright state."""
    up = [np.pi / 2, -np.pi / 2, np.pi / 2]
    found = cf.root_locus(
        parallelogram(), "k", (10, 20), count=4, q=up, forces={"a": "-k*(a - pi/2) - der(a)"}
    )
    assert crossing(found)[0] == pytest.approx(G * (2 * 0.2 + 3 * 0.4), rel=1e-10)
    assert crossing(found)[1:] == ["divergence", 0.0, -1]


@pytest.mark.slow
def test_the_bicycle_is_stable_between_the_published_speeds() -> None:
    """Weave and capsize speed of Meijaard, Papadopoulos, Ruina and Schwab 2007."""
    rates = {"frame_tx": "v", "rear": f"-v/{REAR}", "front": f"-v/{FRONT}"}
    found = cf.root_locus(bicycle(), "v", (3.5, 6.5), count=3, qd=rates)
    (weave, kind, frequency, gained), (capsize, other, _, lost) = found.facts["crossings"]
    assert weave == pytest.approx(4.292382536341111, rel=1e-11)
    assert capsize == pytest.approx(6.024262015388370, rel=1e-11)
    assert frequency == pytest.approx(3.43503384866144, rel=1e-10)
    assert (kind, gained, other, lost) == ("oscillation", -1, "divergence", 1)


def test_a_rolling_disc_stands_from_its_limit_on() -> None:
    """3 v^2 = g r for a thin disc."""
    disc = cf.read(EXAMPLES / "rolling_disc.toml")
    found = cf.root_locus(disc, "v", (0.5, 1.5), count=4, qd={"x": "v", "phi": "v/0.3"})
    assert crossing(found)[0] == pytest.approx(np.sqrt(G * 0.3 / 3), rel=1e-11)
    assert crossing(found)[1] == "divergence"


def test_a_disc_is_followed_into_a_turn() -> None:
    """Its lean goes along, from upright on; for small turns it is 3/2 w v / g."""
    disc, spin = cf.read(EXAMPLES / "rolling_disc.toml"), {"phi": 6, "psi": "w"}
    found = cf.root_locus(disc, "w", (0, -2), count=6, qd=spin)
    lean = found["q"][:, 3]
    assert lean[0] == 0
    assert np.all(np.diff(lean) > 0)
    assert lean[1] == pytest.approx(1.5 * 0.4 * 1.8 / G, rel=0.05)
    last = cf.modes(disc, q={"theta": lean[-1]}, qd={"phi": 6, "psi": -2})
    assert found["pole_imag"][-1].max() == pytest.approx(last["pole_imag"][-1], rel=1e-9)
    assert not found.facts["crossings"]


@pytest.mark.parametrize("count", [4, 7, 60])
def test_a_fold_ends_the_path(count: int) -> None:
    """p = x^3 - 3 x ends at p = 2 with x = -1; there is another equilibrium at x = 2."""
    law = {"x": "-(x^3 - 3*x) + p - der(x) + 50*x"}
    given: dict[str, Any] = {"q": [-2.1], "forces": law, "count": count}
    with pytest.raises(cf.Error, match="no equilibrium and no steady motion was found at p = "):
        cf.root_locus(oscillator("0"), "p", (-2, 3), **given)
    found = cf.root_locus(oscillator("0"), "p", (-2, 1.9), **given)
    x = found["q"][:, 0]
    assert np.all(x < -1)
    assert x**3 - 3 * x == pytest.approx(found["parameter"], abs=1e-8)


@pytest.mark.parametrize("damping", [0.1, 1e-3, 1e-6])
def test_zieglers_paradox(damping: float) -> None:
    """A force that follows the tip: 41/28 + c^2/2 with any damping, 7/2 - sqrt(2) without it.

    The mass at the joint is twice that at the tip; all else is 1.
    """
    builder = cf.Mechanism.builder("column", gravity=(0, 0, 0))
    builder.segment("a", axis="z", mass=2, com=[1, 0, 0])
    builder.segment("b", parent="a", axis="z", position=[1, 0, 0], mass=1, com=[1, 0, 0])
    column, limits = builder.build(), []
    for c in (damping, 0):
        laws = {"a": f"-a - {c!r}*der(a) - P*sin(b)", "b": f"-b - {c!r}*der(b)"}
        limits.append(crossing(cf.root_locus(column, "P", (0.5, 4), count=8, forces=laws))[0])
    assert limits == pytest.approx([41 / 28 + damping**2 / 2, 3.5 - np.sqrt(2)], rel=1e-8)


@pytest.mark.parametrize(
    ("law", "kind"),
    [("0.01*(2*g - 1)*der(m1) - 0.01*m1", "oscillation"), ("0.01*(2*g - 1)*m1", "divergence")],
)
def test_slow_poles_beside_fast_ones_are_seen(law: str, kind: str) -> None:
    """A pole at -1e6 hides none at 0.01."""
    rig = spring_chain(2).with_forces({"m0": "3*m0 - 3*m1 - 2e6*der(m0)", "m1": "6*m1 - 3*m0"})
    found = cf.root_locus(rig, "g", (0, 1), count=4, forces={"m1": law})
    value, how, frequency, direction = crossing(found)
    assert value == pytest.approx(0.5, abs=1e-6)
    assert (how, direction) == (kind, 1)
    assert frequency == pytest.approx(np.sqrt(0.005) if kind == "oscillation" else 0, rel=1e-6)


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "given", "message"),
    [
        (spring_chain, {"parameter": "w"}, "there is no parameter 'w'"),
        (spring_chain, {"forces": {"m0": "-k*m0"}, "span": [1, 1]}, "the span is empty"),
        (spring_chain, {"forces": {"m0": "-k*m0"}, "count": 1}, "count"),
        (spring_chain, {"forces": {"m0": "-k*m0"}, "values": {"k": 1}}, "given a value"),
        (spring_chain, {"forces": {"m0": "k"}, "qd": [1.0]}, "no steady motion"),
        (pendulums, {"forces": {"p1": "100*k"}}, "no equilibrium and no steady motion was found"),
        (oscillator, {"state": {"q": ["k*z"]}}, "z"),
    ],
)
def test_what_is_refused(
    make: Callable[[], cf.Mechanism], given: dict[str, Any], message: str
) -> None:
    whole: dict[str, Any] = {"parameter": "k", "span": (1, 2), "count": 3}
    with pytest.raises(cf.Error, match=message):
        cf.root_locus(make(), **{**whole, **given})
