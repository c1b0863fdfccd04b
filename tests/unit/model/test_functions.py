"""Efforts given by a function of time, coordinates and rates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import chainform as cf

Q, QD = np.random.default_rng(5).normal(size=(2, 4, 5))


def model() -> cf.Model:
    return cf.derive(cf.read("examples/manipulator_forces.toml"), ["forward_dynamics"])


def test_tau_may_be_a_function() -> None:
    times = np.linspace(0, 2, 4)

    def brake(t: Any, q: Any, qd: Any) -> Any:
        return np.sin(t)[:, np.newaxis] * q - 3 * qd

    found, given = (
        model().evaluate(q=Q, qd=QD, tau=tau, t=times)
        for tau in (brake, np.sin(times)[:, np.newaxis] * Q - 3 * QD)
    )
    assert np.array_equal(found["forward_dynamics"], given["forward_dynamics"])


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"tau": lambda q: q}, "does not take three arguments"),
        ({"tau": lambda _t, _q, _qd: [1]}, "last dimension must be 5"),
        ({"tau": np.zeros(5), "qd": lambda _t, q, _qd: q}, "qd cannot be a function"),
    ],
)
def test_wrong_functions_are_refused(state: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"q": Q[0], "qd": QD[0], "t": 0} | state
    with pytest.raises(cf.Error, match=message):
        model().evaluate(**given)


def test_time_is_asked_for_as_a_number() -> None:
    with pytest.raises(cf.Error, match="t is needed") as caught:
        model().evaluate(q=Q[0], qd=QD[0], tau=np.zeros(5))
    assert (caught.value.remedy or "").startswith("t=0.5")
