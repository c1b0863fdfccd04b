"""Translate procedures and all they call into one module."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chainform.runtime.procedures.language import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    NUMBER,
)
from chainform.runtime.procedures.records import STRUCTS

ATTRIBUTES = "attributes #0 = { nounwind }"


class Translation:
    """The text of procedures, each with all that it calls, for one number of lanes.

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

    def add(self, procedure: Callable[..., Any]) -> None:
        """Translate a procedure that is called from outside, and those that it calls."""
        self.entries.add(procedure.__name__)
        self.include(procedure)

    def include(self, procedure: Callable[..., Any]) -> None:
        """Translate a procedure that others call, once."""
        from chainform.runtime.procedures.statements import Statements

        name = procedure.__name__
        if self.procedures.setdefault(name, procedure) is not procedure:
            raise SyntaxError(f"two procedures are called {name}")
        if name not in self.texts:
            # Noted before it is translated, so that a procedure may call itself.
            self.texts[name] = ""
            self.texts[name] = Statements(self, procedure).text()

    def alone(self) -> str:
        """Return a module that has the procedures only; what is given comes from another one."""
        given = [
            f"declare {self.type_of(result)} @{name}"
            f"({', '.join(self.type_of(kind) for kind in kinds)})"
            for name, (kinds, result) in self.given.items()
            if name in self.called
        ]
        return self.text("\n".join([*given, ATTRIBUTES]))

    def text(self, beside: str = "") -> str:
        """Return a module that has all of `beside`, too, and the attributes #0 from there."""
        declared = [line for line in sorted(self.declared) if line not in beside]
        procedures = [
            text if name in self.entries else text.replace("define ", "define internal ", 1)
            for name, text in self.texts.items()
        ]
        parts = [beside, *self.constants.values(), *declared, *procedures]
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
