"""The mechanical problems of the test set for initial value problems of Bari."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np

import chainform as cf
from chainform.readers import read_text
from tests.published.records import Array, Case, Result, Source, series

SOURCE = Source(
    name="Test set for initial value problems, Bari",
    repository="github.com/cran/deTestSet",
    commit="d5c4cbe821920ad0a2ac36ec03c6175531316213",
    licence="GPL-2 or newer, of the package; taken are numbers of the test set alone",
)
DOUBLE = "as many digits as a double has; the limit is ours, integrated to 1e-13"
ROUGH = "as many digits as a double has; the limit is ours, integrated to 1e-8"
INDEX = "integrated to 1e-14, of index 3; its rates miss the closed loops by 3e-8 rad/s"
SECOND = "integrated to 1e-14, of index 3; they miss the equations at their own state by 1e-7"
LINKS = 40
STARS = range(1, 8)
SPRING = """
[[springs]]
stiffness = 4530
rest = 0.07785
ends = [
    { segment = "ground", point = [0.014, 0.072, 0] },
    { segment = "rocker", point = [0.02, -0.018, 0] },
]
"""
SQUEEZED = (
    -0.0617138900142764496,
    0,
    0.455279819163070380,
    0.222668390165885885,
    0.487364979543842550,
    -0.222668390165885885,
    1.23054744454982120,
)
"""The angles of the squeezer at the start, as published."""


@cache
def car_axis() -> cf.Run:
    """Two masses on springs, one end on a bumpy road, and a rod between them, up to 3 s."""
    builder = cf.Mechanism.builder("car axis", gravity=(0, -1, 0))
    builder.coordinates(*({"name": name, "unit": "m"} for name in ("xl", "yl", "xr", "yr")))
    builder.define(yb="sin(10*t)/10", xb="sqrt(1 - yb^2)")
    mass = "10*(1/100)^2/2"
    builder.element(name="left", kind="point", mass=mass, position=["xl", "yl", 0])
    builder.element(name="right", kind="point", mass=mass, position=["xr", "yr", 0])
    for length in ("sqrt(xl^2 + yl^2)", "sqrt((xr - xb)^2 + (yr - yb)^2)"):
        builder.element(kind="elastic", stiffness=1, rest="1/2", deformation=length)
    builder.constraint("holonomic", "xb*xl + yb*yl", name="guide")
    builder.constraint("holonomic", "(xl - xr)^2 + (yl - yr)^2 - 1", name="axle")
    return cf.simulate(
        builder.build(),
        q0=[0, 0.5, 1, 0.5],
        qd0=[-0.5, 0, -0.5, 0],
        t=3,
        method="dopri853",
        rtol=1e-13,
        atol=1e-15,
    )


@cache
def squeezer() -> cf.Run:
    """Andrews' squeezer, with its spring and a moment of 0.033 N m, up to 0.03 s."""
    text = Path("examples/squeezer.toml").read_text("utf-8") + SPRING
    return cf.simulate(
        read_text(text, "toml"),
        q0=SQUEEZED,
        t=0.03,
        forces={"beta": "33/1000"},
        method="dopri853",
        rtol=1e-12,
        atol=1e-14,
    )


@cache
def pleiades() -> cf.Run:
    """Seven stars of masses 1 to 7 that draw each other in a plane, up to 3 s."""
    builder = cf.Mechanism.builder("pleiades", gravity=(0, 0, 0))
    builder.coordinates(*({"name": f"{axis}{i}", "unit": "m"} for axis in "xy" for i in STARS))
    for i in STARS:
        builder.element(name=f"star{i}", kind="point", mass=i, position=[f"x{i}", f"y{i}", 0])
    for i, j in combinations(STARS, 2):
        x, y = f"(x{j} - x{i})", f"(y{j} - y{i})"
        law = [f"{i * j}*{part}/sqrt({x}^2 + {y}^2)^3" for part in (x, y)]
        builder.element(kind="force", force=[*law, 0], at=f"star{i}", to=f"star{j}")
    return cf.simulate(
        builder.build(),
        q0=[3, 3, -1, -3, 2, -2, 2, 3, -3, 2, 0, 0, -4, 4],
        qd0=[0, 0, 0, 0, 0, 1.75, -1.5, 0, 0, 0, -1.25, 1, 0, 0],
        t=3,
        method="dopri853",
        rtol=1e-13,
        atol=1e-13,
    )


