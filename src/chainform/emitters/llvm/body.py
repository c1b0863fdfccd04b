"""Straight-line code, one variable after the other; equal entries are stored in a loop."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isinf

from chainform.emitters.definitions import Definitions
from chainform.errors import RunError

INTRINSICS = {"sqrt": "sqrt", "abs": "fabs"}
LIBRARY = ("asin", "acos", "atan", "exp", "log")
"""Functions that are left to the C library, one lane after the other."""


@dataclass(frozen=True, slots=True)
class NumberType:
    """What numbers the code works on: their precision, and how many states side by side."""

    precision: str = "float64"
    lanes: int = 1
    fused: bool = True

    @property
    def scalar(self) -> str:
        """The type of one number."""
        return "double" if self.precision == "float64" else "float"

    @property
    def type(self) -> str:
        """The type of a value."""
        return self.scalar if self.lanes == 1 else f"<{self.lanes} x {self.scalar}>"

    @property
    def bytes(self) -> int:
        """The size of one number."""
        return 8 if self.precision == "float64" else 4

    @property
    def suffix(self) -> str:
        """What an intrinsic function for values of this type is called at its end."""
        bits = f"f{8 * self.bytes}"
        return bits if self.lanes == 1 else f"v{self.lanes}{bits}"

    def number(self, value: float) -> str:
        """Return a number as a constant of one lane."""
        if self.precision == "float32":
            value = struct.unpack("f", struct.pack("f", value))[0]
            if isinf(value):
                raise RunError("a number is too large for single precision")
        return f"0x{struct.pack('>d', value).hex().upper()}"

    def constant(self, value: float) -> str:
        """Return a number as a constant in all lanes."""
        one = self.number(value)
        if self.lanes == 1:
            return one
        return f"<{', '.join([f'{self.scalar} {one}'] * self.lanes)}>"


class StatementWriter:
    """The instructions of one function, written one after the other."""

    def __init__(self, definitions: Definitions, form: NumberType) -> None:
        self.definitions = definitions
        self.form = form
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self.values: dict[int, str] = {}
        self.missing: Callable[[int], str] | None = None
        """Gives the value of a variable that was computed elsewhere."""
        self._count = 0
        self._product_flags = " contract" if form.fused else ""

    def new(self, instruction: str) -> str:
        """Write an instruction and return the name of its value."""
        self._count += 1
        name = f"%t{self._count}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        """Write an instruction without a value."""
        self.lines.append(f"  {instruction}")

    def value(self, v: int) -> str:
        """Return the value of a variable."""
        known = self.values.get(v)
        if known is None:
            constant = self.definitions.constants.get(v)
            if constant is not None:
                known = self.form.constant(constant)
            else:
                assert self.missing is not None
                known = self.missing(v)
            self.values[v] = known
        return known

    def operation(self, name: str, a: str, b: str) -> str:
        """Write a sum, difference, product or quotient."""
        return self.new(f"{name}{self._product_flags} {self.form.type} {a}, {b}")

    def statement(self, v: int) -> None:
        """Compute a variable."""
        call = self.definitions.calls[v]
        if call in ("sin", "cos"):
            angle = self.definitions.arguments[v]
            # A graph may have the same call twice; one of them stands for both.
            same = self.definitions.graph.call_variables[call, angle]
            if same not in self.values:
                self.sine_and_cosine([angle])
            self.values[v] = self.values[same]
        elif call:
            self.values[v] = self._call(call, self.value(self.definitions.arguments[v]))
        else:
            terms = self.definitions.terms(v)
            self.values[v] = self._sum([terms[k] for k in self.definitions.term_order(v)])

    # --- sums ---------------------------------------------------------------------------

    def _sum(self, terms: Sequence[tuple[float, list[int]]]) -> str:
        """Add terms in their order."""
        if not terms:
            return self.form.constant(0.0)
        total = self._product(*terms[0])
        for coefficient, factors in terms[1:]:
            name = "fsub" if coefficient < 0 else "fadd"
            total = self.operation(name, total, self._product(abs(coefficient), factors))
        return total

    def _product(self, coefficient: float, factors: list[int]) -> str:
        if not factors:
            return self.form.constant(coefficient)
        parts = [self.value(v) for v in factors]
        if abs(coefficient) != 1.0:
            parts.append(self.form.constant(coefficient))
        product = parts[0]
        for part in parts[1:]:
            product = self.operation("fmul", product, part)
        return self.new(f"fneg {self.form.type} {product}") if coefficient == -1.0 else product

    # --- calls --------------------------------------------------------------------------

    def _call(self, function: str, x: str) -> str:
        form = self.form
        if function == "reciprocal":
            return self.new(f"fdiv {form.type} {form.constant(1.0)}, {x}")
        if function in INTRINSICS:
            name = f"@llvm.{INTRINSICS[function]}.{form.suffix}"
            self.declared.add(f"declare {form.type} {name}({form.type})")
            return self.new(f"call {form.type} {name}({form.type} {x})")
        if function == "sign":
            return self._sign(x)
        if function == "tan":
            sine, cosine = self._sincos(x)
            return self.new(f"fdiv {form.type} {sine}, {cosine}")
        return self._library(function, x)

    def _sign(self, x: str) -> str:
        form = self.form
        name = f"@llvm.copysign.{form.suffix}"
        self.declared.add(f"declare {form.type} {name}({form.type}, {form.type})")
        one, zero = form.constant(1.0), form.constant(0.0)
        signed = self.new(f"call {form.type} {name}({form.type} {one}, {form.type} {x})")
        mask = "i1" if form.lanes == 1 else f"<{form.lanes} x i1>"
        moved = self.new(f"fcmp one {form.type} {x}, {zero}")
        unknown = self.new(f"fcmp uno {form.type} {x}, {x}")
        size = self.new(f"select {mask} {moved}, {form.type} {signed}, {form.type} {zero}")
        return self.new(f"select {mask} {unknown}, {form.type} {x}, {form.type} {size}")

    def _library(self, function: str, x: str) -> str:
        """Call a function of the C library for each lane, in double precision."""
        form = self.form
        self.declared.add(f"declare double @{function}(double)")
        result = "poison"
        for lane in range(form.lanes):
            one = x
            if form.lanes > 1:
                one = self.new(f"extractelement {form.type} {x}, i32 {lane}")
            if form.precision == "float32":
                one = self.new(f"fpext float {one} to double")
            one = self.new(f"call double @{function}(double {one})")
            if form.precision == "float32":
                one = self.new(f"fptrunc double {one} to float")
            if form.lanes == 1:
                return one
            result = self.new(
                f"insertelement {form.type} {result}, {form.scalar} {one}, i32 {lane}"
            )
        return result

    def _sincos(self, x: str) -> tuple[str, str]:
        form = self.form
        pair = f"{{{form.type}, {form.type}}}"
        both = self.new(f"call {pair} @sincos.{form.precision}.{form.lanes}({form.type} {x})")
        sine = self.new(f"extractvalue {pair} {both}, 0")
        return sine, self.new(f"extractvalue {pair} {both}, 1")

    def sine_and_cosine(self, angles: Sequence[int], lanes: int = 1) -> None:
        """Compute the sine and cosine of angles; of one state, so many side by side."""
        calls = self.definitions.graph.call_variables
        if self.form.lanes > 1 or lanes == 1:
            found = [self._sincos(self.value(angle)) for angle in angles]
        else:
            found = self._packed(angles, lanes)
        for angle, (sine, cosine) in zip(angles, found, strict=True):
            for name, value in (("sin", sine), ("cos", cosine)):
                v = calls.get((name, angle))
                if v is not None:
                    self.values[v] = value

    def _packed(self, angles: Sequence[int], lanes: int) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        form = NumberType(self.form.precision, lanes, self.form.fused)
        pair = f"{{{form.type}, {form.type}}}"
        for first in range(0, len(angles), lanes):
            vector = form.constant(0.0)
            some = angles[first : first + lanes]
            for lane, angle in enumerate(some):
                x = self.value(angle)
                vector = self.new(
                    f"insertelement {form.type} {vector}, {form.scalar} {x}, i32 {lane}"
                )
            both = self.new(f"call {pair} @sincos.{form.precision}.{lanes}({form.type} {vector})")
            halves = [self.new(f"extractvalue {pair} {both}, {half}") for half in (0, 1)]
            for lane in range(len(some)):
                sine, cosine = (
                    self.new(f"extractelement {form.type} {half}, i32 {lane}") for half in halves
                )
                found.append((sine, cosine))
        return found


# --- entries that are always the same number, above all zeros -------------------------------------

FEW = 16
"""Up to so many entries are stored one by one."""


@dataclass(frozen=True)
class Fill:
    """A number for some entries of a result."""

    result: int
    value: float
    entries: Sequence[int]

    def name(self, function: str) -> str:
        """Return the name of the function that stores them."""
        return f"{function}.fill.{self.result}.{self.entries[0]}"

    def call(self, function: str, form: NumberType) -> str:
        """Return the call of that function."""
        step = f"%out{self.result}.entry" if form.lanes > 1 else str(form.bytes)
        return f"call void @{self.name(function)}(ptr %out{self.result}, i64 {step})"

    def text(self, function: str, form: NumberType) -> str:
        """Return the function: a loop over a table of entries."""
        name, count = self.name(function), len(self.entries)
        numbers = ", ".join(f"i32 {entry}" for entry in self.entries)
        value = form.constant(self.value)
        return f"""\
@{name}.entries = private constant [{count} x i32] [{numbers}]
define internal void @{name}(ptr noalias %out, i64 %step) #1 {{
start:
  br label %next
next:
  %i = phi i64 [0, %start], [%after, %next]
  %at = getelementptr i32, ptr @{name}.entries, i64 %i
  %entry = load i32, ptr %at
  %wide = zext i32 %entry to i64
  %offset = mul i64 %wide, %step
  %place = getelementptr i8, ptr %out, i64 %offset
  store {form.type} {value}, ptr %place, align {form.bytes}
  %after = add i64 %i, 1
  %more = icmp ult i64 %after, {count}
  br i1 %more, label %next, label %done
done:
  ret void
}}

"""
