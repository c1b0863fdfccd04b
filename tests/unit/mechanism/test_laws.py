"""Names in laws: what they mean, and what stands for a coordinate in another order."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import chainform as cf
from chainform.errors import ReadError
from chainform.expressions import Symbol, format_expression, parse
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
        (("q2", "q1"), 0, "q2"),
        (("q2", "left-arm"), 1, None),
    ],
)
def test_what_stands_for_a_coordinate(
    names: tuple[str, ...], place: int, symbol: str | None
) -> None:
    found = symbol_of(Meaning("q", place), Order(names, names))
    assert found == (None if symbol is None else Symbol(symbol))


@pytest.mark.parametrize(
    ("law", "moved"),
    [
        ("q2 + qd2", "b + qd1"),  # in the new order, q1 is the name of the second one
        ("b*der(b)", "b*der(b)"),
        ("q3 - qd3", "q2 - qd2"),
        ("q1 + t", "q1 + t"),  # a name goes before a place
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
        meanings = [meaning_of(name, new.coordinates, new.rates) for name in ("b", "q1")]
        assert meanings == [Meaning("q", 0), Meaning("q", 1)]


def test_a_part_has_the_forces_of_the_whole() -> None:
    builder = Mechanism.builder("tree")
    for name, parent in (("a", "ground"), ("b", "a"), ("q1", "b")):
        builder.segment(name, parent=parent, axis="z", mass=1, com=[1, 0, 0], inertia=[1, 1, 1])
    builder.force("b", "5*q2 + 7*qd2")
    part = builder.build().subtree("a")
    assert part.coordinates == ("b", "q1")
    model = cf.derive(part, ["inverse_dynamics"], leave_out=[])
    bare = cf.derive(part, ["inverse_dynamics"], leave_out=["forces"])
    state: dict[str, Any] = {"q": [0.3, -0.4], "qd": [0.5, 0.6], "qdd": [0, 0], "t": 0}
    with_force, without = (m.evaluate(**state)["inverse_dynamics"] for m in (model, bare))
    assert without - with_force == pytest.approx([5 * 0.3 + 7 * 0.5, 0])
