"""Compiled functions as C declares them."""

from __future__ import annotations

from chainform.emitters.llvm import Signature


def prototype(signature: Signature, output: str, kind: str, precision: str) -> str:
    """Return the declaration in C of a compiled function."""
    number = "double" if precision == "float64" else "float"
    name = "".join(c if c.isalnum() else "_" for c in output)
    groups = [argument.group for argument in signature.arguments]
    if kind == "packed":
        return f"double {name}(int count, const {number} *arguments, const int64_t *entry);"
    if kind == "single":
        arrays = [f"const {number} *{group}" for group in groups] + [f"{number} *out"]
        return f"void {name}({', '.join(arrays)});"
    arrays = [f"const {number} *{g}, int64_t {g}_state, int64_t {g}_entry" for g in groups]
    arrays.append(f"{number} *out, int64_t out_state, int64_t out_entry")
    return f"void {name}(int64_t count, {', '.join(arrays)});"
