"""What can be requested of every formulation: outputs and options; the choices of axes it returns.

What is cheapest as it stands need not be cheapest once common parts are taken out. So a method
returns all choices of axes whose operations it counted, and the next best ones can be built, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol, TypeAlias

from chainform.errors import DeriveError
from chainform.graph import OF_OUTPUT, Builder, Graph
from chainform.mechanism import Mechanism

PARTS = ("friction", "springs", "rotors", "forces")
"""What can be left out: joint friction, springs, the inertia of rotors, forces given by laws."""

Part: TypeAlias = tuple[str, ...]
"""A method and the outputs that it builds together."""


class AxisChoice(NamedTuple):
    """The limbs that are described in the axes before their joint turns, and what that takes.

    The only choice that there is has no number of operations: they need not be counted.
    """

    limbs: frozenset[int]
    operations: int | None = None


AxisChoices: TypeAlias = Mapping[Part, Sequence[AxisChoice]]
"""The choices of axes for each part of the equations of a mechanism, the cheapest first."""


@dataclass(frozen=True, slots=True)
class Options:
    """How forces from outside enter the equations, and which axes they are written in.

    `closure`: reactions of closed loops act by virtual work on every joint of the loop
    ("complete"), or on the basic joints only, as in Racković 1996 ("basic"). `wrenches`: the frames
    on which an external force and moment act, given as inputs. `without`: what a mechanism has
    and the equations shall not have, of PARTS. `axes`: the choice of axes for each part; a method
    looks for the cheapest where there is none.
    """

    closure: str = "complete"
    wrenches: tuple[str, ...] = ()
    without: frozenset[str] = frozenset()
    axes: Mapping[Part, AxisChoice] = field(default_factory=dict[Part, AxisChoice])

    def in_axes(self, choices: AxisChoices, rank: int = 0) -> Options:
        """Return the options with the choice of this rank for each part; 0 is the cheapest.

        A part with fewer choices has its last one. Axes that are chosen already stay.
        """
        axes = {part: ranked[min(rank, len(ranked) - 1)] for part, ranked in choices.items()}
        return replace(self, axes={**axes, **self.axes})


Method: TypeAlias = Callable[[Builder, Mechanism, Sequence[str], Options], AxisChoices]
"""What adds outputs to a graph and returns the choices of axes that it has ranked."""


GraphOf: TypeAlias = Callable[[Sequence[str]], Graph]
"""Returns the graph of outputs of one mechanism by one method."""


class Extension(Protocol):
    """Further outputs of one mechanism, from the equations that a method gives."""

    choices: AxisChoices

    def declare(self, output: str) -> None:
        """Declare one output."""
        ...


def extended(
    method: Method,
    outputs: Collection[str],
    extension: Callable[[Builder, Mechanism, Options, Method], Extension],
) -> Method:
    """Return a method that gives further outputs, too."""

    def build(
        builder: Builder, mechanism: Mechanism, wanted: Sequence[str], options: Options
    ) -> AxisChoices:
        own = [output for output in wanted if output not in outputs]
        choices: AxisChoices = method(builder, mechanism, own, options) if own else {}
        if len(own) == len(wanted):
            return choices
        work = extension(builder, mechanism, options.in_axes(choices), method)
        for output in wanted:
            if output in outputs:
                work.declare(output)
        return {**choices, **work.choices}

    return build


PLAIN = Options()
"""All that the mechanism has, and no wrenches."""

BODIES = Options(without=frozenset({"friction", "springs", "forces"}))
"""The bodies and their drives alone: what the choice of axes is priced with."""


# --- outputs by name ------------------------------------------------------------------------------

AXES_CHOICES = ("world", "local", "mixed")

PART_CHOICES = ("linear", "angular")
"""The three rows of a Jacobian that an output of the operational space may be limited to."""

OF_ROWS = (
    "inverse_operational_inertia",
    "operational_inertia",
    "operational_bias",
    "manipulability",
)
"""The outputs that can be limited to linear or angular rows: manipulability(tool,linear)."""

OWN_AXES = {"reaction": "local"}
"""The axes of a quantity where none are named, if they are not those of the world."""


@dataclass(frozen=True, slots=True)
class OutputRequest:
    """An output as requested: its name, and the frame, axes and rows where it has them."""

    text: str
    name: str
    frame: str | None = None
    axes: str = "world"
    part: str = ""

    @property
    def rows(self) -> range:
        """The rows of six that are requested."""
        return {"linear": range(3), "angular": range(3, 6)}.get(self.part, range(6))

    def label(self, letter: str) -> str:
        """Return a letter with the frame and the axes, as part of a variable's name."""
        axes = () if self.axes == OWN_AXES.get(self.name, "world") else (self.axes,)
        part = (self.part,) if self.part else ()
        word = "_".join((self.frame or "", *axes, *part))
        return f"{letter}_{re.sub(r'[^A-Za-z0-9_]', '_', word)}"


def parse_request(text: str) -> OutputRequest:
    """Read an output: `gravity`, `jacobian(tool, local)`, `manipulability(tool, linear)`."""
    match = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\)\s*)?", text, re.DOTALL)
    if match is None:
        raise DeriveError(
            f"{text!r} is not the name of an output",
            element="outputs",
            remedy="write a name, or a name with a frame: jacobian(tool), jacobian(tool, local); "
            "a derivative is d(tau)/d(q)",
        )
    name, inside = match.groups()
    if inside is None:
        return OutputRequest(name, name)
    if not inside.strip() or inside.lstrip().startswith(","):
        raise DeriveError(
            f"no frame is named in {text.strip()!r}",
            element="outputs",
            remedy=f"write {name}(frame) or {name}(frame, local)",
        )
    if name in OF_OUTPUT:
        return OutputRequest(f"{name}({inside.strip()})", name, inside.strip())
    # A frame may have commas in its name; only known words after the last ones count.
    frame, part = _word(inside, PART_CHOICES) if name in OF_ROWS else (inside.strip(), "")
    frame, axes = _word(frame, AXES_CHOICES)
    words = [word for word in (frame, axes, part) if word]
    own = axes or OWN_AXES.get(name, "world")
    return OutputRequest(f"{name}({','.join(words)})", name, frame or None, own, part)


def _word(text: str, choices: Sequence[str]) -> tuple[str, str]:
    """Return a text without its last word, and the word, if that is one of the choices."""
    front, _, last = text.rpartition(",")
    return (front.strip(), last.strip()) if last.strip() in choices else (text.strip(), "")