@cache
def beam() -> cf.Run:
    """An elastic beam of 40 links, clamped, pushed and pulled at its end, up to 5 s.

    Where the test set writes a beam with its mass in the middles of 40 pieces, each of the links
    has that mass and the moment of inertia m h²/4, and a spring in its joint. The force at the end,
    (-F, F), is written as its moments about the joints.
    """
    builder = cf.Mechanism.builder("beam", gravity=(0, 0, 0))
    for i in range(1, LINKS + 1):
        builder.segment(
            f"link{i}",
            parent="ground" if i == 1 else f"link{i - 1}",
            joint={"name": f"bend{i}", "type": "revolute", "axis": "z"},
            position=[0 if i == 1 else f"1/{LINKS}", 0, 0],
            mass=f"1/{LINKS}",
            com=[f"1/{2 * LINKS}", 0, 0],
            inertia=[0, 0, f"1/{4 * LINKS**3}"],
        )
        builder.spring(joint=f"bend{i}", stiffness=2 * LINKS if i == 1 else LINKS)
    builder.frame("tip", f"link{LINKS}", [f"1/{LINKS}", 0, 0])
    for i in range(1, LINKS + 1):
        arms = f"x(tip) - x(link{i}) + y(tip) - y(link{i})"
        builder.force(f"bend{i}", f"3/2*sin(t)^2*step(pi - t)*({arms})")
    return cf.simulate(
        builder.build(), t=5, t_eval=np.linspace(0, 5, 11), rtol=1e-8, energy_balance=False
    )


def result(
    quantity: str,
    file: str,
    columns: list[str],
    ours: Callable[[], Array],
    accuracy: float = 1e-11,
    claim: str = DOUBLE,
) -> Result:
    """Return the comparison of the one row of a file with ours."""
    published = series(f"ivp/{file}.csv", *columns)
    return Result(quantity, lambda: published()[0], ours, accuracy, claim)


def numbered(name: str, count: int) -> list[str]:
    """Return the names of columns, counted from 1."""
    return [f"{name}{i}" for i in range(1, count + 1)]


def pins() -> Array:
    """Return the multipliers of the squeezer: the forces of its pins in the plane, negative."""
    return -squeezer().sigma[-1].reshape(3, 3)[:, :2].ravel()


CAR_AXIS = Case(
    name="ivp_car_axis",
    title="Car axis",
    source=SOURCE,
    path="R/ex_reference.R (caraxis)",
    model="R/ex_caraxis.R",
    note="Two masses on stiff springs and a rod follow a road that moves one end.",
    results=(
        result("places, m", "car_axis", ["xl", "yl", "xr", "yr"], lambda: car_axis().q[-1]),
        result(
            "rates, m/s", "car_axis", ["xl'", "yl'", "xr'", "yr'"], lambda: car_axis().qd[-1], 1e-10
        ),
        result(
            "multipliers of the two constraints",
            "car_axis",
            ["lambda1", "lambda2"],
            lambda: car_axis().multipliers[-1],
        ),
    ),
    picture="svg",
    draw=lambda file: car_axis().plot("q", file),
)
SQUEEZER = Case(
    name="ivp_squeezer",
    title="Andrews' squeezer",
    source=SOURCE,
    path="src/Ex_andrews.f (andsoln)",
    model="R/ex_andrews.R",
    note="Seven bodies in a plane, in three loops that meet in one point, driven by a moment.",
    results=(
        result("angles, rad", "squeezer", numbered("q", 7), lambda: squeezer().q[-1], 1e-9, INDEX),
        result(
            "rates, rad/s", "squeezer", numbered("qd", 7), lambda: squeezer().qd[-1], 1e-9, INDEX
        ),
        result(
            "accelerations, rad/s²",
            "squeezer",
            numbered("qdd", 7),
            lambda: squeezer().qdd[-1],
            2e-7,
            SECOND,
        ),
        result("forces of the pins, N", "squeezer", numbered("lambda", 6), pins, 2e-7, SECOND),
    ),
    picture="png",
    draw=lambda file: squeezer().picture(file, size=(480, 400)),
)
PLEIADES = Case(
    name="ivp_pleiades",
    title="Pleiades",
    source=SOURCE,
    path="src/Ex_pleiades.f (pleiasoln)",
    model="R/ex_pleiades.R",
    note="Seven stars in a plane draw each other, and come close several times.",
    results=(
        result(
            "places, m",
            "pleiades",
            numbered("x", 7) + numbered("y", 7),
            lambda: pleiades().q[-1],
        ),
        result(
            "rates, m/s",
            "pleiades",
            numbered("x'", 7) + numbered("y'", 7),
            lambda: pleiades().qd[-1],
        ),
    ),
    picture="svg",
    draw=lambda file: pleiades().plot("q", file),
)
BEAM = Case(
    name="ivp_beam",
    title="Beam of 40 links",
    source=SOURCE,
    path="src/Ex_beam.f (beamsoln)",
    model="src/Ex_beam.f",
    note="An elastic beam, clamped and written as 40 links with springs, is pushed and pulled at "
    "its end. Its fastest swing has 6400 rad/s.",
    results=(
        result(
            "angles to the ground, rad",
            "beam",
            numbered("theta", LINKS),
            lambda: np.cumsum(beam().q[-1]),
            1e-9,
            ROUGH,
        ),
        result(
            "rates, rad/s",
            "beam",
            numbered("rate", LINKS),
            lambda: np.cumsum(beam().qd[-1]),
            1e-7,
            ROUGH,
        ),
    ),
    is_slow=True,
    picture="png",
    draw=lambda file: beam().picture(file, size=(480, 320)),
)
CASES = (CAR_AXIS, SQUEEZER, PLEIADES, BEAM)
