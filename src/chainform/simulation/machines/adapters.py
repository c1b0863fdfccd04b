"""Text of the functions between the loops and the kernels: they take t, y, p and a result."""

from __future__ import annotations

from collections.abc import Sequence

from chainform.emitters.llvm import Signature
from chainform.simulation.machines.layout import Layout

HEAD = "define {linkage}void @{name}(ptr %t, ptr %y, ptr %p, ptr %out) #0 {{"

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
        # What stands beside q and qd has qdd before it, in y', and the multipliers in p.
        "qdd": ("out", -sizes.nv),
        "sigma": ("p", layout.place("multipliers")),
        "force": ("p", layout.place("modes")),
    }


def lengths_of(layout: Layout) -> dict[str, int]:
    """Return how many entries each group of inputs has."""
    sizes = layout.equations
    lengths = {"q": sizes.nq, "qd": sizes.nv, "x": sizes.nx, "tau": sizes.nv, "t": 1}
    lengths |= {"u": sizes.nu, "qdd": sizes.nv, "sigma": sizes.rows}
    return {**lengths, "force": layout.length("modes")}


def kernel_adapter(
    name: str,
    signature: Signature | None,
    layout: Layout,
    callback: int | None = None,
    linkage: str = SEEN,
) -> str:
    """Return a function that hands the parts of y and p to a kernel, after a call of Python.

    Without a kernel it does nothing else. What is sampled goes to the efforts in p.
    """
    places = places_of(layout)
    lines = [HEAD.format(linkage=linkage, name=name)]
    if callback is not None:
        lines.append(f"  call void inttoptr (i64 {callback} to ptr)(ptr %t, ptr %y, ptr %p)")
    if signature is not None:
        passed: list[str] = []
        for argument in signature.arguments:
            array, offset = places[argument.group]
            lines.append(_pointer(argument.group, array, offset))
            passed.append(f"ptr %{argument.group}.at")
        lines.append(_pointer("held", "p", layout.place("tau")))
        target = "%held.at" if name == "sample" else "%out"
        lines.append(f"  call void @{name}.kernel({', '.join([*passed, f'ptr {target}'])})")
    return "\n".join([*lines, "  ret void", "}\n"])


def procedure_adapter(
    name: str,
    procedure: str,
    result: str,
    parts: Sequence[str],
    layout: Layout,
    callback: int | None = None,
    further: Sequence[int] = (),
) -> str:
    """Return a function that hands parts of p and the sizes of the system to a procedure."""
    sizes = layout.equations
    lines = [HEAD.format(linkage=SEEN, name=name)]
    if callback is not None:
        lines.append(f"  call void inttoptr (i64 {callback} to ptr)(ptr %t, ptr %y, ptr %p)")
    lines += [_pointer(part, "p", layout.place(part)) for part in parts]
    given = ["ptr %t", "ptr %y", "ptr %p", "ptr %out", *(f"ptr %{part}.at" for part in parts)]
    given += [f"i64 {size}" for size in (sizes.nq, sizes.nv, sizes.rows, *further)]
    before = "%found = " if result != "void" else ""
    lines.append(f"  {before}call {result} @{procedure}({', '.join(given)})")
    return "\n".join([*lines, "  ret void", "}\n"])


def entrance(name: str, inner: str) -> str:
    """Return a function that can be called from outside, for one that cannot."""
    call = f"  call void @{inner}(ptr %t, ptr %y, ptr %p, ptr %out)"
    return "\n".join([HEAD.format(linkage=SEEN, name=name), call, "  ret void", "}\n"])


def _pointer(name: str, array: str, offset: int) -> str:
    return f"  %{name}.at = getelementptr double, ptr %{array}, i64 {offset}"
