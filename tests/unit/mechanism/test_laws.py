"""Names in laws: what they mean, and what stands for a coordinate in another order."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import chainform as cf
from chainform.errors import ReadError
from chainform.expressions import Identifier, format_expression, parse
from chainform.mechanism import Mechanism
from chainform.mechanism.laws import Meaning, Order, meaning_of, moved_law, symbol_of


def test_the_rate_of_a_coordinate_whatever_it_is_called() -> None:
    names = ("x", "phi"), ("x", "omega")
    assert meaning_of("der(phi)", *names) == Meaning("qd", 1)
    assert meaning_of("omega", *names) == Meaning("qd", 1)
    assert meaning_of("der(omega)", *names) == Meaning("qd", 1)
    builder = Mechanism.builder("wheel").coordinates({"name": "phi", "rate": "omega"})
    builder.element("P: Rz(phi), Sx(1); 1").force("omega", "-3*der(phi)")
    model = cf.derive(builder.build(), ["inverse_dynamics"])
    assert model.evaluate(q=[0], qd=[2], qdd=[0])["inverse_dynamics"] == pytest.approx([6])


def test_a_rate_with_the_name_of_another_coordinate_is_refused() -> None:
    crossed = ({"name": "x", "rate": "y"}, {"name": "y", "rate": "x"})
    with pytest.raises(ReadError, match="another coordinate has this name") as caught:
        Mechanism.builder("crossed").coordinates(*crossed).build()
    assert caught.value.element == "rate 'y'"


@pytest.mark.parametrize(
    ("names", "place", "symbol"),
    [
        (("a", "b"), 1, "b"),
        (("a", "left-arm"), 1, "q2"),
        (("sin", "b"), 0, "q1"),
        (("t", "b"), 0, "q1"),
        (("q2", "q1"), 0, None),  # q2 may be the name or the place
        (("q1", "q2"), 0, "q1"),
        (("pi", "b"), 0, "q1"),
        (("q2", "left-arm"), 1, None),
    ],
)
def test_what_stands_for_a_coordinate(
    names: tuple[str, ...], place: int, symbol: str | None
) -> None:
    found = symbol_of(Meaning("q", place), Order(names, names))
    assert found == (None if symbol is None else Identifier(symbol))


@pytest.mark.parametrize(
    ("law", "moved"),
    [
        ("q2 + qd2", "b + der(b)"),  # in the new order, q1 is the name of the second one
        ("b*der(b)", "b*der(b)"),
        ("q3 - qd3", "q2 - qd2"),
        ("q1 + t", None),  # it may be a name or a place
        ("a", None),
        ("qd1", None),
    ],
)
def test_laws_move_to_another_order(law: str, moved: str | None) -> None:
    old, new = Order(("a", "b", "q1"), ("a", "b", "q1")), Order(("b", "q1"), ("b", "q1"))
    found = moved_law(parse(law), old, new)
    if moved is None:
        assert found is None
    else:
        assert found is not None
        assert not isinstance(found, Fraction)
        text = format_expression(found)
        assert text == moved
        meanings = [meaning_of(name, new.coordinates, new.rates) for name in ("b", "q2")]
        assert meanings == [Meaning("q", 0), Meaning("q", 1)]


def test_a_part_has_the_forces_of_the_whole() -> None:
    builder = Mechanism.builder("tree")
    for name, parent in (("a", "ground"), ("b", "a"), ("q1", "b")):
        builder.segment(name, parent=parent, axis="z", mass=1, com=[1, 0, 0], inertia=[1, 1, 1])
    builder.force("b", "5*q2 + 7*qd2")
    part = builder.build().subtree("a")
    assert part.coordinates == ("b", "q1")
    model = cf.derive(part, ["inverse_dynamics"], without=[])
    bare = cf.derive(part, ["inverse_dynamics"], without=["forces"])
    state: dict[str, Any] = {"q": [0.3, -0.4], "qd": [0.5, 0.6], "qdd": [0, 0], "t": 0}
    with_force, without = (m.evaluate(**state)["inverse_dynamics"] for m in (model, bare))
    assert without - with_force == pytest.approx([5 * 0.3 + 7 * 0.5, 0])


def two_joints(first: str, second: str) -> Any:
    """Return a builder of two links whose joints have these names."""
    builder = Mechanism.builder("arm").segment(first, axis="y", mass=1, com=[0, 0, -1])
    return builder.segment(second, parent=first, axis="y", mass=1, com=[0, 0, -1])


CROSSED = [
    *(("q2", "q1", law) for law in ("q1", "q2", "qd1", "2*qd2", "der(q1)", "sin(der(q2))")),
    *(("pi", "b", law) for law in ("pi", "2*pi", "sin(pi*b)")),
    *(("t", "b", law) for law in ("t", "3*t")),
    *(("qd2", "b", law) for law in ("qd2", "qd2*b")),
    *(("a", "q1", law) for law in ("q1", "qd1", "der(q1)")),
]
CLEAR = [
    *(("q1", "q2", law) for law in ("q1", "q2", "qd1", "qd2", "der(q2)", "pi", "t")),
    *(("pi", "b", law) for law in ("q1", "der(pi)", "b")),
    *(("sin", "b", law) for law in ("sin(b)", "q1", "der(sin)")),
    *(("a", "q1", law) for law in ("a", "q2", "qd2", "der(a)")),
    *(("tau2", "wrench1", law) for law in ("tau2", "der(wrench1)")),
]


@pytest.mark.parametrize(("first", "second", "law"), CROSSED)
def test_a_name_with_two_meanings_is_refused_where_a_law_uses_it(
    first: str, second: str, law: str
) -> None:
    mechanism = two_joints(first, second).build()
    assert mechanism.coordinates == (first, second)
    with pytest.raises(ReadError, match="may be") as caught:
        two_joints(first, second).force(second, law).build()
    assert "rename" in (caught.value.remedy or "")
    with pytest.raises(ReadError, match="may be"):
        two_joints(first, second).constraint("holonomic", f"{law} - q1").build()
    with pytest.raises(ReadError, match="may be"):
        cf.simulate(mechanism, t=0.01, forces={second: law})


@pytest.mark.parametrize(("first", "second", "law"), CLEAR)
def test_a_name_with_one_meaning_stands(first: str, second: str, law: str) -> None:
    assert two_joints(first, second).force(second, law).build().forces


def test_pi_in_definitions_of_elements() -> None:
    builder = Mechanism.builder("wheel").coordinates("pi")
    builder.element("P: Rz(q1), Sx(1); 1").define(r="2*pi")
    with pytest.raises(ReadError, match="may be the constant"):
        builder.build()
