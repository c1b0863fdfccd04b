"""Instructions on vectors under construction, for functions that are written by hand."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field


def hexadecimal(value: float, element: str) -> str:
    """Return a constant as LLVM reads it: the bits of a double, also if it is a float."""
    if element == "float":
        (value,) = struct.unpack("<f", struct.pack("<f", value))
    return f"0x{struct.pack('>d', value).hex().upper()}"


@dataclass
class Code:
    """Instructions under construction, on vectors of `lanes` elements (numbers for one lane)."""

    element: str
    lanes: int
    fused: bool
    lines: list[str] = field(default_factory=list[str])
    declarations: set[str] = field(default_factory=set[str])

    @property
    def type(self) -> str:
        return self.lanes_of(self.element)

    @property
    def integer(self) -> str:
        return self.lanes_of(f"i{self.bits}")

    @property
    def bits(self) -> int:
        return 64 if self.element == "double" else 32

    @property
    def digits(self) -> int:
        return 53 if self.element == "double" else 24

    @property
    def suffix(self) -> str:
        """The type in the names of intrinsics."""
        return f"{f'v{self.lanes}' if self.lanes > 1 else ''}f{self.bits}"

    def lanes_of(self, element: str) -> str:
        return f"<{self.lanes} x {element}>" if self.lanes > 1 else element

    def _all_lanes(self, constant: str) -> str:
        return f"<{', '.join([constant] * self.lanes)}>" if self.lanes > 1 else constant.split()[1]

    def new(self, instruction: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def number(self, value: float) -> str:
        return self._all_lanes(f"{self.element} {hexadecimal(value, self.element)}")

    def whole(self, value: int) -> str:
        return self._all_lanes(f"i{self.bits} {value}")

    def declare(self, result: str, name: str, arguments: Sequence[str]) -> None:
        self.declarations.add(f"declare {result} @{name}({', '.join(arguments)})")

    def add(self, a: str, b: str) -> str:
        return self.new(f"fadd {self.type} {a}, {b}")

    def subtract(self, a: str, b: str) -> str:
        return self.new(f"fsub {self.type} {a}, {b}")

    def multiply(self, a: str, b: str) -> str:
        return self.new(f"fmul {self.type} {a}, {b}")

    def multiply_add(self, a: str, b: str, c: str) -> str:
        """Return a b + c, rounded once if products are fused."""
        if not self.fused:
            return self.add(self.multiply(a, b), c)
        name = f"llvm.fma.{self.suffix}"
        self.declare(self.type, name, [self.type] * 3)
        return self.new(
            f"call {self.type} @{name}({', '.join(f'{self.type} {v}' for v in (a, b, c))})"
        )

    def polynomial(self, z: str, coefficients: Sequence[float]) -> str:
        result = self.number(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            result = self.multiply_add(result, z, self.number(coefficient))
        return result

    def any_beyond(self, x: str, limit: float) -> str:
        """Return whether some lane is beyond the limit, or not a number."""
        self.declare(self.type, f"llvm.fabs.{self.suffix}", [self.type])
        size = self.new(f"call {self.type} @llvm.fabs.{self.suffix}({self.type} {x})")
        beyond = self.new(f"fcmp ugt {self.type} {size}, {self.number(limit)}")
        if self.lanes == 1:
            return beyond
        name, flags = f"llvm.vector.reduce.or.v{self.lanes}i1", self.lanes_of("i1")
        self.declare("i1", name, [flags])
        return self.new(f"call i1 @{name}({flags} {beyond})")
