"""Chains of links that turn and slide through their joints, as in Korayem and Shafei."""

from __future__ import annotations

import random
from typing import Any

import chainform as cf
from zoo import inertia, rational, rotation, unit_axis

QUARTER = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
INCLINED = [[1, 0, 0], [0, "3/5", "-4/5"], [0, "4/5", "3/5"]]
ROD: dict[str, Any] = {
    "mass": "mu*L",
    "com": ["-L/2", 0, 0],
    "inertia": ["J*L", "mu*L^3/12 + J*L", "mu*L^3/12 + J*L"],
}
"""A uniform rod seen from its tip: L its length, mu and J mass and rotary inertia per length."""

CHAINS = ("planar rods", "rods at right angles", "inclined rods", "inclined bodies")
"""The paper's chain in a plane, the same in space, and any bodies in place of rods."""


def sliding_chain(links: int, kind: str = CHAINS[0]) -> cf.Mechanism:
    """Return a chain of links that turn about z and slide along x, each joint at the tip before."""
    rng = random.Random(3)
    gravity = [0, -10, 0] if kind == CHAINS[0] else [1, -10, 2]
    builder = cf.Mechanism.builder(f"{links} {kind}", gravity=gravity)
    builder.parameter("L", 1).parameter("mu", 2).parameter("J", "0.0008")
    turn = {CHAINS[1]: QUARTER}.get(kind, INCLINED)
    for i in range(1, links + 1):
        builder.segment(
            f"link{i}",
            parent=f"link{i - 1}" if i > 1 else "ground",
            joint={"type": "revolute_prismatic", "axes": ["z", "x"]},
            rotation=None if i == 1 or kind == CHAINS[0] else turn,
            **(any_body(rng) if kind == CHAINS[3] else ROD),
        )
    return builder.build()


def any_body(rng: random.Random) -> dict[str, Any]:
    """Return mass, mass centre and a full tensor."""
    com = [rational(rng, 1, 9) for _ in range(3)]
    return {"mass": rational(rng, 1, 30), "com": com, "inertia": inertia(rng)}


def sliding_tree(seed: int) -> cf.Mechanism:
    """Return a random tree: bodies that slide in pieces that turn, and joints of other kinds.

    The piece may have a mass of its own or carry something else; the slide may begin anywhere on
    it, at any angle to the axis of the turn.
    """
    rng = random.Random(seed)
    builder = cf.Mechanism.builder(f"sliding{seed}", gravity=[rational(rng) for _ in range(3)])
    names = ["ground"]
    for number in range(1, rng.randint(2, 4) + 1):
        hub, body = f"hub{number}", f"body{number}"
        kind = rng.choice(["pair", "pair", "heavy", "revolute", "prismatic", "spherical", "free"])
        place: dict[str, Any] = {
            "parent": rng.choice(names[-2:]),
            "position": [rational(rng) for _ in range(3)],
            "rotation": rotation(rng),
        }
        if kind in ("pair", "heavy"):
            load = any_body(rng) if kind == "heavy" else {}
            builder.segment(hub, joint="revolute", axis=unit_axis(rng), **place, **load)
            place = {
                "parent": hub,
                "position": [rational(rng) for _ in range(3)],
                "rotation": rotation(rng) if rng.random() < 0.5 else None,
            }
            kind = "prismatic"
            names += [hub] if rng.random() < 0.2 else []
        axis = None if kind in ("spherical", "free") else unit_axis(rng)
        builder.segment(body, joint=kind, axis=axis, **place, **any_body(rng))
        names.append(body)
    return builder.build()
