"""Small mechanisms for simulations, most of them with a motion in closed form."""

from __future__ import annotations

from functools import cache

from chainform.mechanism import Mechanism
from chainform.readers import read_text

BALL = """
name = "ball"
gravity = [0, 0, -9.81]
[[segments]]
name = "ball"
joint = { type = "prismatic", axis = "z", name = "height" }
mass = 2
"""

PENDULUM = """
name = "pendulum"
gravity = [0, 0, -9.81]
[[segments]]
name = "rod"
joint = { type = "revolute", axis = "y", name = "hinge" }
mass = 2
com = [0, 0, -0.5]
inertia = [0.1, 0.1, 0]
"""

BLOCK = """
name = "block"
gravity = [0, 0, 0]
[[segments]]
name = "block"
joint = { type = "prismatic", axis = "x", name = "slide" }
friction = { coulomb = 3, viscous = 0 }
mass = 2
"""

BALLS = """
name = "balls"
gravity = [0, 0, 0]
[[segments]]
name = "a"
joint = { type = "prismatic", axis = "x", name = "a" }
mass = 1
[[segments]]
name = "b"
parent = "ground"
joint = { type = "prismatic", axis = "x", name = "b" }
mass = 1
[[segments]]
name = "c"
parent = "ground"
joint = { type = "prismatic", axis = "x", name = "c" }
mass = 1
[[constraints]]
name = "ab"
kind = "unilateral"
law = "b - a"
restitution = 1
[[constraints]]
name = "bc"
kind = "unilateral"
law = "c - b"
restitution = 1
"""

TABLE = """
name = "table"
gravity = [0, 0, -10]
[[segments]]
name = "top"
joint = { type = "free", euler = "zyx" }
mass = 4
inertia = [0.5, 0.6, 0.8]
[[frames]]
name = "leg1"
segment = "top"
point = [1, 1, -0.5]
[[frames]]
name = "leg2"
segment = "top"
point = [-1, 1, -0.5]
[[frames]]
name = "leg3"
segment = "top"
point = [-1, -1, -0.5]
[[frames]]
name = "leg4"
segment = "top"
point = [1, -1, -0.5]
"""


@cache
def machine(text: str) -> Mechanism:
    """Return the mechanism of a text, read once."""
    return read_text(text, "toml")
