"""The slider crank of SUNDIALS's examples, which IDA and IDAS integrate."""

from __future__ import annotations

from functools import cache

import numpy as np

import chainform as cf
from tests.published.records import Array, Case, Result, Source, series

SOURCE = Source(
    name="SUNDIALS: examples of IDA and IDAS",
    repository="github.com/LLNL/sundials",
    commit="c8dabcea90ca8bf195474da120e4f3dd39aa711f",
    licence="BSD-3-Clause",
)
ENERGY = 3.3366160662909388
"""The integral of the kinetic energy over 10 s, J s."""


@cache
def slider_crank() -> cf.Run:
    """A crank and a rod whose middle slides along x, with a spring, a damper and a force.

    The rod is 2 m long; the force acts at its free end and the spring between crank and rod.
    """
    builder = cf.Mechanism.builder("slider crank", gravity=(0, 0, 0))
    crank = {"name": "crank", "type": "revolute", "axis": "z"}
    builder.segment("crank", parent="ground", joint=crank, inertia=[0, 0, 1])
    builder.segment(
        "rod",
        parent="crank",
        joint={"name": "rod", "type": "revolute", "axis": "z"},
        position=["1/2", 0, 0],
        mass=1,
        com=[1, 0, 0],
        inertia=[0, 0, 2],
    )
    builder.frame("middle", "rod", [1, 0, 0]).frame("end", "rod", [2, 0, 0])
    builder.constraint("holonomic", "y(middle)", name="guide")
    ends = [
        {"segment": "crank", "point": ["1/4", 0, 0]},
        {"segment": "rod", "point": ["1/2", 0, 0]},
    ]
    builder.spring(ends=ends, stiffness=1, damping=1, rest=1)
    builder.element(kind="force", force=[1, 0, 0], at="end")
    return cf.simulate(
        builder.build(),
        q0=[np.pi / 2, -2 * np.pi / 3],
        t=10,
        t_eval=np.linspace(0, 10, 1001),
        rtol=1e-10,
    )


def coordinates() -> Array:
    """Return the angle of the crank, the place of the rod's middle and the angle of the rod."""
    run = slider_crank()
    place = run.output("pose(middle)")[:, 0, 3]
    return np.column_stack([run.q[:, 0], place, run.q.sum(axis=1)])[::25]


def energy() -> Array:
    """Return the integral of the kinetic energy, by Simpson's rule."""
    run = slider_crank()
    weights = np.array([1, *[4, 2] * 499, 4, 1]) * 0.01 / 3
    return np.array([weights @ run.kinetic_energy])


CASES = (
    Case(
        name="sundials_slider_crank",
        title="Slider crank with a spring",
        source=SOURCE,
        path="examples/ida/serial/idaSlCrank_dns.out, examples/idas/serial/idasSlCrank_dns.out",
        model="examples/ida/serial/idaSlCrank_dns.c",
        note="A crank with a rod whose middle slides, under a constant force; spring and damper "
        "between crank and rod slow it down.",
        results=(
            Result(
                quantity="angles and place, rad and m",
                published=series("sundials/slider_crank.csv", "q", "x", "p"),
                ours=coordinates,
                accuracy=1e-4,
                claim="the last digit that is printed; integrated to 1e-6",
                is_absolute=True,
            ),
            Result(
                quantity="integral of the kinetic energy, J s",
                published=lambda: np.array([ENERGY]),
                ours=energy,
                accuracy=1e-5,
                claim="integrated to 1e-6 in each step",
            ),
        ),
        picture="png",
        draw=lambda file: slider_crank().picture(file, size=(480, 320)),
    ),
)
