"""What changed from one revision to another: parameters, entries of outputs, variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from chainform.graph import number_text
from chainform.store.records import Revision

NUMBERED = re.compile(r"(?:[a-z]+_)*(?:x|constant)_[0-9]+_*")
"""Names that only count: they change whenever something before them does, and mean nothing."""

MOST_NAMED = 40
"""More variables between inputs and outputs than this are counted, not shown."""


@dataclass(frozen=True, slots=True)
class ParameterState:
    """A parameter in one revision: its value, and whether the formulas leave it free."""

    value: Fraction | None
    is_free: bool

    def __str__(self) -> str:
        kind = "free" if self.is_free else "number"
        return f"without a value ({kind})" if self.value is None else f"{self.text} ({kind})"

    @property
    def text(self) -> str | None:
        """The value, exactly."""
        return None if self.value is None else number_text(self.value)


@dataclass(frozen=True, slots=True)
class ParameterChange:
    """A parameter before and after; None where a revision does not name it."""

    name: str
    before: ParameterState | None
    after: ParameterState | None

    def __str__(self) -> str:
        old, new = (state or "not named" for state in (self.before, self.after))
        return f"{self.name} {old} -> {new}"


@dataclass(frozen=True, slots=True)
class EntryChange:
    """An entry of an output, by its label: the formula before and after, None where it is new."""

    output: str
    label: str
    before: str | None
    after: str | None
    same_values: bool = False
    """Whether only the formula is another one: the values are the same in every state."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed from one revision to another; `print` shows it."""

    before: Revision
    after: Revision
    parameters: tuple[ParameterChange, ...] = ()
    entries: tuple[EntryChange, ...] = ()
    """The entries of outputs that changed; those with the same values stand last."""
    added: Mapping[str, str] = field(default_factory=dict[str, str])
    """Internal variables, those that are no entries of outputs: their definitions by name."""
    removed: Mapping[str, str] = field(default_factory=dict[str, str])
    changed: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """The definition before and after, by name."""
    outputs_added: tuple[str, ...] = ()
    outputs_removed: tuple[str, ...] = ()
    outputs_changed: tuple[str, ...] = ()
    """Outputs with another shape, or with an entry of other values."""
    outputs_rewritten: tuple[str, ...] = ()
    """Outputs whose values are the same, by other formulas."""

    def __bool__(self) -> bool:
        return bool(self.parameters or self.has_other_formulas)

    @property
    def has_other_formulas(self) -> bool:
        """Whether anything but values of parameters changed."""
        outputs = self.outputs_added or self.outputs_removed or self.outputs_changed
        return bool(self.entries or self.added or self.removed or self.changed or outputs)

    def __str__(self) -> str:
        head = f"from {self.before.reference} to {self.after.reference}"
        return "\n".join([head, *self.summary_lines(), *self.formula_lines()])

    # --- as text ----------------------------------------------------------------------------

    def summary_lines(self) -> Iterator[str]:
        """Give the parameters, and which outputs changed, in plain words."""
        if self.parameters:
            yield "parameters"
            yield from (f"  {change}" for change in self.parameters)
        for word in ("added", "removed", "changed"):
            names: tuple[str, ...] = getattr(self, f"outputs_{word}")
            if names:
                yield f"outputs {word}: {', '.join(names)}"
        if self.outputs_rewritten:
            yield f"same values, other formulas: {', '.join(self.outputs_rewritten)}"
        if not self.has_other_formulas:
            rest = "; only values of parameters changed" if self.parameters else ""
            yield f"the formulas are the same{rest}"

    def formula_lines(self, *, everything: bool = False) -> Iterator[str]:
        """Give the formulas, old ones after a minus and new ones after a plus, entries first."""
        apart = [entry for entry in self.entries if not entry.same_values]
        alike = [entry for entry in self.entries if entry.same_values]
        for entry in apart:
            yield from _pair(entry.label, entry.before, entry.after)
        if alike and everything:
            yield "same values, other formulas:"
            for entry in alike:
                yield from _pair(entry.label, entry.before, entry.after)
        elif alike and apart:
            yield f"same values, other formulas: {', '.join(entry.label for entry in alike)}"
        yield from self._variable_lines(everything=everything)

    def _variable_lines(self, *, everything: bool) -> Iterator[str]:
        names = list(dict.fromkeys((*self.removed, *self.changed, *self.added)))
        named = [name for name in names if not NUMBERED.fullmatch(name)]
        few = named if len(named) <= MOST_NAMED else []
        shown = [*named, *(n for n in names if n not in set(named))] if everything else few
        for name in shown:
            gone, new = self.removed.get(name), self.added.get(name)
            yield from _pair(name, *self.changed.get(name, (gone, new)))
        left_out = len(names) - len(shown)
        if left_out:
            yield f"{left_out} further internal variable{'' if left_out == 1 else 's'} changed"


def _pair(name: str, old: str | None, new: str | None) -> Iterator[str]:
    if old == new:
        yield f"~ {name} = {old}, where internal variables changed"
        return
    if old is not None:
        yield f"- {name} = {old}"
    if new is not None:
        yield f"+ {name} = {new}"
