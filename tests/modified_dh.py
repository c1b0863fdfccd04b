"""Arms given by modified Denavit-Hartenberg numbers, every inertial parameter a symbol.

For each joint j: alpha_j and d_j between the axes of joints j - 1 and j, r_j along the axis of
joint j. The rotation at zero is Rot(x, alpha), the origin (d, - r sin alpha, r cos alpha).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import chainform as cf

SINE = {0: 0, 90: 1, -90: -1}
COSINE = {0: 1, 90: 0, -90: 0}
TENSOR = (("xx", "xy", "xz"), ("xy", "yy", "yz"), ("xz", "yz", "zz"))


@dataclass(frozen=True)
class Arm:
    """The geometry of a six-joint arm: alpha in degrees, lengths by the number of the joint."""

    alpha: tuple[int, ...]
    d: dict[int, str] = field(default_factory=dict[int, str])
    r: dict[int, str] = field(default_factory=dict[int, str])
    prismatic: tuple[int, ...] = ()


ARMS = {
    "puma560": Arm((0, -90, 0, -90, 90, -90), {3: "D3", 4: "D4"}, {3: "RL3", 4: "RL4"}),
    "stanford": Arm((0, -90, 90, 0, -90, 90), {}, {2: "RL2"}, (3,)),
    "rx90": Arm((0, 90, 0, -90, 90, -90), {3: "D3"}, {4: "RL4"}),
}


def arm(name: str) -> cf.Mechanism:
    """Return an arm with ten inertial parameters for each body, gravity along z."""
    given = ARMS[name]
    builder = cf.Mechanism.builder(name, gravity=[0, 0, "-g"])
    builder.parameter("g", "9.81")
    for length in (*given.d.values(), *given.r.values()):
        builder.parameter(length, "0.3")
    for j, alpha in enumerate(given.alpha, start=1):
        s, c = SINE[alpha], COSINE[alpha]
        d, r = given.d.get(j, "0"), given.r.get(j, "0")
        for word in ("m", "cx", "cy", "cz", "xy", "xz", "yz"):
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
            inertia=[[f"{word}{j}" for word in row] for row in TENSOR],
        )
    return builder.build()
