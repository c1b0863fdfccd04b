"""The motion of the base: numbers, expressions of parameters, laws of time."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainform as cf
from chainform.expressions import format_expression
from chainform.mechanism import IDENTITY, BaseMotion, parametrise
from chainform.mechanism.records import is_law_of_time
from chainform.readers import native_text, read_text
from chainform.readers.urdf.write import export_urdf

HALF = Fraction(1, 2)


def on(**base: Any) -> cf.Mechanism:
    builder = cf.Mechanism.builder("arm").parameter("a").parameter("b", 0.5)
    builder.segment("arm", axis="z", mass=1, com=[1, 0, 0]).base(**base)
    return builder.build()


def texts(components: Any) -> list[str]:
    return [str(c) if isinstance(c, Fraction) else format_expression(c) for c in components]


def test_numbers_are_as_they_were() -> None:
    base = on(position=[1, "b", 0], velocity=["2*a", 0, 0], quaternion=[0, 0, 1, 1]).base
    assert texts(base.position) == ["1", "b", "0"]
    assert texts(base.velocity) == ["2*a", "0", "0"]
    assert base.rotation == ((0, -1, 0), (1, 0, 0), (0, 0, 1))
    assert base.rpy is base.quaternion is None
    assert base.is_moving
    assert not base.is_turning


@pytest.mark.parametrize(
    ("base", "moves", "turns"),
    [
        ({"position": ["a", 0, 0]}, False, False),
        ({"position": ["t", 0, 0]}, True, False),
        ({"rpy": ["a", 0, 0]}, False, False),
        ({"rpy": ["b*t", 0, 0]}, True, True),
        ({"quaternion": ["a", 0, 0, "t"]}, True, True),
        ({"angular_acceleration": [0, "a", 0]}, True, True),
        ({"acceleration": [0, 0, 1]}, True, False),
    ],
)
def test_what_moves_and_what_turns(base: dict[str, Any], moves: bool, turns: bool) -> None:
    motion = on(**base).base
    assert (motion.is_moving, motion.is_turning) == (moves, turns)


def test_an_orientation_of_parameters_is_kept_and_settled_when_they_are_numbers() -> None:
    mechanism = on(rpy=[0, 0, "b"])
    assert mechanism.base.rotation == IDENTITY
    assert texts(mechanism.base.rpy) == ["0", "0", "b"]
    settled = parametrise(mechanism, "numeric").base
    assert settled == on(rpy=[0, 0, 0.5]).base
    assert parametrise(mechanism, ["b"]).base == mechanism.base
    assert [p.name for p in parametrise(mechanism, ["b"]).parameters] == ["b"]
    turned = on(quaternion=[0, 0, "b", 0.5])
    assert parametrise(turned, "numeric").base.rotation == ((0, -1, 0), (1, 0, 0), (0, 0, 1))


@pytest.mark.parametrize(
    ("base", "element", "message"),
    [
        ({"position": ["t", 0, 0], "velocity": [1, 0, 0]}, "base, velocity", "position, a law"),
        ({"position": ["t", 0, 0], "acceleration": [1, 0, 0]}, "base, acceleration", "position"),
        ({"velocity": ["t", 0, 0], "acceleration": ["a", 0, 0]}, "base, acceleration", "velocity"),
        ({"rpy": ["t", 0, 0], "angular_velocity": [1, 0, 0]}, "base, angular_velocity", "orient"),
        (
            {"angular_velocity": ["t", 0, 0], "angular_acceleration": [1, 0, 0]},
            "base, angular_acceleration",
            "it follows from the angular velocity",
        ),
        ({"position": ["c", 0, 0]}, "base, position[1]", "'c' is not a parameter"),
        ({"position": ["c + t", 0, 0]}, "base, position[1]", "'c' is not known here"),
        ({"position": [0, "1/(t - t)^", 0]}, "base, position[2]", ""),
        ({"velocity": ["1/(b - 0.5)", 0, 0]}, "base, velocity[1]", "zero"),
        ({"rpy": ["a", 0]}, "base, rpy", "expected 3 entries, got 2"),
        ({"quaternion": ["a", 0, 0]}, "base, quaternion", "expected 4 entries, got 3"),
        ({"rpy": ["a", 0, 0], "quaternion": [0, 0, 0, 1]}, "base, rotation", "more than once"),
        (
            {"rotation": [["a", 0, 0], [0, 1, 0], [0, 0, 1]]},
            "base, rotation[1][1]",
            "free parameter",
        ),
        ({"rpy": "a"}, "base, rpy", "expected a list"),
    ],
)
def test_what_is_wrong_is_named(base: dict[str, Any], element: str, message: str) -> None:
    with pytest.raises(cf.Error) as caught:
        on(**base)
    assert caught.value.element == element
    assert message in caught.value.message


def test_a_parameter_named_like_time_is_not_guessed() -> None:
    builder = cf.Mechanism.builder("arm").parameter("t", 1).segment("arm", axis="z", mass=1)
    with pytest.raises(cf.Error, match="'t' may be time or a parameter"):
        builder.base(position=["2*t", 0, 0]).build()


LAWS = st.sampled_from(["0", "a", "b*t", "sin(2*t)", "t^2 - a", "1/3", "exp(-b*t)", "-7"])
STILL = st.sampled_from(["0", "a", "b - 2*a", "1/3", "sqrt(b)"])


def three(entries: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(entries, min_size=3, max_size=3)


@given(
    position=three(LAWS),
    velocity=three(STILL),
    spin=three(LAWS),
    turn=st.one_of(three(LAWS), st.lists(LAWS, min_size=4, max_size=4)),
)
def test_every_motion_reads_back_as_it_was(
    position: list[str], velocity: list[str], spin: list[str], turn: list[str]
) -> None:
    base: dict[str, Any] = {"position": position}
    if not any("t" in law.replace("sqrt", "") for law in position):
        base["velocity"] = velocity
    if turn != ["0"] * 4:
        base["rpy" if len(turn) == 3 else "quaternion"] = turn
    if not any("t" in law.replace("sqrt", "") for law in turn):
        base["angular_velocity"] = spin
    mechanism = on(**base)
    again = read_text(native_text(mechanism), "json")
    assert again.base == mechanism.base
    assert is_law_of_time(again.base.numbers) == is_law_of_time(mechanism.base.numbers)


def test_a_bound_orientation_reads_back() -> None:
    model = cf.derive(on(rpy=["a", 0, "t"]), ["inverse_dynamics"], reduce="none")
    bound = model.bind({"a": 0.25})
    assert read_text(native_text(bound.mechanism), "json").base == bound.mechanism.base
    state: dict[str, Any] = {"q": [0.3], "qd": [1], "qdd": [2], "t": 0.7}
    free = model.evaluate(**state, values={"a": 0.25})["inverse_dynamics"]
    assert bound.evaluate(**state)["inverse_dynamics"] == pytest.approx(free, rel=1e-12)


def test_a_part_stands_where_its_root_does() -> None:
    builder = cf.Mechanism.builder("two").parameter("b", 0.5)
    builder.segment("one", axis="z", position=[1, 0, 0], mass=1)
    builder.segment("two", parent="one", axis="z", mass=1)
    turned = builder.base(quaternion=[0, 0, "b", 0.5]).build()
    part = turned.subtree("one")
    assert part.base == BaseMotion((0, 1, 0), ((0, -1, 0), (1, 0, 0), (0, 0, 1)))  # pyright: ignore[reportArgumentType]
    free = replace(turned, parameters=(replace(turned.parameters[0], value=None),))
    with pytest.raises(cf.Error, match="free parameter"):
        free.subtree("one")
    moving = builder.base(position=["b*t", 0, 0]).build()
    with pytest.raises(cf.Error, match="the base moves"):
        moving.subtree("one")


def test_a_side_file_holds_laws_of_time() -> None:
    mechanism = on(position=["b*t^2", 0, HALF], rpy=["sin(t)", 0, 0])
    side = export_urdf(mechanism).side
    assert 'position = ["0.5*t^2", 0, 0.5]' in (side or "")
    assert 'rpy = ["sin(t)", 0, 0]' in (side or "")
