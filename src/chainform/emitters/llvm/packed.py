"""A function with all arguments in one array that gives one number, as integrators in C ask for."""

from __future__ import annotations

from chainform.emitters.llvm.body import Form
from chainform.emitters.llvm.signature import Signature

_NAN = "0x7FF8000000000000"


def packed(signature: Signature, kernel: str, name: str, form: Form) -> str:
    """Return the function, in a module that defines the kernel for one state.

    In C it is double f(int n, double *x, void *entry): `n` numbers at `x`, and at `entry` the
    number, an int64_t, of the entry that is wanted; without an address it is the first. Where `n`
    is not what the kernel takes, or there is no such entry, the result is not a number.
    """
    total = sum(result.length for result in signature.results)
    lines = [
        f"define double @{name}(i32 %n, ptr %x, ptr %entry) {{",
        f"  %out = alloca [{max(total, 1)} x {form.scalar}], align 64",
        f"  %fits = icmp eq i32 %n, {sum(argument.length for argument in signature.arguments)}",
        "  %first = icmp eq ptr %entry, null",
        "  br i1 %first, label %check, label %look",
        "look:",
        "  %wanted = load i64, ptr %entry",
        "  br label %check",
        "check:",
        "  %k = phi i64 [0, %0], [%wanted, %look]",
        f"  %exists = icmp ult i64 %k, {total}",
        "  %good = and i1 %fits, %exists",
        "  br i1 %good, label %compute, label %refuse",
        "refuse:",
        f"  ret double {_NAN}",
        "compute:",
    ]
    passed: list[str] = []
    for base, lengths in (
        ("x", [argument.length for argument in signature.arguments]),
        ("out", [result.length for result in signature.results]),
    ):
        offset = 0
        for number, length in enumerate(lengths):
            part = f"%{base}{number}"
            lines.append(f"  {part} = getelementptr {form.scalar}, ptr %{base}, i64 {offset}")
            passed.append(f"ptr {part}")
            offset += length
    lines += [
        f"  call void @{kernel}({', '.join(passed)})",
        f"  %place = getelementptr {form.scalar}, ptr %out, i64 %k",
        f"  %value = load {form.scalar}, ptr %place",
    ]
    if form.precision == "float32":
        lines += ["  %wide = fpext float %value to double", "  ret double %wide"]
    else:
        lines.append("  ret double %value")
    return "\n".join([*lines, "}"]) + "\n\n"
