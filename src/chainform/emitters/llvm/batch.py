"""Functions around that of one state: for many states, and with all arguments in one array.

Many states go several at a time through the lanes, the rest at the end. The function with packed
arguments gives one number, for integrators in C.
"""

from __future__ import annotations

from chainform.emitters.llvm.body import NumberType
from chainform.emitters.llvm.functions import Functions
from chainform.emitters.signature import Signature


def batch(functions: Functions, name: str) -> tuple[str, frozenset[str]]:
    """Return the function over a batch, and the declarations it needs.

    Its parameters are the number of states, then for every argument and result an address, the
    distance in bytes from one state to the next, and from one entry to the next. It gives 0, or 1
    where there was no memory for it to work in and nothing was done.
    """
    form, signature = functions.form, functions.signature
    arrays = [a.group for a in signature.arguments]
    outs = [f"out{number}" for number in range(len(signature.results))]
    given = [f"ptr %{n}, i64 %{n}.state, i64 %{n}.entry" for n in [*arrays, *outs]]
    lengths = {a.group: a.length for a in signature.arguments}
    lengths |= {f"out{i}": r.length for i, r in enumerate(signature.results)}
    moving = [n for n in arrays if n != "parameter"]
    lines = [
        f"define i32 @{name}(i64 %count, {', '.join(given)}) #0 {{",
        "entry:",
        *_buffers(functions, lengths),
    ]
    if functions.fixed:
        lines += _fixed_once(functions, lengths["parameter"])
    else:
        lines.append("  br label %next")
    before = "ready" if functions.fixed else "begin"
    lines += [
        "next:",
        f"  %i = phi i64 [0, %{before}], [%after, %work]",
        "  %more = icmp ult i64 %i, %count",
        "  br i1 %more, label %block, label %done",
        "block:",
        f"  %after = add i64 %i, {form.lanes}",
        "  %left = sub i64 %count, %i",
        f"  %valid = call i64 @llvm.umin.i64(i64 %left, i64 {form.lanes})",
    ]
    if functions.fixed:
        lines += [
            "  br i1 %once, label %work, label %again",
            "again:",
            *_fixed_here(functions, lengths["parameter"]),
            "  br label %work",
        ]
    else:
        lines.append("  br label %work")
    lines.append("work:")
    for n in moving:
        lines += _at(n)
        lines.append(
            f"  %{n}.got = call {{ptr, i64}} @fetch(ptr %{n}.here, i64 %{n}.state, "
            f"i64 %{n}.entry, i64 {lengths[n]}, i64 %valid, ptr %{n}.buffer)"
        )
        lines += _both(n)
    for n in outs:
        lines += _at(n)
        lines.append(
            f"  %{n}.got = call {{ptr, i64}} @aim(ptr %{n}.here, i64 %{n}.state, "
            f"i64 %{n}.entry, i64 %valid, ptr %{n}.buffer)"
        )
        lines += _both(n)
    passed = [f"ptr %{n}.used, i64 %{n}.step" for n in moving]
    passed += ["ptr %fixed"] * bool(functions.fixed)
    passed += [f"ptr %{n}.used, i64 %{n}.step" for n in outs]
    lines.append(f"  call void @{functions.name}({', '.join(passed)})")
    for n in outs:
        lines.append(
            f"  call void @deliver(ptr %{n}.here, i64 %{n}.state, i64 %{n}.entry, "
            f"i64 {lengths[n]}, i64 %valid, ptr %{n}.buffer, ptr %{n}.used)"
        )
    lines += ["  br label %next", "done:", "  call void @free(ptr %memory)", "  ret i32 0", "}"]
    declared = {
        "declare i64 @llvm.umin.i64(i64, i64)",
        "declare ptr @malloc(i64)",
        "declare void @free(ptr)",
    }
    return "\n".join(lines) + "\n\n", frozenset(declared)


def _buffers(functions: Functions, lengths: dict[str, int]) -> list[str]:
    """Return the lines that make room for the lanes of every array, in one piece."""
    form = functions.form
    offsets: dict[str, int] = {}
    size = 64
    for name, length in lengths.items():
        offsets[f"{name}.buffer"] = size
        size += _room(form, length)
    offsets["fixed"] = size
    size += form.lanes * form.bytes * len(functions.fixed)
    lines = [
        f"  %memory = call ptr @malloc(i64 {size + 64})",
        "  %none = icmp eq ptr %memory, null",
        "  br i1 %none, label %failed, label %begin",
        "failed:",
        "  ret i32 1",
        "begin:",
        "  %number = ptrtoint ptr %memory to i64",
        "  %odd = and i64 %number, 63",
        "  %shift = sub i64 64, %odd",
        "  %base = getelementptr i8, ptr %memory, i64 %shift",
    ]
    for name, offset in offsets.items():
        lines.append(f"  %{name} = getelementptr i8, ptr %base, i64 {offset}")
    return lines


def _room(form: NumberType, length: int) -> int:
    """Return the bytes for the lanes of an array: whole squares, as they are transposed."""
    squares = -(-length // form.lanes)
    return squares * form.lanes * form.lanes * form.bytes


def _fixed_once(functions: Functions, length: int) -> list[str]:
    """Compute what depends on parameters only, if they are the same for all states."""
    return [
        "  %once = icmp eq i64 %parameter.state, 0",
        "  %any = icmp ne i64 %count, 0",
        "  %now = and i1 %once, %any",
        "  br i1 %now, label %prepare, label %ready",
        "prepare:",
        (
            "  call void @any.in(ptr %parameter, i64 0, i64 %parameter.entry, "
            f"i64 {length}, i64 1, ptr %parameter.buffer)"
        ),
        (
            f"  call void @{functions.name}.fixed(ptr %parameter.buffer, "
            f"i64 {functions.form.lanes * functions.form.bytes}, ptr %fixed)"
        ),
        "  br label %ready",
        "ready:",
        "  br label %next",
    ]


def _fixed_here(functions: Functions, length: int) -> list[str]:
    """Compute what depends on parameters only, for the states of one block."""
    return [
        *_at("parameter"),
        (
            "  %parameter.got = call {ptr, i64} @fetch(ptr %parameter.here, i64 %parameter.state, "
            f"i64 %parameter.entry, i64 {length}, i64 %valid, ptr %parameter.buffer)"
        ),
        *_both("parameter"),
        (
            f"  call void @{functions.name}.fixed(ptr %parameter.used, "
            "i64 %parameter.step, ptr %fixed)"
        ),
    ]


def _at(name: str) -> list[str]:
    return [
        f"  %{name}.offset = mul i64 %i, %{name}.state",
        f"  %{name}.here = getelementptr i8, ptr %{name}, i64 %{name}.offset",
    ]


def _both(name: str) -> list[str]:
    return [
        f"  %{name}.used = extractvalue {{ptr, i64}} %{name}.got, 0",
        f"  %{name}.step = extractvalue {{ptr, i64}} %{name}.got, 1",
    ]


# --- packed arguments -----------------------------------------------------------------------------

_NAN = "0x7FF8000000000000"


def packed(signature: Signature, kernel: str, name: str, form: NumberType) -> str:
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
