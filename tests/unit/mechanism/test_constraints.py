"""Constraints and quasi-velocities as they are read."""

from __future__ import annotations

from typing import Any

import pytest

import chainform as cf
from chainform.errors import ReadError


def builder() -> Any:
    found = cf.Mechanism.builder("skate").parameter("r", 2).coordinates("x", "y", "phi")
    return found.define(side="x*sin(phi)").element("skate: S(x, y, 0), Rz(phi); 1, 1, 1, 1")


def test_kinds_and_names() -> None:
    found = builder().constraint("holonomic", "side - t", name="wall")
    found = found.constraint("nonholonomic", "der(x)*sin(phi) - qd2*(cos(phi) + t) + r")
    found = found.constraint("unilateral", "r - x", restitution=0.5).build()
    assert [c.name for c in found.constraints] == ["wall", "constraint2", "constraint3"]
    assert [c.kind for c in found.constraints] == ["holonomic", "nonholonomic", "unilateral"]


@pytest.mark.parametrize(
    ("fields", "message", "element"),
    [
        ({"kind": "rigid", "law": "x"}, "no constraint of the kind 'rigid'", "'c'"),
        ({"kind": "holonomic"}, "'law' is missing", "'c'"),
        ({"kind": "holonomic", "law": "r"}, "the law names no coordinate", "law"),
        ({"kind": "holonomic", "law": "t"}, "the law names no coordinate", "law"),
        ({"kind": "holonomic", "law": "der(x)"}, "is a rate and cannot stand here", "law"),
        ({"kind": "nonholonomic", "law": "x"}, "the law names no rate", "law"),
        (
            {"kind": "nonholonomic", "law": "x*der(x)^2 - der(y)"},
            "der(x)^2 is not linear in the rates",
            "law",
        ),
        (
            {"kind": "nonholonomic", "law": "der(x)*(1 + der(y))"},
            "der(x)*(1 + der(y)) is not linear in the rates",
            "law",
        ),
        (
            {"kind": "nonholonomic", "law": "sqrt(der(x))"},
            "sqrt(der(x)) is not linear in the rates",
            "law",
        ),
        ({"kind": "nonholonomic", "law": "der(z)"}, "'der(z)' is not known here", "law"),
        ({"kind": "holonomic", "law": "x", "friction": 1}, "has no friction", "friction"),
        ({"kind": "unilateral", "law": "x", "restitution": 2}, "above 1", "restitution"),
        ({"kind": "unilateral", "law": "x", "friction": -1}, "negative", "friction"),
        ({"kind": "unilateral", "law": "x", "laws": 1}, "unknown field 'laws'", "'c'"),
    ],
)
def test_mistakes_are_named(fields: dict[str, Any], message: str, element: str) -> None:
    with pytest.raises(ReadError) as caught:
        builder().constraint_table({"name": "c", **fields}).build()
    assert message in caught.value.message
    assert element in str(caught.value.element)
    assert caught.value.remedy


def test_quasi_velocities_fill_what_constraints_leave() -> None:
    bound = builder().constraint("nonholonomic", "der(x)*sin(phi) - der(y)*cos(phi)")
    with pytest.raises(ReadError, match="leave 2 of 3 freedoms, and quasi-velocities: 1"):
        bound.quasi("v", "der(x)").build()
    bound.quasi("w", "der(phi)")
    assert [quasi.name for quasi in bound.build().quasi] == ["v", "w"]


@pytest.mark.parametrize(
    ("name", "law", "message"),
    [
        ("x", "der(x)", "belongs to a coordinate"),
        ("v", "der(x)*der(y)", "not linear in the rates"),
        ("v", "x", "names no rate"),
        ("r", "der(x)", "a parameter has this name"),
    ],
)
def test_mistakes_of_quasi_velocities(name: str, law: str, message: str) -> None:
    with pytest.raises(ReadError) as caught:
        builder().quasi(name, law).build()
    assert message in caught.value.message


def test_constraints_of_a_mechanism_with_segments() -> None:
    found = cf.Mechanism.builder("arm").segment("a", axis="z", mass=1)
    found.segment("b", parent="a", axis="z", mass=1)
    found.constraint("holonomic", "a + 2*b")
    (constraint,) = found.build().constraints
    assert constraint.name == "constraint1"
