"""What a compiled function says of itself: its parameters, and their shapes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from inspect import Parameter, Signature

from chainform.emitters.llvm import Argument, Result

OPTIONS = ("out", "values")
"""What every function takes by name."""


def python_signature(arguments: Sequence[Argument]) -> Signature:
    """Return the signature, for `inspect.signature`."""
    given = [Parameter(a.group, Parameter.POSITIONAL_OR_KEYWORD) for a in arguments]
    options = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in OPTIONS]
    return Signature([*given, *options])


def description(
    arguments: Sequence[Argument], results: Sequence[Result], parameters: Iterable[str]
) -> str:
    """Return what is taken and given, for `help`."""
    shapes = [(result.name, _shape(result.shape)) for result in results]
    if len(results) == 1:
        told = f"Return {shapes[0][0]}, {shapes[0][1]}, compiled."
        outs = f"an array for the result, {shapes[0][1]}"
    else:
        told = "Return a tuple, compiled: " + ", ".join(f"{n} {shape}" for n, shape in shapes) + "."
        outs = "arrays for the results: " + ", ".join(shape for _, shape in shapes)
    names = ", ".join(parameters)
    lines = [(a.group, f"{_shape((a.length,))}") for a in arguments]
    lines.append(("out", outs))
    lines.append(("values", f"parameters by name: {names}" if names else "no parameters are free"))
    width = max(len(name) for name, _ in lines)
    listed = "\n".join(f"    {name:{width}}  {text}" for name, text in lines)
    return f"{told} One state or a batch; leading dimensions broadcast.\n\n{listed}"


def internal_doc(name: str, signature: Signature, doc: str) -> str:
    """Return the text of a function in C, in which Python finds its signature.

    Of a name with dots Python looks for what stands behind the last one.
    """
    return f"{name.rpartition('.')[2]}{signature}\n--\n\n{doc}"


def _shape(shape: Sequence[int]) -> str:
    return f"({', '.join(['...', *map(str, shape)])})"
