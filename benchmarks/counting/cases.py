"""The rows of the tables, as data: what is derived, and what others needed for it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).parents[2] / "tests" / "data" / "reference"

EQUATIONS = ("mass_matrix", "coriolis", "gravity")
INVERSE = ("inverse_dynamics",)
FREE_SINES = 0.0
"""The cost of a sine for which more of them pay: the angles' differences become angles too."""


@dataclass(frozen=True)
class Case:
    """One row: a reference mechanism, the outputs, and multiplications/additions known for it."""

    title: str
    file: str
    outputs: tuple[str, ...]
    published: str
    greedy: str
    """A prototype's greedy extraction."""
    searched: str
    """The same prototype with a search."""
    goal: str
    parameters: str = "numeric"
    sine_cost: float | None = None
    """What a sine or cosine costs, in multiplications; by default what the program thinks."""


CASES = {
    "arm": Case(
        "Example 2.1 {H, C, hG}, sines free",
        "rackovic_2_1",
        EQUATIONS,
        "140/107",
        "74/49 in 0.2 s",
        "59/43 in 330 s",
        "fast 72/49 in 1 s, deep 57/42",
        sine_cost=FREE_SINES,
    ),
    "arm-angles": Case(
        "Example 2.1 {H, C, hG}",
        "rackovic_2_1",
        EQUATIONS,
        "",
        "82/59 in 0.14 s",
        "70/51",
        "deep 68/50",
    ),
    "biped": Case(
        "biped 4.1 {H, C, hG}",
        "rackovic_4_1",
        EQUATIONS,
        "30607/24008",
        "513/397 in 21 s, 531/463 in 0.2 s",
        "473/374 in 480 s",
        "fast 520/440 in 5 s, deep 430/350",
    ),
    "arm-inverse": Case(
        "Example 2.1, inverse dynamics",
        "rackovic_2_1",
        INVERSE,
        "",
        "121/94",
        "114/90",
        "deep 108/86",
    ),
    "puma": Case(
        "PUMA 560, inverse dynamics",
        "puma560",
        INVERSE,
        "156/108, 159/113 (simplified inertias)",
        "162/133",
        "150/122",
        "deep 145/115",
    ),
    "stanford": Case(
        "Stanford arm, inverse dynamics",
        "stanford_toolbox",
        INVERSE,
        "142/99, 146/112",
        "",
        "116/92",
        "deep 112/88",
    ),
    "7r": Case(
        "7R arm {H, C, hG}", "seven_axis", EQUATIONS, "", "461/303", "385/254", "deep 360/240"
    ),
    "7r-inverse": Case(
        "7R arm, inverse dynamics", "seven_axis", INVERSE, "", "195/160", "182/146", "deep 172/138"
    ),
    "humanoid": Case(
        "humanoid, 30 joints {H, C, hG}",
        "humanoid_30",
        EQUATIONS,
        "",
        "8608/6697 in 1 s",
        "",
        "fast 8600/6700",
    ),
    "humanoid-inverse": Case(
        "humanoid, 30 joints, inverse dynamics",
        "humanoid_30",
        INVERSE,
        "",
        "1235/1106 in 3.5 s",
        "",
        "fast 1230/1100",
    ),
    "arm-symbolic": Case(
        "Example 2.1 {H, C, hG}, symbolic parameters",
        "rackovic_2_1",
        EQUATIONS,
        "",
        "112/96",
        "",
        "105/90",
        parameters="symbolic",
    ),
}


@dataclass(frozen=True)
class SymbolicCase:
    """An arm with symbolic parameters, and what OpenSYMORO needs for it."""

    title: str
    arm: str
    outputs: tuple[str, ...]
    everything: str
    """With all parameters."""
    base: str
    """With base parameters."""
    diagonal: bool = False
    """Whether the inertias about the frames of the bodies are diagonal."""


MASS = ("mass_matrix",)
SYMBOLIC = {
    "puma-all": SymbolicCase("PUMA 560", "puma560", INVERSE, "345/296", "301/240"),
    "stanford-all": SymbolicCase("Stanford", "stanford", INVERSE, "324/279", "262/211"),
    "rx90-all": SymbolicCase("RX90", "rx90", INVERSE, "331/282", "287/226"),
    "puma-diagonal": SymbolicCase("PUMA 560", "puma560", INVERSE, "", "231/175", diagonal=True),
    "stanford-diagonal": SymbolicCase(
        "Stanford", "stanford", INVERSE, "", "206/159", diagonal=True
    ),
    "rx90-diagonal": SymbolicCase("RX90", "rx90", INVERSE, "", "217/161", diagonal=True),
    "puma-mass": SymbolicCase("PUMA 560", "puma560", MASS, "273/189", "247/163"),
}
