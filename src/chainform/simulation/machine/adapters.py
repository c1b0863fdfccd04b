"""Text of the functions between the loops and the kernels: they take t, y, p and a result.

`look_up` is the procedure for long tables.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chainform.emitters import Signature
from chainform.runtime import Floats
from chainform.simulation.equations.efforts import Table
from chainform.simulation.machine.layout import Layout

ARGUMENTS = ("ptr %t", "ptr %y", "ptr %p", "ptr %out")
"""What each of these functions takes."""
WITH_STATUS = frozenset({"rhs", "settle", "put", "events", "lasting"})
"""Those of them that return a number: below zero where they could not do their work."""
DRIVE = "  call void @drive(ptr %t, ptr %y, ptr %p, ptr %out)"
"""Puts efforts into p that the equations cannot express."""
LAYOUT = "@system.layout"
"""The name of the constant that holds the layout."""
SEEN, HIDDEN = "", "internal "
"""Whether a function can be called from outside its module."""


def places_of(layout: Layout) -> dict[str, tuple[str, int]]:
    """Return where each group of inputs stands: in t, y, p or the result, from which entry on."""
    sizes = layout.equations
    return {
        "q": ("y", 0),
        "qd": ("y", sizes.nq),
        "x": ("y", sizes.nq + sizes.nv),
        "t": ("t", 0),
        "parameter": ("p", 0),
        "tau": ("p", layout.place("tau")),
        "u": ("p", layout.place("signals")),
        # What follows q and qd has qdd before it, in y', and the multipliers in p.
        "qdd": ("out", -sizes.nv),
        "sigma": ("p", layout.place("multipliers")),
        "force": ("p", layout.place("modes")),
    }


def lengths_of(layout: Layout) -> dict[str, int]:
    """Return how many entries each group of inputs has."""
    sizes = layout.equations
    lengths = {"q": sizes.nq, "qd": sizes.nv, "x": sizes.nx, "tau": sizes.nv, "t": 2}
    lengths |= {"u": sizes.nu + sizes.controls, "qdd": sizes.nv, "sigma": sizes.rows}
    return {**lengths, "force": layout.length("modes")}


def head(name: str, linkage: str = "") -> str:
    """Return the first line of a function."""
    result = "i64" if name in WITH_STATUS else "void"
    return f"define {linkage}{result} @{name}({', '.join(ARGUMENTS)}) #0 {{"


def end(name: str) -> str:
    """Return the last line of a function that does not fail."""
    return "  ret i64 0" if name in WITH_STATUS else "  ret void"


def kernel_adapter(
    name: str,
    signature: Signature | None,
    layout: Layout,
    linkage: str = SEEN,
    *,
    driven: bool = False,
) -> str:
    """Return a function that hands the parts of y and p to a kernel; `driven`, after `drive`.

    Without a kernel it does nothing else. What is sampled goes to the efforts in p.
    """
    places = places_of(layout)
    lines = [head(name, linkage), *([DRIVE] if driven else [])]
    if signature is not None:
        passed: list[str] = []
        for argument in signature.arguments:
            array, offset = places[argument.group]
            assert array != "out" or name in ("extra", "stepped"), "qdd stands before these"
            lines.append(_pointer(argument.group, array, offset))
            passed.append(f"ptr %{argument.group}.at")
        lines.append(_pointer("held", "p", layout.place("tau")))
        target = "%held.at" if name == "sample" else "%out"
        lines.append(f"  call void @{name}.kernel({', '.join([*passed, f'ptr {target}'])})")
    return "\n".join([*lines, end(name), "}\n"])


def layout_text(layout: Layout) -> str:
    """Return the record of the layout as a constant: LLVM puts its numbers where they are used."""
    numbers = layout.record().memory.reshape(1).view(np.int64).tolist()
    texts = ", ".join(f"i64 {number}" for number in numbers)
    return f"{LAYOUT} = internal constant [{len(numbers)} x i64] [{texts}]"


def procedure_adapter(name: str, procedure: str, *, driven: bool = False) -> str:
    """Return a function that hands the layout of the system to a procedure.

    It returns what the procedure returns: a number below zero where that failed.
    """
    lines = [head(name), *([DRIVE] if driven else [])]
    lines.append(f"  %status = call i64 @{procedure}({', '.join([*ARGUMENTS, f'ptr {LAYOUT}'])})")
    return "\n".join([*lines, "  ret i64 %status", "}\n"])


def drive_adapter(layout: Layout, tables: Sequence[tuple[int, Table]], callback: int | None) -> str:
    """Return the function `drive`: all efforts in p are those of Python, or none, and of tables.

    A table is a constant of the module: its times, and then its values.
    """
    constants: list[str] = []
    lines = [head("drive")]
    if callback is not None:
        lines.append(f"  call void inttoptr (i64 {callback} to ptr)(ptr %t, ptr %y, ptr %p)")
    for place in range(layout.length("tau") + layout.length("signals")):
        lines.append(_pointer(f"effort{place}", "p", layout.place("tau") + place))
        if callback is None:
            lines.append(f"  store double 0.0, ptr %effort{place}.at")
    for number, (place, table) in enumerate(tables):
        entries = np.array([*table.times, *table.values])
        texts = ", ".join(f"double 0x{bits:016X}" for bits in entries.view(np.uint64).tolist())
        kind = f"[{len(entries)} x double]"
        constants.append(f"@table{number} = internal constant {kind} [{texts}]")
        given = f"ptr %t, ptr %effort{place}.at, ptr @table{number}, i64 {len(table.times)}"
        lines.append(f"  call void @look_up({given})")
    return "\n".join([*constants, *lines, "  ret void", "}\n"])


def entrance(name: str, inner: str) -> str:
    """Return a function that can be called from outside, for one that cannot.

    It returns a number: what the other one returns, or 0 where that returns none.
    """
    call, given = f"call {{}} @{inner}({', '.join(ARGUMENTS)})", f"({', '.join(ARGUMENTS)})"
    lines = [f"  {call.format('void')}", "  ret i64 0"]
    if inner in WITH_STATUS:
        lines = [f"  %status = {call.format('i64')}", "  ret i64 %status"]
    return "\n".join([f"define i64 @{name}{given} #0 {{", *lines, "}\n"])


def _pointer(name: str, array: str, offset: int) -> str:
    return f"  %{name}.at = getelementptr double, ptr %{array}, i64 {offset}"


# --- long tables ------------------------------------------------------------------------------


def look_up(t: Floats, into: Floats, table: Floats, count: int) -> None:
    """Add the value of a table at a time: `count` times, and as many values, linear in between.

    Before the first time and after the last it is that of the nearest entry.
    """
    time = t[0]
    low = 0
    high = count - 1
    while high - low > 1:
        middle = (low + high) // 2
        if table[middle] <= time:
            low = middle
        else:
            high = middle
    values = table[count:]
    if not time > table[low]:
        into[0] += values[low]
    elif not time < table[high]:
        into[0] += values[high]
    else:
        part = (time - table[low]) / (table[high] - table[low])
        into[0] += values[low] + part * (values[high] - values[low])
