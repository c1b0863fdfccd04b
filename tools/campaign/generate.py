"""Random mechanisms as plain tables, in the words of the product's native files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

Table = dict[str, Any]

JOINTS = {
    "revolute": 6.0,
    "prismatic": 3.0,
    "fixed": 0.6,
    "cylindrical": 0.8,
    "universal": 0.8,
    "revolute_prismatic": 0.8,
    "planar": 0.8,
    "spherical": 1.2,
    "free": 1.0,
    "spherical euler": 0.6,
    "free euler": 0.4,
}
"""Kinds of joints, and how often each is drawn."""
FREEDOMS = {
    "fixed": 0,
    "revolute": 1,
    "prismatic": 1,
    "cylindrical": 2,
    "universal": 2,
    "revolute_prismatic": 2,
    "planar": 3,
    "spherical": 3,
    "free": 6,
    "spherical euler": 3,
    "free euler": 6,
}
EULER = ("zyx", "xyz", "zxz", "yxz", "xyx")


@dataclass
class Draw:
    """A source of random numbers with few digits."""

    rng: np.random.Generator

    def chance(self, share: float) -> bool:
        """Return true in so many of all cases."""
        return bool(self.rng.random() < share)

    def number(self, low: float, high: float, digits: int = 2) -> float:
        """Return a number with few digits."""
        return round(float(self.rng.uniform(low, high)), digits)

    def vector(self, size: float, digits: int = 2) -> list[float]:
        """Return three numbers, some of them zero."""
        return [0.0 if self.chance(0.3) else self.number(-size, size, digits) for _ in range(3)]

    def pick(self, choices: Any) -> Any:
        """Return one of a list."""
        return choices[int(self.rng.integers(len(choices)))]

    def kind(self, weights: dict[str, float]) -> str:
        """Return one of a table of weights."""
        shares = np.array(list(weights.values()))
        return str(self.rng.choice(list(weights), p=shares / shares.sum()))

    def axis(self) -> Any:
        """Return a letter, or three numbers that are no unit vector."""
        if self.chance(0.7):
            return self.pick(["x", "y", "z", "-x", "-z"])
        if self.chance(0.3):
            return self.pick([[1, 2, 2], [0, 3, 4], [2, -1, 2]])
        found = [self.number(-1, 1) for _ in range(3)]
        return found if np.linalg.norm(found) > 0.3 else [1, 0, 1]


@dataclass
class Mechanism:
    """Draws the segments of a mechanism."""

    draw: Draw
    is_planar: bool = False
    most: int = 9
    """The most freedoms."""
    segments: list[Table] = field(default_factory=list[Table])

    def table(self, count: int) -> Table:
        """Return a mechanism of so many segments."""
        room = self.most
        for place in range(count):
            kind = self._kind(room)
            room -= FREEDOMS[kind]
            self.segments.append(self._segment(place, kind))
        gravity = [0, 0, -9.81]
        if self.is_planar:
            gravity = [0, -9.81, 0]
        if self.draw.chance(0.15):
            gravity = self.draw.vector(10)
        if self.draw.chance(0.08):
            gravity = [0, 0, 0]
        return {"name": "case", "gravity": gravity, "segments": self.segments}

    def _kind(self, room: int) -> str:
        if self.is_planar:
            return "revolute" if self.draw.chance(0.75) else "prismatic"
        return self.draw.kind({k: w for k, w in JOINTS.items() if FREEDOMS[k] <= room})

    def _segment(self, place: int, kind: str) -> Table:
        draw = self.draw
        parents = ["ground", *(s["name"] for s in self.segments)]
        parent = parents[-1] if draw.chance(0.7) else draw.pick(parents)
        segment: Table = {"name": f"b{place}", "parent": parent, "joint": self._joint(place, kind)}
        if self.is_planar:
            segment["position"] = [draw.number(-0.5, 0.8), draw.number(-0.3, 0.3), 0]
        elif draw.chance(0.8):
            segment["position"] = draw.vector(0.6)
        if not self.is_planar:
            segment |= self._orientation()
        return {**segment, **self._body()}

    def _orientation(self) -> Table:
        draw = self.draw
        if draw.chance(0.5):
            return {}
        if draw.chance(0.3):
            return {"rpy": [draw.pick([0, "pi/2", "-pi/2", "pi"]) for _ in range(3)]}
        if draw.chance(0.2):
            return {"quaternion": [*draw.vector(1), 0.5]}
        return {"rpy": draw.vector(2)}

    def _joint(self, place: int, kind: str) -> Table:
        draw = self.draw
        joint: Table = {"name": f"j{place}", "type": kind.split(maxsplit=1)[0]}
        if self.is_planar:
            joint["axis"] = "z" if kind == "revolute" else draw.pick(["x", "y", [3, 4, 0]])
        elif kind in ("revolute", "prismatic", "cylindrical"):
            joint["axis"] = draw.axis()
        elif kind == "planar":
            joint["axis"] = draw.pick(["x", "y", "z"])
        elif kind in ("universal", "revolute_prismatic"):
            joint["axes"] = draw.pick([["x", "y"], ["z", "x"], ["y", "z"], ["z", [1, 2, 2]]])
        elif kind.endswith("euler"):
            joint["euler"] = draw.pick(EULER)
        if kind in ("revolute", "prismatic"):
            joint |= self._losses()
        elif FREEDOMS[kind] and kind not in ("spherical", "free") and draw.chance(0.15):
            joint["friction"] = [{"viscous": draw.number(0, 1)} for _ in range(FREEDOMS[kind])]
        return joint

    def _losses(self) -> Table:
        draw, found = self.draw, Table()
        if draw.chance(0.25):
            found["friction"] = {"viscous": draw.number(0.01, 1)}
            if draw.chance(0.25):
                found["friction"]["coulomb"] = draw.number(0.05, 1)
        if draw.chance(0.15):
            found["rotor_inertia"] = draw.number(0.001, 0.01, 4)
            if draw.chance(0.6):
                found["gear_ratio"] = draw.number(1, 20, 1)
        return found

    def _body(self) -> Table:
        draw = self.draw
        if draw.chance(0.1):
            return {}
        body: Table = {"mass": draw.number(0.2, 3)}
        if self.is_planar:
            body["com"] = [draw.number(-0.3, 0.4), draw.number(-0.2, 0.2), 0]
        elif draw.chance(0.85):
            body["com"] = draw.vector(0.4)
        if draw.chance(0.85):
            body["inertia"] = self._inertia()
        if draw.chance(0.04):
            body["mass"] = 0
        return body

    def _inertia(self) -> Any:
        draw = self.draw
        parts = [draw.number(0.01, 0.3, 3) for _ in range(3)]
        # Sums of two parts are moments that a body can have.
        moments = [round(parts[i] + parts[(i + 1) % 3], 3) for i in range(3)]
        if draw.chance(0.5):
            return moments
        R, _ = np.linalg.qr(draw.rng.normal(size=(3, 3)))
        full = np.round(R @ np.diag(moments) @ R.T, 4)
        return ((full + full.T) / 2).tolist()
