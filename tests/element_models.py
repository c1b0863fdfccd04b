"""Element models for the tests: one with everything, and random ones with unknown forces."""

from __future__ import annotations

import random
from fractions import Fraction

import chainform as cf
from zoo import rational, rotation


def everything() -> cf.Mechanism:
    """Return a model with an element of each kind and form, and with constraints."""
    builder = cf.Mechanism.builder("everything", gravity=(0, "-g", 0))
    builder.parameter("g", "9.81").parameter("m", 2).parameter("k", 40).parameter("free")
    builder.coordinates({"name": "x", "unit": "m"}, "phi", {"name": "psi", "unit": "rad"})
    builder.unknowns("F", "M")
    builder.define(reach="m/10 + x^2", height="reach*cos(psi) + t/7")
    builder.element("K: Sz(1/3), Rz(phi); Jz(free)")
    builder.element({"text": "P~K: S(x, reach, 0), Q(1, 2, 0, 2), Rx(psi); m, 1, 2, 3/2"})
    builder.element("tool~P: R(0, 0.6, 0.8, psi/2), Sy(-0.25)")
    builder.element(
        kind="body",
        name="box",
        on="tool",
        chain="Rz(pi/2), Ry(pi/3)",
        mass="m/2",
        com=[0, "0.1", 0],
        inertia={"xx": 1, "yy": 1, "zz": 1, "xy": "0.2"},
    )
    builder.element(kind="point", name="bob", mass=1, position=["x", "sin(phi)", "t"])
    builder.element(kind="point", mass=1, on="K", position=[1, 0, 0])
    builder.element(kind="inertia", inertia="1/50", along="30*phi - 2*psi")
    builder.element(kind="elastic", stiffness="k", deformation="phi - psi", rest="sin(t)")
    ends = ["bob", {"on": "box", "point": [0, "x", 0]}]
    builder.element(kind="elastic", stiffness=5, ends=ends)
    builder.element(kind="dissipative", damping=1, coulomb="1/2", deformation="height")
    builder.element(kind="dissipative", damping=1, rate="x*der(phi) + der(psi)")
    builder.element(kind="dissipative", damping=2, ends=[[1, 2, 3], "P"])
    builder.element(kind="force", force=["F*cos(phi)", "F*sin(phi)", "3 - der(x)"], at="bob")
    place = {"on": "P", "point": [0, 1, 0]}
    builder.element(kind="force", force=[0, "F + 2", "M"], at=place, to=[0, "t", 0], axes="tool")
    builder.element(kind="moment", moment=["M", 0, 1], on="box", to="K", axes="K")
    builder.element(kind="moment", name="wheel", moment="2*M - x", along="phi + psi")
    builder.constraint("holonomic", "x - reach/2 + t", name="hold")
    builder.constraint("nonholonomic", "der(x)*cos(phi) - der(psi)*free")
    builder.constraint("unilateral", "x + 2", restitution="1/2", friction="m/10")
    builder.quasi("spin", "der(phi) + der(psi)*cos(phi)")
    return builder.build()


def random_model(seed: int) -> cf.Mechanism:
    """Return a random tree of bodies on chains, with springs, dampers and unknown forces.

    Coordinates are slides, of which laws may be polynomials, and angles; all values are rational.
    """
    rng = random.Random(seed)
    slides, turns = rng.randint(1, 3), rng.randint(1, 3)
    builder = cf.Mechanism.builder(f"model{seed}", gravity=[rational(rng) for _ in range(3)])
    builder.coordinates(*({"name": f"s{k}", "unit": "m"} for k in range(slides)))
    builder.coordinates(*({"name": f"a{k}", "unit": "rad"} for k in range(turns)))
    builder.unknowns("X1", "X2")
    frames = ["ground"]
    for number in range(rng.randint(2, 4)):
        steps = [_step(rng, slides, turns) for _ in range(rng.randint(1, 4))]
        moments = [rational(rng, 5, 9) for _ in range(3)]
        builder.element(
            kind="body",
            name=f"b{number}",
            on=rng.choice(frames),
            chain=", ".join(steps),
            mass=rational(rng, 1, 30),
            com=[rational(rng, -5, 5) for _ in range(3)],
            inertia=moments,
        )
        frames.append(f"b{number}")
    builder.element(kind="point", mass=2, on=frames[-1], position=["s0", "s0^2/3 - t", "t^2"])
    builder.element(kind="elastic", stiffness=3, ends=[frames[-1], [1, 2, "s0*t"]])
    builder.element(kind="elastic", stiffness=2, deformation="s0 - 2*t*s0^2", rest="t/3")
    builder.element(kind="dissipative", damping=2, coulomb=1, deformation="s0^2")
    builder.element(kind="dissipative", damping=2, ends=[frames[1], frames[-1]])
    laws = ["X1*(s0 + 2) - 3*t", "X2 - X1/3", "der(s0)*X2 + 1"]
    builder.element(kind="force", force=laws, at=frames[-1], to=frames[1], axes=frames[1])
    builder.element(kind="moment", moment=["X1", 2, "s0*X2"], on=frames[-1])
    builder.element(kind="force", force="X1 + 2*X2*t", along="s0^3")
    return builder.build()


def _step(rng: random.Random, slides: int, turns: int) -> str:
    law = f"{rational(rng, 1, 9)}*s{rng.randrange(slides)}"
    match rng.randrange(5):
        case 0:
            return f"S{rng.choice('xyz')}({law} + s0^2*t)"
        case 1:
            return f"S({rational(rng)}, {law}, t*{law})"
        case 2:
            a, b, c = (row[2] for row in rotation(rng))
            return f"R({a}, {b}, {c}, a{rng.randrange(turns)})"
        case 3:
            return f"Q({', '.join(str(rng.randint(1, 4)) for _ in range(4))})"
        case _:
            return f"R{rng.choice('xyz')}(a{rng.randrange(turns)})"


def exact_inputs(mechanism: cf.Mechanism, state: dict[str, Fraction]) -> dict[str, Fraction]:
    """Return a state with time, drives and unknown forces, too."""
    rng = random.Random(len(state))
    names = ["t", *mechanism.unknowns, *(f"tau{k + 1}" for k in range(mechanism.nv))]
    return {**state, **{name: rational(rng) for name in names}}
