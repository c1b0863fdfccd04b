"""The text of a module that procedures are translated into: functions, constants, types."""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from chainform.runtime.procedures.language import BOOL, FLOAT, INT, NONE, NUMBER
from chainform.runtime.procedures.records import STRUCTS

ATTRIBUTES = "attributes #0 = { nounwind }"


class Module:
    """The functions of a module, for one number of lanes.

    `given` names functions that the module gets from elsewhere, with the types of their arguments
    and of the result. `instead` names procedures that others take the place of, or a number, or
    None: then nothing is called.
    """

    def __init__(
        self,
        given: Mapping[str, tuple[Sequence[str], str]],
        lanes: int = 1,
        instead: Mapping[str, Callable[..., Any] | float | None] | None = None,
    ) -> None:
        self.given = dict(given)
        self.lanes = lanes
        self.instead = dict(instead or {})
        self.entries: set[str] = set()
        """The procedures that can be called from outside."""
        self.texts: dict[str, str] = {}
        self.procedures: dict[str, Callable[..., Any]] = {}
        self.arguments: dict[str, list[str]] = {}
        self.results: dict[str, str] = {}
        self.constants: dict[str, str] = {}
        self.declared: set[str] = set()
        self.called: set[str] = set()
        """What is called of that which is given."""

    def alone(self) -> str:
        """Return a module that has the procedures only; what is given comes from another one."""
        return self.text("\n".join([*self.declarations(self.given), ATTRIBUTES]))

    def declarations(self, names: Collection[str]) -> list[str]:
        """Return the declarations of what is called and comes from another module, among names."""
        return [
            f"declare {self.type_of(result)} @{name}"
            f"({', '.join(self.type_of(kind) for kind in kinds)})"
            for name, (kinds, result) in self.given.items()
            if name in self.called and name in names
        ]

    def text(self, before: str = "") -> str:
        """Return the module after other text, which has the attributes #0."""
        declared = [line for line in sorted(self.declared) if line not in before]
        procedures = [
            text if name in self.entries else text.replace("define ", "define internal ", 1)
            for name, text in self.texts.items()
        ]
        parts = [before, *self.constants.values(), *declared, *procedures]
        return "\n".join(parts) + "\n"

    def type_of(self, kind: str) -> str:
        """Return LLVM's name of a type."""
        double = f"<{self.lanes} x double>" if self.lanes > 1 else "double"
        plain = {FLOAT: double, NUMBER: "double", INT: "i64", BOOL: "i1", NONE: "void"}
        return plain.get(kind, "ptr")

    def stored_as(self, kind: str) -> str:
        """Return LLVM's name of a type as it stands in an array: records stand there whole."""
        if kind in STRUCTS:
            return f"[{STRUCTS[kind].layout(self.lanes).itemsize} x i8]"
        return self.type_of(kind)

    def number(self, value: float, kind: str = FLOAT) -> str:
        """Return a number as LLVM writes it, to the last bit."""
        bits = f"0x{struct.pack('>d', value).hex().upper()}"
        if self.lanes == 1 or kind == NUMBER:
            return bits
        return "<" + ", ".join([f"double {bits}"] * self.lanes) + ">"

    def table(self, name: str, numbers: Sequence[float]) -> str:
        """Return the address of a tuple of numbers; with several lanes each stands in all."""
        kind, count = self.type_of(FLOAT), len(numbers)
        entries = ", ".join(f"{kind} {self.number(float(x))}" for x in numbers)
        self.constants[name] = f"@{name} = private constant [{count} x {kind}] [{entries}]"
        return f"@{name}"
