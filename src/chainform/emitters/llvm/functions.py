"""From the cone of some outputs to functions: addresses of inputs and results, and chunks.

A long function is cut into chunks, one after the other; what a later chunk needs goes through a
work area. What depends on parameters only is computed apart, into an area of its own, so that a
batch need not do it again for every state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chainform.emitters.definitions import Definitions, depth_first
from chainform.emitters.llvm.body import FEW, Fill, NumberType, StatementWriter
from chainform.emitters.schedule import Schedule, result_entries, schedule_of
from chainform.emitters.signature import Signature

# --- what a function loads, computes and stores ---------------------------------------------------


class Parts:
    """Writes one function, or several that follow one another."""

    def __init__(self, functions: Functions, name: str, schedule: Schedule, is_fixed: bool) -> None:
        self.functions = functions
        self.name = name
        self.schedule = schedule
        self.is_fixed = is_fixed
        self.parts = schedule.parts
        self.slots = schedule.slots

    def text(self) -> str:
        """Return the text of the functions."""
        functions = self.functions
        parameters = functions.parameters_of(is_fixed=self.is_fixed)
        if len(self.parts) == 1:
            return self._define(self.name, parameters, self._body(0))
        texts: list[str] = []
        calls: list[str] = []
        names = [p.replace("noalias ", "").replace("readonly ", "") for p in parameters.split(", ")]
        work = f"[{max(self.schedule.work, 1)} x {functions.form.type}]"
        for number in range(len(self.parts)):
            name = f"{self.name}.{number}"
            given = f"{parameters}, ptr noalias %work"
            texts.append(self._define(name, given, self._body(number), is_part=True))
            calls.append(f"  call void @{name}({', '.join(names)}, ptr %work)")
        lines = [f"  %work = alloca {work}, align 64", *calls]
        return "".join(texts) + self._define(self.name, parameters, lines)

    def _define(
        self, name: str, parameters: str, lines: Sequence[str], *, is_part: bool = False
    ) -> str:
        """Return a function; parts are never put together again, for the sake of their size."""
        is_internal = is_part or self.functions.form.lanes > 1
        linkage = "internal " if is_internal else ""
        attributes = "#1" if is_part else "#0"
        head = f"define {linkage}void @{name}({parameters}) {attributes} {{"
        return "\n".join([head, *lines, "  ret void", "}"]) + "\n\n"

    def _body(self, number: int) -> list[str]:
        functions = self.functions
        body = StatementWriter(functions.definitions, functions.form)
        address = Address(functions, body, self.slots, self.is_fixed)
        body.missing = address.load
        if number == 0:
            schedule = self.schedule
            for v in schedule.before:
                body.statement(v)
            body.sine_and_cosine(schedule.angles, functions.packed)
            for v in [*schedule.before, *schedule.of_angles]:
                self._keep(body, address, v)
            if not self.is_fixed:
                for fill in functions.fills:
                    body.do(fill.call(functions.name, functions.form))
        for v in self.parts[number]:
            if v not in body.values and v not in self.schedule.known:
                body.statement(v)
            self._keep(body, address, v)
        functions.declared |= body.declared
        return body.lines

    def _keep(self, body: StatementWriter, address: Address, v: int) -> None:
        """Store a value where results need it."""
        if v in self.slots:
            address.store(address.work(v), body.value(v))
        if self.is_fixed:
            if v in self.functions.fixed:
                address.store(address.fixed(v), body.value(v))
            return
        for number, index in self.functions.entries.get(v, ()):
            address.store(address.entry(f"out{number}", index), body.value(v))


class Address:
    """Loads and stores of one function."""

    def __init__(
        self, functions: Functions, body: StatementWriter, slots: Mapping[int, int], is_fixed: bool
    ) -> None:
        self.functions = functions
        self.form = functions.form
        self.is_fixed = is_fixed
        self.body = body
        self.slots = slots

    def entry(self, array: str, index: int) -> str:
        """Return the address of an entry of an array."""
        if self.form.lanes == 1:
            return self.body.new(f"getelementptr {self.form.scalar}, ptr %{array}, i64 {index}")
        offset = self.body.new(f"mul i64 %{array}.entry, {index}")
        return self.body.new(f"getelementptr i8, ptr %{array}, i64 {offset}")

    def work(self, v: int) -> str:
        """Return the address of a variable in the work area."""
        slot = self.slots[v]
        return self.body.new(f"getelementptr {self.form.type}, ptr %work, i64 {slot}")

    def fixed(self, v: int) -> str:
        """Return the address of a variable among what is fixed."""
        slot = self.functions.fixed[v]
        return self.body.new(f"getelementptr {self.form.type}, ptr %fixed, i64 {slot}")

    def load(self, v: int) -> str:
        """Load an input, or a variable that was computed before."""
        definitions = self.functions.definitions
        if v in self.slots:
            address = self.work(v)
        elif v in definitions.inputs and (self.is_fixed or v not in self.functions.fixed):
            address = self.entry(definitions.inputs[v].group, definitions.place[v])
        else:
            address = self.fixed(v)
        return self.body.new(f"load {self.form.type}, ptr {address}, align {self.form.bytes}")

    def store(self, address: str, value: str) -> None:
        """Store a value."""
        self.body.do(f"store {self.form.type} {value}, ptr {address}, align {self.form.bytes}")


# --- all functions of a kernel --------------------------------------------------------------------


@dataclass(frozen=True)
class FunctionTexts:
    """Definitions of functions, and the declarations that they need."""

    text: str
    declared: frozenset[str]


class Functions:
    """The functions for one kernel in one form.

    With one lane, arrays are contiguous. With several, each array comes with the distance in bytes
    from one entry to the next; the lanes of an entry are contiguous.
    """

    def __init__(
        self,
        definitions: Definitions,
        signature: Signature,
        name: str,
        form: NumberType,
        packed: int = 1,
    ) -> None:
        self.definitions = definitions
        self.signature = signature
        self.name = name
        self.form = form
        self.packed = packed
        """How many sines and cosines of one state are computed side by side."""
        self.declared: set[str] = set()
        self.entries = result_entries(definitions, signature)
        self.fills = self._fills()
        self.fixed: dict[int, int] = {}
        """The index, in the area of what is fixed, of what depends on parameters only."""

    def _fills(self) -> list[Fill]:
        """Take numbers that are many entries out of these, to be stored in loops."""
        fills: list[Fill] = []
        for v in [v for v in self.entries if v in self.definitions.constants]:
            if len(self.entries[v]) <= FEW:
                continue
            by_result: dict[int, list[int]] = {}
            for number, index in self.entries.pop(v):
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

    # --- functions ------------------------------------------------------------------------

    def whole(self) -> FunctionTexts:
        """Return the function that computes all results from all arguments."""
        return self._code(self._function(self.name, list(self.entries), known=self._known()))

    def in_two(self) -> FunctionTexts:
        """Return two functions: NAME.fixed for what depends on parameters only, and the rest."""
        parameter_only = self._parameter_only()
        known = self._known()
        order = depth_first(self.definitions, self.entries, set(known))
        used = {u for v in order if v not in parameter_only for u in self.definitions.needs(v)}
        crossing = sorted((used | set(self.entries)) & parameter_only)
        self.fixed = {v: index for index, v in enumerate(crossing)}
        prepare = ""
        if crossing:
            prepare = self._function(f"{self.name}.fixed", crossing, known=known, is_fixed=True)
        main = self._function(self.name, list(self.entries), known={*known, *crossing})
        return self._code(prepare + main)

    def _code(self, text: str) -> FunctionTexts:
        return FunctionTexts(text, frozenset(self.declared))

    def _function(
        self, name: str, wanted: Sequence[int], *, known: set[int], is_fixed: bool = False
    ) -> str:
        stores = dict.fromkeys(self.fixed, 1) if is_fixed else self._stores()
        schedule = schedule_of(self.definitions, wanted, known, stores)
        text = Parts(self, name, schedule, is_fixed).text()
        if is_fixed:
            return text
        return "".join(fill.text(self.name, self.form) for fill in self.fills) + text

    def _stores(self) -> dict[int, int]:
        return {v: len(entries) for v, entries in self.entries.items()}

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
