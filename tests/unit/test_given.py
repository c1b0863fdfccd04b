"""Every door takes the same numbers and refuses the same things."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest

import chainform as cf
from chainform.analysis import complete, drives
from chainform.errors import RunError
from chainform.given import finite_array, finite_number, real_array
from chainform.simulation import simulate_batch

X = np.array([0.3, 0.2])

NUMBERS: dict[str, Any] = {
    "array": X,
    "list": X.tolist(),
    "whole": [1, 0],
    "fractions": [Fraction(3, 10), Fraction(1, 5)],
    "rationals": [flint.fmpq(3, 10), flint.fmpq(1, 5)],
    "decimals": [Decimal("0.3"), Decimal("0.2")],
    "mixed": [Fraction(1, 3), np.float32(0.5)],
    "objects": X.astype(object),
    "not masked": np.ma.masked_array(X, [False, False]),
    "single": X.astype(np.float32),
}
NO_NUMBERS: dict[str, Any] = {
    "complex": X * 1j,
    "complex with no imaginary part": X + 0j,
    "masked": np.ma.masked_array(X, [False, True]),
    "masked within": [np.ma.masked_array(X, [False, True])[1], 1.0],
    "texts": ["0.3", "0.2"],
    "array of texts": np.array(["0.3", "0.2"]),
    "bytes": [b"0.3", b"0.2"],
    "truth": [True, False],
    "truth among numbers": [True, 0.5],
    "array of truth": np.array([True, False]),
    "truth as objects": np.array([True, 0.5], dtype=object),
    "None": [None, 0.5],
    "objects": [object(), object()],
    "dates": [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)],
    "array of dates": np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]"),
    "durations": np.array([1, 2], dtype="m8[s]"),
    "ragged": [[0.3, 0.2], [0.1]],
    "set": {0.3, 0.2},
    "too large": [10**400, 0.5],
    "records": np.zeros(2, dtype=[("a", float)]),
}
INFINITE: dict[str, Any] = {"nan": [np.nan, 0.1], "inf": [0.1, np.inf]}


@pytest.fixture(scope="module")
def arm() -> cf.Mechanism:
    builder = cf.Mechanism.builder("arm").parameter("w", 1)
    builder.segment("a", joint="revolute", axis="y", mass="w", com=[0, 0, -1])
    builder.segment("b", parent="a", joint="revolute", axis="y", mass=1, com=[0, 0, -1])
    return builder.build()


@pytest.fixture(scope="module")
def doors(arm: cf.Mechanism) -> dict[str, Callable[[Any], Any]]:
    model = cf.derive(arm, ["gravity"], parameters=["w"], reduce="none")
    program = model.compile()
    zero = np.zeros(2)
    still: dict[str, Any] = {"t": 0.01, "t_eval": [0.01]}
    return {
        "evaluate": lambda x: model.evaluate(q=x)["gravity"],
        "evaluate by names": lambda x: model.evaluate(q={"a": x, "b": x})["gravity"],
        "values": lambda x: model.evaluate(q=zero, values={"w": x})["gravity"],
        "program": program.gravity,
        "values of a program": lambda x: program.gravity(zero, values={"w": x}),
        "q0": lambda x: cf.simulate(arm, q0=x, **still).q,
        "qd0": lambda x: cf.simulate(arm, qd0=x, **still).q,
        "batch": lambda x: simulate_batch(arm, q0={"a": x}, **still).q,
        "drives": lambda x: drives(arm, x, zero, zero).tau,
        "complete": lambda x: complete(arm, {"a": x, "b": x}).q,
        "function": lambda x: cf.simulate(arm, forces=lambda *_: x, **still).q,
        "change": lambda x: cf.simulate(arm, events=_event(x), **still).q,
    }


def _event(x: Any) -> dict[str, Any]:
    return {"half": {"law": "t - 0.005", "change": lambda _t, q, _qd: (q, x)}}


DOORS = [
    *("evaluate", "evaluate by names", "values", "program", "values of a program"),
    *("q0", "qd0", "batch", "drives", "complete", "function", "change"),
]


@pytest.mark.parametrize("door", DOORS)
def test_every_door_takes_the_same(doors: dict[str, Callable[[Any], Any]], door: str) -> None:
    for name, value in NUMBERS.items():
        assert np.all(np.isfinite(doors[door](value))), name
    for name, value in NO_NUMBERS.items():
        with pytest.raises(RunError) as caught:
            doors[door](value)
        assert caught.value.remedy, name


@pytest.mark.parametrize("door", ["q0", "qd0", "batch", "drives", "complete"])
def test_motions_are_finite(doors: dict[str, Callable[[Any], Any]], door: str) -> None:
    for value in INFINITE.values():
        with pytest.raises(RunError, match="finite"):
            doors[door](value)


def test_times_and_values_of_a_motion(arm: cf.Mechanism) -> None:
    for value in NO_NUMBERS.values():
        cases: list[dict[str, Any]] = [
            *({"t": value}, {"t": 1, "t_eval": value}, {"t": 1, "values": {"w": value}})
        ]
        for wrong in cases:
            with pytest.raises(RunError):
                cf.simulate(arm, **wrong)
    singles: list[Any] = [True, 1j, "1", None, [1.0], np.array([1.0]), np.nan, np.complex128(1)]
    singles.append(b"1")
    for one in singles:
        with pytest.raises(RunError):
            cf.simulate(arm, t=1, values={"w": one})


def test_nan_is_a_number_where_nothing_moves() -> None:
    assert np.isnan(real_array("q", [np.nan, 1])).tolist() == [True, False]
    assert np.isinf(real_array("q", np.inf))


def test_one_number() -> None:
    assert finite_number("w", Fraction(1, 2)) == 0.5
    for wrong in ([0.5], np.array([0.5]), np.inf, True):
        with pytest.raises(RunError):
            finite_number("w", wrong)


def test_finite_arrays_are_copies() -> None:
    own = finite_array("q", X)
    assert own is not X
    assert not np.shares_memory(own, X)


def test_numbers_beyond_single_precision_are_refused(arm: cf.Mechanism) -> None:
    program = cf.derive(arm, ["gravity"], parameters=["w"]).compile(precision="float32")
    for wrong in ([0.1, 1e39], np.full((20, 2), -1e39), [0, 10**39]):
        with pytest.raises(RunError, match="beyond the range of float32"):
            program.gravity(wrong)
    with pytest.raises(RunError, match="beyond the range of float32"):
        program.gravity([0.1, 0.2], values={"w": 1e39})
