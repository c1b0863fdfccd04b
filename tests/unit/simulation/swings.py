"""Mechanisms that swing, for tests of the methods of integration."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import chainform as cf
from chainform.readers import read_text

EXAMPLES = Path(__file__).parents[3] / "examples"

ROD = """
[[segments]]
name = "{name}"
parent = "{parent}"
joint = "revolute"
axis = "y"
position = [0, 0, {position}]
mass = 1
com = [0, 0, "-1/2"]
inertia = {{ xx = "1/12", yy = "1/12" }}
"""

TOP = """
gravity = [0, 0, -9.81]
[[segments]]
name = "top"
joint = "spherical"
mass = 1
com = [0, 0, 0.1]
inertia = { xx = 0.02, yy = 0.02, zz = 0.01 }
"""


@cache
def rods(count: int, damping: int = 0) -> cf.Mechanism:
    """Return rods of 1 m and 1 kg, one below the other, turning about y; damping in N m s."""
    text = "gravity = [0, 0, -9.81]\n"
    for i in range(count):
        parent = f"rod{i}" if i else "ground"
        text += ROD.format(name=f"rod{i + 1}", parent=parent, position=-1 if i else 0)
        if damping:
            text += f"friction = {{ viscous = {damping} }}\n"
    return read_text(text, "toml")


@cache
def spinning_top() -> cf.Mechanism:
    """Return a body that turns about a point in all directions, by a quaternion."""
    return read_text(TOP, "toml")


@cache
def example(name: str) -> cf.Mechanism:
    """Return one of the examples."""
    return cf.read(EXAMPLES / f"{name}.toml")
