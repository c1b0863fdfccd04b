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
from chainform.errors import ReadError, RunError
from chainform.given import Given, argument, double_of, finite_array, near, real_array, shown
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


SOME = {"a": 1}
RIGHT: list[tuple[Any, Callable[[Given], Any], Any]] = [
    (Fraction(1, 2), Given.number, 0.5),
    (Decimal("0.5"), Given.number, 0.5),
    (np.float32(0.5), Given.number, 0.5),
    (np.array(2), Given.number, 2.0),
    (3.0, Given.whole, 3),
    (np.int8(3), Given.whole, 3),
    (Fraction(3), Given.whole, 3),
    ("any text ", Given.text, "any text "),
    ("arm", Given.texts, ("arm",)),
    (("a", np.str_("b")), Given.texts, ("a", "b")),
    ([], Given.texts, ()),
    ("arm", Given.name, "arm"),
    ("b", lambda g: g.choice(("a", "b")), "b"),
    (False, Given.flag, False),
    ({1: "x", "note": 2}, lambda g: g.table(("1",)).value, {"1": "x"}),
    (SOME, lambda g: g.table().required("a").value, 1),
    (SOME, lambda g: g.one_of("a", "b"), "a"),
    (np.eye(2), lambda g: [entry.value for entry in g.entries(2)], [[1.0, 0.0], [0.0, 1.0]]),
]
"""Values, how they are read, and what they are."""


@pytest.mark.parametrize(("value", "read", "result"), RIGHT)
def test_what_is_taken(value: Any, read: Callable[[Given], Any], result: Any) -> None:
    assert read(Given(value)) == result


WRONG: list[tuple[Callable[[Given], Any], list[Any], str]] = [
    (
        Given.number,
        [None, True, np.bool_(True), "1", b"1", 1j, [1.0], np.array([1.0]), SOME, object()],
        "expected a number, got ",
    ),
    (Given.number, [np.nan, np.inf, 10**400, Decimal("1e999")], "the number is not finite"),
    (lambda g: g.number(least=0), [-1, Fraction(-1, 3)], "the number is negative"),
    (lambda g: g.number(above=0), [0, -1], "the number is not positive"),
    (lambda g: g.number(most=1), [2], "the number is above 1"),
    (lambda g: g.number(least=2), [1], "the number is below 2"),
    (Given.whole, [0.5, -1, True, "3", None, [3], np.nan, 1e300], "expected a whole number from 0"),
    (lambda g: g.whole(1, 4), [0, 5], "expected a whole number from 1 to 4"),
    (Given.text, [None, 3, b"a", ["a"]], "expected a text, got "),
    (Given.texts, [None, 3, b"a", ["a", 3], [["a"]]], "expected a text, got "),
    (Given.name, ["", " a", "a\n", "a" * 201], "cannot be a name"),
    (lambda g: g.choice(("arm", "leg")), ["am", "foot"], "there is no y "),
    (lambda g: g.choice(("arm", "leg"), "part"), [None, ["arm"]], "expected a text"),
    (Given.flag, [None, 0, 1, "true"], "expected true or false, got "),
    (Given.table, [None, 3, "a", [1]], "expected a table, got "),
    (lambda g: g.table(("mass",)), [{"mas": 1}, {3: 1}], "unknown field "),
    (lambda g: g.required("b"), [SOME, {"b": None}], "'b' is missing"),
    (lambda g: g.one_of("a", "b"), [{}, {"a": 1, "b": 2}], "one of a, b is needed, found "),
    (Given.entries, [None, 3, "abc", SOME, {1}], "expected a list, got "),
    (lambda g: g.entries(2), [[1], [1, 2, 3], np.eye(3)], "expected 2 entries, got "),
]
"""How values are read, and those that are refused with a message."""


@pytest.mark.parametrize(("read", "values", "message"), WRONG)
def test_what_is_refused(read: Callable[[Given], Any], values: list[Any], message: str) -> None:
    for value in values:
        for raises in (ReadError, RunError):
            with pytest.raises(raises) as caught:
                read(Given(value, "x, y", "arm.toml", raises))
            assert message in caught.value.message, value
            assert str(caught.value.element).startswith("x, y"), value
            assert (caught.value.file, bool(caught.value.remedy)) == ("arm.toml", True)


def test_known_fields_are_named_once() -> None:
    with pytest.raises(RunError) as caught:
        argument("x", {"mass": 1}).table(("t", "q", "t"))
    assert caught.value.remedy == "known fields: q, t"


def test_entries_know_where_they_stand() -> None:
    table = Given({"a": [{"b": 1}]}, "arm", "f", remedy="look").table()
    assert table["a"].entries()[0]["b"].element == "arm, a[1], b"
    assert Given({"a": 1}, "").table()["a"].element == "a"
    assert str(table["z"].error("it is odd", "mend it")) == "f: arm, z: it is odd\n  remedy: look"
    with pytest.raises(RunError, match=r"^q0: it is odd\n  remedy: mend it"):  # noqa: SIM117
        with argument("q0", 3).translate_errors():
            raise ReadError("it is odd", file="g", element="elsewhere", remedy="mend it")


def test_the_nearest_name() -> None:
    assert near("elbw", ["shoulder", "elbow"]) == "did you mean 'elbow'? "
    assert near("xyz", ["shoulder", "elbow"]) == ""
    assert Given("elbw").unknown("joint", ["elbow"]).remedy == "did you mean 'elbow'?"
    assert Given("xyz").unknown("joint", ["a", "b"]).remedy == "there are a, b"
    many = Given("xyz").unknown("joint", map(str, range(1000))).remedy
    assert many is not None
    assert len(many) < 300


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


def test_whole_numbers_beyond_doubles_stay_exact() -> None:
    assert argument("seed", 10**18 - 1).whole(0, 10**18) == 10**18 - 1
    assert double_of(-(10**400)) == -np.inf
    assert shown(10**5000) == "a number of many digits"
