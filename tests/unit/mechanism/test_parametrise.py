"""Which numbers stay symbols."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from chainform.errors import DeriveError
from chainform.expressions import Identifier, Negate, parse, value_of
from chainform.mechanism import (
    Mechanism,
    Parameter,
    automatic_parameters,
    parametrise,
)
from chainform.mechanism.checks import names_in, numbers_of


def arm() -> Mechanism:
    """Return two segments, one with numbers and one with expressions."""
    return (
        Mechanism.builder("arm")
        .parameter("l", "0.5", unit="m")
        .parameter("k")
        .parameter("unused", 1)
        .segment(
            "a",
            axis="z",
            mass=2,
            com=["0.1", 0, 0],
            inertia=[[1, "0.2", 0], ["0.2", 1, 0], [0, 0, 1]],
        )
        .segment("b", parent="a", axis="y", position=["l", 0, "0.3"], mass="2*k", com=[0, "l^2", 0])
        .build()
    )


def names(mechanism: Mechanism) -> list[str]:
    return [parameter.name for parameter in mechanism.parameters]


def test_numeric_leaves_only_what_has_no_value() -> None:
    result = parametrise(arm(), "numeric")
    assert names(result) == ["k"]
    b = result.segments[1]
    assert b.position == (Fraction(1, 2), 0, Fraction(3, 10))
    assert b.body.com[1] == Fraction(1, 4)
    assert b.body.mass == parse("2*k")
    assert result.gravity == arm().gravity


def test_symbolic_names_every_number_that_is_not_zero() -> None:
    result = parametrise(arm(), "symbolic")
    automatic = ["m_1", "com_1_x", "I_1_xx", "I_1_xy", "I_1_yy", "I_1_zz", "d_2_z", "g"]
    assert names(result) == ["l", "k", *automatic]
    a, b = result.segments
    assert a.body.mass == Identifier("m_1")
    assert a.body.com == (Identifier("com_1_x"), 0, 0)
    assert a.body.inertia[0][1] == a.body.inertia[1][0] == Identifier("I_1_xy")
    assert b.position == (Identifier("l"), 0, Identifier("d_2_z"))
    assert b.body.mass == parse("2*k")
    assert result.gravity == (0, 0, Negate(Identifier("g")))
    values = {parameter.name: parameter for parameter in result.parameters}
    assert values["g"] == Parameter("g", Fraction("9.81"), "m/s^2")
    assert values["m_1"] == Parameter("m_1", Fraction(2), "kg")
    assert values["k"].value is None


def test_symbolic_with_its_values_is_the_same_mechanism() -> None:
    result = parametrise(parametrise(arm(), "symbolic"), "numeric")
    assert replace(result, parameters=()) == replace(parametrise(arm(), "numeric"), parameters=())


def test_patterns_keep_what_matches() -> None:
    result = parametrise(arm(), ["m_*", "l"])
    assert names(result) == ["l", "k", "m_1"]
    assert result.segments[0].body.com[0] == Fraction(1, 10)
    assert result.segments[1].position[0] == Identifier("l")
    assert result.gravity[2] == Fraction("-9.81")
    assert names(parametrise(arm(), ["g"])) == ["k", "g"]
    assert names(parametrise(arm(), [])) == ["k"]


def test_other_parameters_of_an_expression_become_numbers() -> None:
    builder = Mechanism.builder().parameter("a", 2).parameter("b", 3).parameter("c", 5)
    mechanism = builder.segment("s", axis="z", mass="a*b^2 + c").build()
    mass = parametrise(mechanism, ["b"]).segments[0].body.mass
    assert mass == parse("2*b^2 + 5")
    assert parametrise(mechanism, "numeric").segments[0].body.mass == 23


@pytest.mark.parametrize("gravity", [(3, 0, -4), (1, 1, 1), (0, "-1e-3", 0), ("0.1", "0.2", 0)])
def test_gravity_is_its_size_times_a_direction(gravity: tuple[object, ...]) -> None:
    builder = Mechanism.builder("m", gravity)
    mechanism = builder.segment("s", axis="z", mass=1).build()
    result = parametrise(mechanism, ["g"])
    size = automatic_parameters(mechanism)["g"]
    known = [
        component if isinstance(component, Fraction) else value_of(component, {"g": size})
        for component in result.gravity
    ]
    assert known == list(mechanism.gravity)
    assert float(size) == pytest.approx(sum(float(c) ** 2 for c in known) ** 0.5, rel=1e-15)
    if gravity == (3, 0, -4):
        assert size == 5


def test_without_gravity_there_is_no_g() -> None:
    mechanism = Mechanism.builder("m", (0, 0, 0)).segment("s", axis="z", mass=1).build()
    assert names(parametrise(mechanism, "symbolic")) == ["m_1"]
    own = Mechanism.builder("m", (0, 0, "-g")).parameter("g", 10)
    assert names(parametrise(own.segment("s", axis="z").build(), "symbolic")) == ["g"]


def test_loop_points_stay_numbers() -> None:
    builder = Mechanism.builder().parameter("r", 1).segment("s", axis="z", mass=1)
    builder.loop(
        "l", "point", {"segment": "s", "point": [1, 0, 0]}, {"segment": 0, "point": ["r", 0, 0]}
    )
    result = parametrise(builder.build(), "symbolic")
    assert result.loops[0].closing.point == (1, 0, 0)
    assert result.loops[0].target.point == (Identifier("r"), 0, 0)
    assert parametrise(builder.build(), "numeric").loops[0].target.point == (1, 0, 0)


def test_drives_and_base_become_numbers_too() -> None:
    builder = Mechanism.builder().parameter("f", 2).base(velocity=["f", 0, 0])
    said = {"friction": {"viscous": "f"}, "rotor_inertia": "f/4", "gear_ratio": "f^3"}
    mechanism = builder.segment_table(
        {"name": "s", "joint": "revolute", "axis": "z", "mass": 1, **said}
    ).build()
    result = parametrise(mechanism, "numeric")
    assert all(isinstance(number, Fraction) for number in numbers_of(result))
    assert result.segments[0].joint.gear_ratio == 8
    assert names_in(parametrise(mechanism, ["f"])) == {"f"}


def test_wrong_choices() -> None:
    with pytest.raises(DeriveError) as caught:
        parametrise(arm(), ["m_*", "mass_*"])
    assert "'mass_*'" in caught.value.message
    assert "com_1_x" in str(caught.value.remedy)
    with pytest.raises(DeriveError, match="no choice of parameters 'm_\\*'"):
        parametrise(arm(), "m_*")


def test_a_clash_of_names_is_refused() -> None:
    builder = (
        Mechanism.builder().parameter("m_1", 3).segment("s", axis="z", mass=1, com=["m_1", 0, 0])
    )
    with pytest.raises(DeriveError, match="'m_1'") as caught:
        parametrise(builder.build(), "symbolic")
    assert caught.value.remedy
    assert names(parametrise(builder.build(), "numeric")) == []


@pytest.mark.parametrize("kind", ["coordinate", "unknown force", "definition"])
def test_numbers_beside_laws_have_names_of_their_own(kind: str) -> None:
    builder = Mechanism.builder("model").coordinates("m_1" if kind == "coordinate" else "x")
    if kind == "unknown force":
        builder.unknowns("m_1").element(kind="force", force="m_1", along="q1")
    if kind == "definition":
        builder.define(m_1="2*x").element(kind="elastic", stiffness=1, deformation="m_1")
    mechanism = builder.element(kind="point", name="P", position=["q1", 0, 0], mass=3).build()
    if kind != "coordinate":
        mechanism = replace(mechanism, elements=mechanism.elements[::-1])
    with pytest.raises(DeriveError, match=f"the {kind} 'm_1' has the name") as caught:
        parametrise(mechanism, "symbolic")
    assert caught.value.element == f"{kind} 'm_1'"
    assert names(parametrise(mechanism, "numeric")) == []
    assert names(parametrise(mechanism, ["g"])) == ["g"]


def folded() -> Mechanism:
    """Return a segment whose length stands in its axis, too."""
    builder = Mechanism.builder("folded").parameter("l", "0.5").parameter("k", 1)
    builder.segment("a", axis=["l", 0, "0.5"], mass="k", com=["l", 0, 0], inertia=[1, 1, 1])
    return builder.build()


def test_what_became_a_number_does_not_stay_free() -> None:
    """Its other value would count in some places only."""
    with pytest.raises(DeriveError, match=r"l became a number .* in .*axis"):
        parametrise(folded(), ["l"])
    for choice in ("symbolic", ["*"]):
        assert "l" not in [parameter.name for parameter in parametrise(folded(), choice).parameters]
    assert [p.name for p in parametrise(folded(), ["k"]).parameters] == ["k"]


def test_limits_are_no_part_of_the_equations() -> None:
    joint = {"name": "a", "type": "prismatic", "limits": {"lower": 0, "upper": "l"}}
    builder = Mechanism.builder("limited").parameter("l", "0.5")
    mechanism = builder.segment("a", axis="x", joint=joint, mass=1, com=["l", 0, 0]).build()
    assert "l" in [parameter.name for parameter in parametrise(mechanism, ["l"]).parameters]


@pytest.mark.parametrize("wrong", [3, None, True, "m_1", [3]])
def test_what_is_no_choice_of_parameters_is_refused(wrong: Any) -> None:
    mechanism = Mechanism.builder().segment("a", axis="z", mass=1).build()
    with pytest.raises(DeriveError) as caught:
        parametrise(mechanism, wrong)
    assert str(caught.value.element).startswith("parameters")
