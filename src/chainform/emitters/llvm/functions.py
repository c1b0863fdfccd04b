"""From the cone of some outputs to functions: addresses of inputs and results, and chunks.

A long function is cut into chunks, one after the other; what a later chunk needs goes through a
work area. What depends on parameters only is computed apart, into an area of its own, so that a
batch need not do it again for every state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainform.emitters.llvm.body import Form
from chainform.emitters.llvm.definitions import Definitions
from chainform.emitters.llvm.fill import FEW, Fill
from chainform.emitters.llvm.order import chunks, depth_first
from chainform.emitters.llvm.parts import Parts
from chainform.emitters.llvm.signature import Signature


@dataclass(frozen=True)
class Code:
    """Definitions of functions, and the declarations that they need."""

    text: str
    declared: frozenset[str]


class Functions:
    """The functions for one kernel in one form.

    With one lane, arrays are contiguous. With several, each array comes with the distance in bytes
    from one entry to the next; the lanes of an entry are contiguous.
    """

    def __init__(
        self, definitions: Definitions, signature: Signature, name: str, form: Form, packed: int = 1
    ) -> None:
        self.definitions = definitions
        self.signature = signature
        self.name = name
        self.form = form
        self.packed = packed
        """How many sines and cosines of one state are computed side by side."""
        self.declared: set[str] = set()
        self.places = self._places()
        self.fills = self._fills()
        self.fixed: dict[int, int] = {}
        """The places, in the area of what is fixed, of what depends on parameters only."""

    def _places(self) -> dict[int, list[tuple[int, int]]]:
        """Return where each variable goes: numbers of result and entry."""
        places: dict[int, list[tuple[int, int]]] = {}
        for number, result in enumerate(self.signature.results):
            for index, v in enumerate(self.definitions.graph.block(result.name).variables):
                places.setdefault(v, []).append((number, index))
        return places

    def _fills(self) -> list[Fill]:
        """Take numbers that stand in many places out of the places, to be stored in loops."""
        fills: list[Fill] = []
        for v in [v for v in self.places if v in self.definitions.constants]:
            if len(self.places[v]) <= FEW:
                continue
            by_result: dict[int, list[int]] = {}
            for number, index in self.places.pop(v):
                by_result.setdefault(number, []).append(index)
            value = self.definitions.constants[v]
            fills += [Fill(number, value, entries) for number, entries in by_result.items()]
        return fills

    # --- what is computed when ------------------------------------------------------------

    def _known(self) -> set[int]:
        return {*self.definitions.inputs, *self.definitions.constants}

    def _parameter_only(self) -> set[int]:
        """Return the variables that depend on parameters, and on nothing that moves."""
        definitions = self.definitions
        found = {v for v, given in definitions.inputs.items() if given.group == "parameter"}
        if all(argument.group != "parameter" for argument in self.signature.arguments):
            return set()
        fixed = found | set(definitions.constants)
        for v in range(len(definitions.calls)):
            if v not in fixed and v not in definitions.inputs:
                needs = definitions.needs(v)
                if needs and all(u in fixed for u in needs):
                    fixed.add(v)
                    found.add(v)
        return found

    def _first_angles(self, order: Sequence[int]) -> list[int]:
        """Return the angles whose sines and cosines need none themselves."""
        calls = self.definitions.calls
        with_calls: set[int] = set()
        angles: dict[int, None] = {}
        for v in order:
            if calls[v] or any(u in with_calls for u in self.definitions.needs(v)):
                with_calls.add(v)
            if calls[v] in ("sin", "cos") and self.definitions.arguments[v] not in with_calls:
                angles[self.definitions.arguments[v]] = None
        return list(angles)

    # --- functions ------------------------------------------------------------------------

    def whole(self) -> Code:
        """Return the function that computes all results from all arguments."""
        return self._code(self._function(self.name, list(self.places), known=self._known()))

    def in_two(self) -> Code:
        """Return two functions: NAME.fixed for what depends on parameters only, and the rest."""
        parameter_only = self._parameter_only()
        known = self._known()
        order = depth_first(self.definitions, self.places, set(known))
        used = {u for v in order if v not in parameter_only for u in self.definitions.needs(v)}
        crossing = sorted((used | set(self.places)) & parameter_only)
        self.fixed = {v: place for place, v in enumerate(crossing)}
        prepare = ""
        if crossing:
            prepare = self._function(f"{self.name}.fixed", crossing, known=known, is_fixed=True)
        main = self._function(self.name, list(self.places), known={*known, *crossing})
        return self._code(prepare + main)

    def _code(self, text: str) -> Code:
        return Code(text, frozenset(self.declared))

    def _function(
        self, name: str, wanted: Sequence[int], *, known: set[int], is_fixed: bool = False
    ) -> str:
        definitions = self.definitions
        angles = self._first_angles(depth_first(definitions, wanted, set(known)))
        done = set(known)
        before = depth_first(definitions, angles, done)
        of_angles = [
            v
            for angle in angles
            for call in ("sin", "cos")
            if (v := definitions.graph.call_variables.get((call, angle))) is not None
        ]
        done.update(of_angles)
        # What is wanted as it is given is only stored.
        after = [v for v in wanted if v in known] + depth_first(definitions, wanted, done)
        stores = dict.fromkeys(self.fixed, 1) if is_fixed else self._stores()
        parts = chunks(definitions, after, stores) or [[]]
        text = Parts(self, name, is_fixed, angles, before, of_angles, parts, known).text()
        if is_fixed:
            return text
        return "".join(fill.text(self.name, self.form) for fill in self.fills) + text

    def _stores(self) -> dict[int, int]:
        return {v: len(places) for v, places in self.places.items()}

    def parameters_of(self, *, is_fixed: bool = False) -> str:
        """Return the parameters of a function, as in its definition."""
        both = self.form.lanes > 1
        names: list[str] = []
        for argument in self.signature.arguments:
            if argument.group == "parameter" and both and not is_fixed:
                continue
            if is_fixed and argument.group != "parameter":
                continue
            names.append(f"ptr noalias readonly %{argument.group}")
            if both:
                names.append(f"i64 %{argument.group}.entry")
        if both and self.fixed:
            names.append("ptr noalias %fixed")
        if not is_fixed:
            for number in range(len(self.signature.results)):
                names.append(f"ptr noalias %out{number}")
                if both:
                    names.append(f"i64 %out{number}.entry")
        return ", ".join(names)
