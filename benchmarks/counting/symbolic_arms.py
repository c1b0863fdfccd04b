"""Arms with symbolic parameters, with full or with diagonal inertias."""

from __future__ import annotations

import chainform as cf
from counting.cases import SymbolicCase
from modified_dh import ARMS, COSINE, SINE, arm


def mechanism_of(case: SymbolicCase) -> cf.Mechanism:
    """Return the arm of a case."""
    return diagonal_arm(case.arm) if case.diagonal else arm(case.arm)


def diagonal_arm(name: str) -> cf.Mechanism:
    """Return an arm whose inertias about the origins of the body frames are diagonal.

    About the mass centre c the products of inertia are then m c_x c_y, and so on.
    """
    given = ARMS[name]
    builder = cf.Mechanism.builder(name, gravity=[0, 0, "-g"])
    builder.parameter("g", "9.81")
    for length in (*given.d.values(), *given.r.values()):
        builder.parameter(length, "0.3")
    for j, alpha in enumerate(given.alpha, start=1):
        s, c = SINE[alpha], COSINE[alpha]
        d, r = given.d.get(j, "0"), given.r.get(j, "0")
        for word in ("m", "cx", "cy", "cz"):
            builder.parameter(f"{word}{j}", "0.1")
        for word in ("xx", "yy", "zz"):
            builder.parameter(f"{word}{j}", "1.5")
        builder.segment(
            f"body{j}",
            parent=f"body{j - 1}" if j > 1 else "ground",
            joint="prismatic" if j in given.prismatic else "revolute",
            axis=[0, 0, 1],
            position=[d, f"{-s}*{r}" if s else 0, f"{c}*{r}" if c else 0],
            rotation=[[1, 0, 0], [0, c, -s], [0, s, c]],
            mass=f"m{j}",
            com=[f"cx{j}", f"cy{j}", f"cz{j}"],
            inertia=_tensor(j),
        )
    return builder.build()


def _tensor(j: int) -> list[list[str]]:
    product = f"m{j}*c{{}}{j}*c{{}}{j}"
    xy, xz, yz = (product.format(*pair) for pair in ("xy", "xz", "yz"))
    return [[f"xx{j}", xy, xz], [xy, f"yy{j}", yz], [xz, yz, f"zz{j}"]]
