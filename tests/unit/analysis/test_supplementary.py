"""Basic and supplementary coordinates: against closed forms, differences and simulations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import chainform as cf
from chainform.analysis import complete
from chainform.errors import RunError
from unit.simulation.linkages import CRANK, ROD, parallelogram, slider_crank, stewart

Array = NDArray[np.float64]
TIMES = np.linspace(0, 2, 101)
CLOSED = {"rod": -0.5, "slider": 1.0}


def slider(crank: Any) -> Any:
    return CRANK * np.cos(crank) + np.sqrt(ROD**2 - (CRANK * np.sin(crank)) ** 2)


def test_a_slider_crank_follows_its_crank_by_a_law() -> None:
    motion = complete(slider_crank(), {"crank": "3*t + 0.2*sin(5*t)"}, t=TIMES, start=CLOSED)

    def angle(t: Any) -> Any:
        return 3 * t + 0.2 * np.sin(5 * t)

    h = 1e-20
    rate = 3 + np.cos(5 * TIMES)
    assert np.abs(motion.q[:, 0] - angle(TIMES)).max() < 1e-14
    assert np.abs(motion.q[:, 2] - slider(angle(TIMES))).max() < 1e-13
    assert np.abs(motion.qd[:, 0] - rate).max() < 1e-14
    assert np.abs(motion.qd[:, 2] - np.imag(slider(angle(TIMES + 1j * h))) / h).max() < 1e-12
    step = 1e-5
    ahead, behind = (np.imag(slider(angle(TIMES + s * step + 1j * h))) / h for s in (1, -1))
    assert np.abs(motion.qdd[:, 2] - (ahead - behind) / (2 * step)).max() < 1e-7


def test_numbers_by_name_and_one_state() -> None:
    motion = complete(slider_crank(), {"crank": 0.7}, {"crank": 2.0}, {"crank": -1.0}, start=CLOSED)
    assert motion.q.shape == (3,)
    assert motion.q[2] == pytest.approx(slider(0.7), abs=1e-13)
    assert motion.qd[0] == 2.0
    assert motion.qdd[0] == -1.0


def test_any_coordinate_may_be_basic() -> None:
    by_crank = complete(slider_crank(), {"crank": "0.5 + t"}, t=TIMES[:50], start=CLOSED)
    by_slider = complete(
        slider_crank(),
        {"slider": by_crank.q[:, 2]},
        {"slider": by_crank.qd[:, 2]},
        {"slider": by_crank.qdd[:, 2]},
        t=TIMES[:50],
        start=by_crank.q[0],
    )
    assert np.abs(by_slider.q - by_crank.q).max() < 1e-11
    assert np.abs(by_slider.qd - by_crank.qd).max() < 1e-9
    assert np.abs(by_slider.qdd - by_crank.qdd).max() < 1e-7


def test_it_stays_assembled_the_same_way_round() -> None:
    source = cf.read("examples/four_bar.toml")
    for start in ([0, 0.5, 1.2], [0, -0.5, -1.2]):
        motion = complete(source, {"crank": "6*t"}, t=TIMES, start=start)
        assert np.abs(np.diff(motion.q, axis=0)).max() < 0.5
        assert np.sign(motion.q[:, 2]).std() == 0


def test_legs_of_a_platform_are_basic() -> None:
    source = stewart()
    legs = {f"leg{k}": f"1.2 + 0.02*{k}*sin(t)" for k in range(1, 7)}
    motion = complete(source, legs, t=np.linspace(0, 0.5, 6), start={"platform_z": 1.0})
    h = 1e-6
    later = complete(source, legs, t=0.2 + h, start=motion.q[2])
    before = complete(source, legs, t=0.2 - h, start=motion.q[2])
    assert np.abs((later.q - before.q)[:3] / (2 * h) - motion.qd[2, :3]).max() < 1e-2
    assert np.abs((later.qd - before.qd) / (2 * h) - motion.qdd[2]).max() < 1e-7


@pytest.mark.parametrize(
    ("basic", "options", "message"),
    [
        ({"slider": 5.0}, {"t": 2.0}, "closed at t = 2 s with slider = 5: .* assembled"),
        ({"slider": np.linspace(1, 2, 5)}, {"t": TIMES[:5]}, "cannot be closed at t = "),
        ({}, {}, "leave 1 freedom open"),
        ({"crank": 0.5}, {"rates": {"slider": 1.0}}, "slider is no basic coordinate"),
        ({"crank": [[1.0]]}, {}, "one row of states"),
        ({"crank": np.nan}, {}, "not finite"),
        ({"crank": "slider"}, {}, "cannot stand here|not known here"),
    ],
)
def test_what_cannot_be_is_refused(basic: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(cf.Error, match=message):
        complete(slider_crank(), basic, **options, start={"crank": 0.5, **CLOSED})


def test_singular_positions_are_told() -> None:
    with pytest.raises(RunError, match="singular position at t = 1 s"):
        complete(
            parallelogram(),
            {"a": [0.5, 0.0]},
            t=[0.0, 1.0],
            start=[0.5, -0.5, 0.5],
        )
