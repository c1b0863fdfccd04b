"""Laws inside equations: powers, long chains of frames, and errors that name the element."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import chainform as cf
from chainform.errors import DeriveError
from chainform.mechanism import Mechanism, MechanismBuilder


def model(*outputs: str, say: Callable[[MechanismBuilder], object]) -> cf.Model:
    builder = Mechanism.builder("model", gravity=(0, 0, 0)).coordinates("x")
    builder.element("P: Sx(x); 1")
    say(builder)
    return cf.derive(builder.build(), outputs, reduce="none")


@pytest.mark.parametrize("exponent", [70, 71, -70, 0.5, 1.5, -2.5, 64.5])
@pytest.mark.parametrize("x", [0.7, 1.2])
def test_whole_and_half_powers_have_no_logarithm(exponent: float, x: float) -> None:
    law, base = f"(x - 2)^({exponent})", x - 2
    if exponent % 1:
        law, base = f"abs(x - 2)^({exponent})", abs(base)
    found = model("inverse_dynamics", "constraint_jacobian", say=lambda b: _both(b, law))
    value = found.evaluate(q=[x], qd=[0], qdd=[0])
    assert value["inverse_dynamics"] == pytest.approx([-(base**exponent)], rel=1e-12)
    slope = exponent * base ** (exponent - 1) * (-1 if exponent % 1 else 1)
    assert value["constraint_jacobian"][0] == pytest.approx([slope], rel=1e-12)
    assert not {"log", "exp"} & {*found.emit("text").split("(")}


def _both(builder: MechanismBuilder, law: str) -> None:
    builder.force("x", law).constraint("holonomic", law)


@pytest.mark.parametrize(
    ("output", "element", "say"),
    [
        (
            "inverse_dynamics",
            "element 'spring'",
            lambda b, law: b.element(
                kind="elastic", name="spring", stiffness=1, deformation=f"x + {law}"
            ),
        ),
        (
            "inverse_dynamics",
            "element 'damper'",
            lambda b, law: b.element(
                kind="dissipative", name="damper", damping=1, rate=f"der(x) + {law}"
            ),
        ),
        (
            "inverse_dynamics",
            "element 'push'",
            lambda b, law: b.element(kind="force", name="push", force=[law, 0, 0], at="P"),
        ),
        ("inverse_dynamics", "element 'Q'", lambda b, law: b.element(f"Q: Sx(x + {law}); 1")),
        (
            "kinetic_energy",
            "element 'rotor'",
            lambda b, law: b.element(kind="inertia", name="rotor", inertia=1, along=f"x + {law}"),
        ),
        (
            "inverse_dynamics",
            "definition 'd'",
            lambda b, law: b.define(d=law).element(kind="force", force="d", along="x"),
        ),
        (
            "constraint",
            "constraint 'held'",
            lambda b, law: b.constraint("holonomic", f"x + {law}", name="held"),
        ),
        ("quasi_velocities", "quasi-velocity 'v'", lambda b, law: b.quasi("v", f"{law}*der(x)")),
        ("inverse_dynamics", "force 'drive'", lambda b, law: b.force("x", law, name="drive")),
    ],
)
@pytest.mark.parametrize("law", ["1/(x - x)", "atan2(t - t, x - x)", "sqrt(0*x - 1)"])
def test_what_has_no_value_is_told_by_its_element(
    output: str, element: str, say: Callable[[MechanismBuilder, str], object], law: str
) -> None:
    with pytest.raises(DeriveError) as caught:
        model(output, say=lambda b: say(b, law))
    assert caught.value.element == element
    assert caught.value.remedy


def test_a_spring_between_points_that_never_part() -> None:
    """Both ends sit on the axis: the spring does no work, but its pull has no direction."""
    builder = Mechanism.builder("pin")
    builder.segment("arm", axis="z", mass=1, com=[1, 0, 0])
    builder.spring_table(
        {
            "name": "s",
            "ends": [{"segment": "ground"}, {"segment": "arm"}],
            "stiffness": 1,
            "rest": 2,
        }
    )
    pin = builder.build()
    for formulation in ("newton_euler", "elements", "lagrange"):
        found = cf.derive(pin, ["inverse_dynamics"], formulation=formulation)
        value = found.evaluate(q=[0], qd=[1], qdd=[3])["inverse_dynamics"]
        assert value == pytest.approx([3])
    with pytest.raises(DeriveError) as caught:
        cf.derive(pin, ["reactions"])
    assert caught.value.element == "spring 's'"


@pytest.mark.slow
def test_frames_may_stand_on_one_another_in_any_number() -> None:
    count = 1500
    builder = Mechanism.builder("stack", gravity=(0, 0, 0)).coordinates("x")
    for place in range(count):
        on = f"f{place - 1}" if place else "ground"
        builder.element(f"f{place} ~ {on}: Sx({'x' if place == 0 else '0.1'})")
    builder.element(kind="point", name="top", on=f"f{count - 1}", mass=2)
    found = cf.derive(
        builder.build(), ["inverse_dynamics", "potential_energy", "pose(top)"], reduce="none"
    )
    value = found.evaluate(q=[1], qd=[0], qdd=[3])
    assert value["inverse_dynamics"] == pytest.approx([6])
    assert value["pose(top)"][0, 3] == pytest.approx(1 + (count - 1) / 10)
