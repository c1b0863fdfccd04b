"""What changed from one revision to another: parameters, entries of outputs, variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from chainform.display import Displayed
from chainform.graph import Graph, definition_text, expand, expansion_text, number_text
from chainform.store.records import ParameterEntry, Revision

NUMBERED = re.compile(r"(?:[a-z]+_)*(?:x|constant)_[0-9]+_*")
"""Names that only count: they change whenever something before them does, and mean nothing."""

MOST_NAMED = 40
"""More variables between inputs and outputs than this are counted, not shown."""


@dataclass(frozen=True, slots=True, repr=False)
class ParameterState(Displayed):
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


@dataclass(frozen=True, slots=True, repr=False)
class ParameterChange(Displayed):
    """A parameter before and after; None where a revision does not name it."""

    name: str
    before: ParameterState | None
    after: ParameterState | None

    def __str__(self) -> str:
        old, new = (state or "not named" for state in (self.before, self.after))
        return f"{self.name} {old} -> {new}"


@dataclass(frozen=True, slots=True, repr=False)
class EntryChange(Displayed):
    """An entry of an output, by its label: the formula before and after, None where it is new."""

    output: str
    label: str
    before: str | None
    after: str | None
    same_values: bool = False
    """Whether only the formula is another one: the values are the same in every state."""


@dataclass(frozen=True, slots=True, repr=False)
class RevisionDifference(Displayed):
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


# --- comparing two revisions ---------------------------------------------------------------------


Pair: TypeAlias = tuple[int | None, int | None]
"""The variables behind an entry, before and after; None where a side has no such entry."""


@dataclass(frozen=True)
class Side:
    """One of the two revisions."""

    graph: Graph
    revision: Revision
    parameters: tuple[ParameterEntry, ...]

    def states(self) -> dict[str, ParameterState]:
        """Return the parameters that the revision names."""
        free = {i.name: i.default for i in self.graph.inputs.values() if i.group == "parameter"}
        named = {p.name: ParameterState(p.value, p.name in free) for p in self.parameters}
        return named | {name: ParameterState(value, True) for name, value in free.items()}

    def entries(self) -> dict[tuple[str, str], int]:
        """Return the variable behind each entry of an output, by output and label."""
        return {
            (block.name, label): v
            for block in self.graph.outputs.values()
            for label, v in zip(block.labels, block.variables, strict=True)
        }

    def entry_names(self) -> set[str]:
        """Return the labels of entries, and the names of the variables behind them."""
        entries = self.entries()
        return {label for _, label in entries} | {self.graph.names[v] for v in entries.values()}


def difference(old: Side, new: Side, *, expanded: bool = False) -> RevisionDifference:
    """Return what changed; with `expanded` the formulas of entries are multiplied out."""
    parameters = _parameter_changes(old, new)
    if old.revision.content == new.revision.content:
        return RevisionDifference(old.revision, new.revision, parameters)
    ids: dict[object, int] = {}
    earlier, later = _Definitions(old.graph, ids), _Definitions(new.graph, ids)
    entries = _entry_changes(old, new, earlier, later, expanded=expanded)
    shown = old.entry_names() | new.entry_names()
    changed = _outputs_of(old, new, [entry for entry in entries if not entry.same_values])
    rewritten = {entry.output for entry in entries if entry.same_values}
    before, after = old.graph.outputs, new.graph.outputs
    return RevisionDifference(
        old.revision,
        new.revision,
        parameters,
        entries=tuple(sorted(entries, key=lambda entry: entry.same_values)),
        added=later.missing_in(earlier, shown),
        removed=earlier.missing_in(later, shown),
        changed={
            name: (earlier.text(name), later.text(name))
            for name in later.named
            if name in earlier.named
            and name not in shown
            and earlier.named[name] != later.named[name]
        },
        outputs_added=tuple(name for name in after if name not in before),
        outputs_removed=tuple(name for name in before if name not in after),
        outputs_changed=changed,
        outputs_rewritten=tuple(name for name in after if name in rewritten - {*changed}),
    )


def _outputs_of(old: Side, new: Side, entries: Sequence[EntryChange]) -> tuple[str, ...]:
    """Return the outputs of both sides that have another shape, or one of the entries."""
    touched = {entry.output for entry in entries}
    before = old.graph.outputs
    return tuple(
        name
        for name, block in new.graph.outputs.items()
        if name in before and (name in touched or before[name].shape != block.shape)
    )


def _parameter_changes(old: Side, new: Side) -> tuple[ParameterChange, ...]:
    before, after = old.states(), new.states()
    return tuple(
        ParameterChange(name, before.get(name), after.get(name))
        for name in dict.fromkeys((*before, *after))
        if before.get(name) != after.get(name)
    )


# --- entries ----------------------------------------------------------------------------------


def _entry_changes(
    old: Side, new: Side, earlier: _Definitions, later: _Definitions, *, expanded: bool
) -> list[EntryChange]:
    before, after = old.entries(), new.entries()
    pairs: dict[tuple[str, str], Pair] = {
        key: (before.get(key), after.get(key))
        for key in dict.fromkeys((*before, *after))
        if key not in before
        or key not in after
        or earlier.meaning[before[key]] != later.meaning[after[key]]
    }
    write = _expansions if expanded else _definitions
    olds = [v for v, _ in pairs.values() if v is not None]
    news = [w for _, w in pairs.values() if w is not None]
    was, now = write(old.graph, olds), write(new.graph, news)
    values = fingerprints(old.graph, new.graph, olds, news)
    return [
        EntryChange(
            *key,
            None if v is None else was[v],
            None if w is None else now[w],
            v is not None and w is not None and values[0][v] == values[1][w],
        )
        for key, (v, w) in pairs.items()
    ]


def _definitions(graph: Graph, variables: Sequence[int]) -> dict[int, str]:
    return {v: definition_text(graph, v) for v in variables}


def _expansions(graph: Graph, variables: Sequence[int]) -> dict[int, str]:
    chosen = list(dict.fromkeys(variables))
    found = expand(graph, chosen)
    return {v: expansion_text(e) for v, e in zip(chosen, found, strict=True)}


# --- definitions ------------------------------------------------------------------------------


class _Definitions:
    """The definitions of a graph, comparable with those of another that shares `ids`.

    `meaning` says what each variable is, down to the inputs; `shallow` the same, down to inputs
    and variables with names of their own. Equal numbers mean equal definitions.
    """

    def __init__(self, graph: Graph, ids: dict[object, int]) -> None:
        self.graph = graph
        self.ids = ids
        self.meaning: list[int] = []
        self.shallow: list[int] = []
        self.named: dict[str, int] = {}
        self.numbered: dict[str, int] = {}
        for v, name in enumerate(graph.names):
            self.meaning.append(self._number(self._key(v, self.meaning.__getitem__)))
            self.shallow.append(self._number(self._key(v, self._seen)))
            if v not in graph.inputs:
                kind = self.numbered if NUMBERED.fullmatch(name) else self.named
                kind[name] = self.shallow[v]

    def _number(self, key: object) -> int:
        return self.ids.setdefault(key, len(self.ids))

    def _seen(self, variable: int) -> int:
        name = self.graph.names[variable]
        if NUMBERED.fullmatch(name):
            return self.shallow[variable]
        return self._number(("name", name))

    def _key(self, variable: int, refer: Callable[[int], int]) -> object:
        graph = self.graph
        if variable in graph.inputs:
            # The default value is no part of a formula; it stands among the parameters.
            return ("input", graph.inputs[variable].name)
        if graph.call[variable]:
            return (int(graph.call[variable]), refer(int(graph.argument[variable])))
        return frozenset(
            (term.coefficient, tuple(sorted((refer(f.variable), f.power) for f in term.factors)))
            for term in graph.terms(variable)
        )

    def text(self, name: str) -> str:
        """Return a definition as text."""
        return definition_text(self.graph, self.graph.numbers[name])

    def missing_in(self, other: _Definitions, shown: set[str]) -> dict[str, str]:
        """Return the definitions that the other graph has not, under any number, nor are shown."""
        known = {*other.named.values(), *other.numbered.values()}
        own = [name for name in self.named if name not in other.named and name not in shown]
        own += [
            name
            for name, shallow in self.numbered.items()
            if shallow not in known and name not in shown
        ]
        return {name: self.text(name) for name in own}


# --- values at one random place, in a finite field -----------------------------------------------

# Two formulas that agree there have the same values, however differently they are written.


Values = dict[int, int]
"""Variable -> value."""


def fingerprints(
    old: Graph, new: Graph, before: Sequence[int], after: Sequence[int]
) -> tuple[Values, Values]:
    """Return the values of some variables of each of two graphs.

    A parameter that only one side leaves free has its value there; all else is random.
    """
    # Exact arithmetic takes long to import, and only comparisons of revisions need it.
    from chainform.algebra import field_for, residues

    known = _values_of_own(old, new), _values_of_own(new, old)
    numbers = (*old.coefficients, *new.coefficients, *known[0].values(), *known[1].values())
    field = field_for(numbers)
    return residues(old, field, before, known[0]), residues(new, field, after, known[1])


def _values_of_own(graph: Graph, other: Graph) -> Mapping[str, Fraction]:
    """Return the defaults of the inputs that the other graph has not."""
    free = {given.name for given in other.inputs.values()}
    return {
        given.name: given.default
        for given in graph.inputs.values()
        if given.default is not None and given.name not in free
    }
