"""Entries that are always the same number, above all zeros: stored in a loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainform.emitters.llvm.body import Form

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

    def call(self, function: str, form: Form) -> str:
        """Return the call of that function."""
        step = f"%out{self.result}.entry" if form.lanes > 1 else str(form.bytes)
        return f"call void @{self.name(function)}(ptr %out{self.result}, i64 {step})"

    def text(self, function: str, form: Form) -> str:
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
