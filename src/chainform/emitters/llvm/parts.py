"""One function, or several that follow one another: what each loads, computes and stores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from chainform.emitters.llvm.body import Body, Form
from chainform.emitters.llvm.definitions import Definitions
from chainform.emitters.llvm.fill import Fill


class Kernel(Protocol):
    """What is to be written: definitions, form, and where results go."""

    definitions: Definitions
    form: Form
    packed: int
    declared: set[str]
    name: str
    places: dict[int, list[tuple[int, int]]]
    fills: list[Fill]
    fixed: dict[int, int]

    def parameters_of(self, *, is_fixed: bool = False) -> str:
        """Return the parameters of a function, as in its definition."""
        ...


class Parts:
    """Writes one function, or several that follow one another."""

    def __init__(
        self,
        functions: Kernel,
        name: str,
        is_fixed: bool,
        angles: Sequence[int],
        before: Sequence[int],
        of_angles: Sequence[int],
        parts: Sequence[Sequence[int]],
        known: set[int],
    ) -> None:
        self.functions = functions
        self.name = name
        self.is_fixed = is_fixed
        self.angles = angles
        self.computed = [[*before, *of_angles, *parts[0]], *parts[1:]]
        self.before = before
        self.of_angles = of_angles
        self.parts = parts
        self.known = known
        self.slots = self._work_slots() if len(parts) > 1 else {}

    def _work_slots(self) -> dict[int, int]:
        """Return a place in the work area for everything that a later part needs."""
        part_of = {
            v: number
            for number, part in enumerate(self.computed)
            for v in part
            if v not in self.known
        }
        last: dict[int, int] = {}
        for number, part in enumerate(self.parts):
            for v in part:
                for u in self.functions.definitions.needs(v):
                    if part_of.get(u, number) < number:
                        last[u] = number
        slots: dict[int, int] = {}
        free: list[int] = []
        size = 0
        ends: dict[int, list[int]] = {}
        for number, part in enumerate(self.computed):
            free += [slots[v] for v in ends.get(number, [])]
            for v in part:
                if v in last:
                    if not free:
                        free.append(size)
                        size += 1
                    slots[v] = free.pop()
                    ends.setdefault(last[v] + 1, []).append(v)
        self.work = size
        return slots

    def text(self) -> str:
        """Return the text of the functions."""
        functions = self.functions
        parameters = functions.parameters_of(is_fixed=self.is_fixed)
        if len(self.parts) == 1:
            return self._define(self.name, parameters, self._body(0))
        texts: list[str] = []
        calls: list[str] = []
        names = [p.replace("noalias ", "").replace("readonly ", "") for p in parameters.split(", ")]
        work = f"[{max(self.work, 1)} x {functions.form.type}]"
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
        body = Body(functions.definitions, functions.form)
        address = Address(functions, body, self.slots, self.is_fixed)
        body.missing = address.load
        if number == 0:
            for v in self.before:
                body.statement(v)
            body.sine_and_cosine(self.angles, functions.packed)
            for v in [*self.before, *self.of_angles]:
                self._keep(body, address, v)
            if not self.is_fixed:
                for fill in functions.fills:
                    body.do(fill.call(functions.name, functions.form))
        for v in self.parts[number]:
            if v not in body.values and v not in self.known:
                body.statement(v)
            self._keep(body, address, v)
        functions.declared |= body.declared
        return body.lines

    def _keep(self, body: Body, address: Address, v: int) -> None:
        """Store a value where it is asked for."""
        if v in self.slots:
            address.store(address.work(v), body.value(v))
        if self.is_fixed:
            if v in self.functions.fixed:
                address.store(address.fixed(v), body.value(v))
            return
        for number, index in self.functions.places.get(v, ()):
            address.store(address.entry(f"out{number}", index), body.value(v))


class Address:
    """Loads and stores of one function."""

    def __init__(
        self, functions: Kernel, body: Body, slots: dict[int, int], is_fixed: bool
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
