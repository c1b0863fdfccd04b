"""The functions of a program: their names, their parameters and shapes in Python, their types in C.

The entries of an output carry its letter: H_1_1 is an entry of the mass matrix, and J_tool_1_1 one
of the Jacobian of a frame. So H and J(tool) mean these outputs, as they do elsewhere.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

from chainform.emitters import Argument, ResultArray, Signature
from chainform.errors import RunError
from chainform.graph import OF_OUTPUT, Block, Graph, base_outputs, canonical, parts_of

_TAKEN = ("weights", *OF_OUTPUT.values())
"""What stands before the letter of an output in the entries of what is taken of it."""
_AROUND = re.compile(r"\s*([(),])\s*")


def outputs_named(graph: Graph, names: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the outputs that are meant; RunError where one is not there."""
    if not names:
        raise RunError("no output was named", element="outputs")
    return tuple(_output_named(graph, name) for name in names)


def _output_named(graph: Graph, name: Any) -> str:
    found = find_output(graph, name) if isinstance(name, str) else None
    if found is not None:
        return found
    remedy = f"choose from {', '.join(graph.outputs)}"
    if isinstance(name, str) and _is_entry(graph, name):
        remedy += f"; an entry is compiled by name: model.compile([{name[:60]!r}])"
    if isinstance(name, list | tuple | set | frozenset):
        remedy += '; several at once are program.function("name", "name")'
    shown = str(cast(Any, name))
    raise RunError(f"{shown} is not an output of the program", element=shown, remedy=remedy)


def _is_entry(graph: Graph, text: str) -> bool:
    return "[" in text or any(text in block.labels for block in graph.outputs.values())


def find_output(graph: Graph, text: str) -> str | None:
    """Return the output of this name or letter, if there is one; its own name comes first."""
    if text in graph.outputs:
        return text
    plain = _AROUND.sub(r"\1", text.strip())
    for name, block in graph.outputs.items():
        if plain in (name, letter_of(block)) or _in_full(plain, block) == name:
            return name
    return None


def _in_full(text: str, block: Block) -> str | None:
    """Return an output in full, where a letter within it is that of the entries of a block."""
    if not block.labels:
        return None
    words = [word for word in block.labels[0].split("_") if word not in _TAKEN]

    def named(inner: str) -> str:
        name = re.split(r"[(\[]", inner, maxsplit=1)[0]
        return (_innermost(block.name) if name in words[:1] else name) + inner[len(name) :]

    try:
        return canonical(text, named)
    except RunError:
        return None


def _innermost(name: str) -> str:
    """Return the output that an operator, or a matrix of an output, is taken of."""
    parts = parts_of(base_outputs(name)[0])
    while parts.name in OF_OUTPUT and parts.inside is not None:
        parts = parts_of(base_outputs(parts.inside)[0])
    return parts.name


def letter_of(block: Block) -> str | None:
    """Return the letter of an output, with its frame if it has one: H, J(tool); or None."""
    if not block.labels:
        return None
    _, bracket, frame = block.name.partition("(")
    first, last = ("".join(f"_{i}" for i in place) for place in _corners(block.shape))
    stem = block.labels[0].removesuffix(first)
    if (stem + first, stem + last) != (block.labels[0], block.labels[-1]):
        return None
    return stem.partition("_")[0] + bracket + frame if bracket else stem


def _corners(shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return (1,) * len(shape), shape


# --- in Python -----------------------------------------------------------------------------------


OPTIONS = ("out", "values")
"""What every function takes by name."""


def python_signature(arguments: Sequence[Argument]) -> inspect.Signature:
    """Return the signature, for `inspect.signature`."""
    kind = inspect.Parameter
    given = [kind(a.group, kind.POSITIONAL_OR_KEYWORD) for a in arguments]
    options = [kind(name, kind.KEYWORD_ONLY, default=None) for name in OPTIONS]
    return inspect.Signature([*given, *options])


def description(
    arguments: Sequence[Argument], results: Sequence[ResultArray], parameters: Iterable[str]
) -> str:
    """Return what is taken and given, for `help`."""
    shapes = [(result.name, _shape(result.shape)) for result in results]
    if len(results) == 1:
        head = f"Return {shapes[0][0]}, {shapes[0][1]}, compiled."
        outs = f"an array for the result, {shapes[0][1]}"
    else:
        head = "Return a tuple, compiled: " + ", ".join(f"{n} {shape}" for n, shape in shapes) + "."
        outs = "arrays for the results: " + ", ".join(shape for _, shape in shapes)
    names = ", ".join(parameters)
    lines = [(a.group, f"{_shape((a.length,))}") for a in arguments]
    lines.append(("out", outs))
    lines.append(("values", f"parameters by name: {names}" if names else "no parameters are free"))
    width = max(len(name) for name, _ in lines)
    listed = "\n".join(f"    {name:{width}}  {text}" for name, text in lines)
    return f"{head} One state or a batch; leading dimensions broadcast.\n\n{listed}"


def internal_doc(name: str, signature: inspect.Signature, doc: str) -> str:
    """Return the text of a function in C, in which Python finds its signature.

    Of a name with dots Python looks for what stands behind the last one.
    """
    return f"{name.rpartition('.')[2]}{signature}\n--\n\n{doc}"


def _shape(shape: Sequence[int]) -> str:
    return f"({', '.join(['...', *map(str, shape)])})"


# --- in C ----------------------------------------------------------------------------------------


KEYWORDS = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
    constinit continue decltype default delete do double dynamic_cast else enum explicit export
    extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
    nullptr operator or or_eq private protected public register reinterpret_cast requires restrict
    return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using
    virtual void volatile wchar_t while xor xor_eq int64_t
    """.split()  # noqa: SIM905, a list of words is read more easily as words
)
"""The words of C and C++ that cannot be names, and the type that the declarations use."""


def c_name(text: str, taken: Iterable[str] = ()) -> str:
    """Return a name for C: letters of ASCII, digits and _, no digit first, no keyword."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", text) or "_"
    if name[0].isdigit() or name in KEYWORDS:
        name = f"_{name}" if name[0].isdigit() else f"{name}_"
    others, number, found = set(taken), 1, name
    while found in others:
        number += 1
        found = f"{name}_{number}"
    return found


def c_names(texts: Sequence[str], taken: Iterable[str] = ()) -> list[str]:
    """Return names for C, no two of them alike."""
    names: list[str] = []
    before = list(taken)
    for text in texts:
        names.append(c_name(text, [*before, *names]))
    return names


def prototype(signature: Signature, name: str, kind: str, precision: str) -> str:
    """Return the declaration in C of a compiled function, whose name C accepts."""
    number = "double" if precision == "float64" else "float"
    groups = [argument.group for argument in signature.arguments]
    outs = ["out"]
    if len(signature.results) > 1:
        taken = [f"{group}{end}" for group in groups for end in ("", "_state", "_entry")]
        outs = c_names([result.name for result in signature.results], ["count", *taken])
    if kind == "packed":
        return f"double {name}(int count, const {number} *arguments, const int64_t *entry);"
    arrays = [(f"const {number}", group) for group in groups] + [(number, out) for out in outs]
    if kind == "single":
        return f"void {name}({', '.join(f'{type_} *{array}' for type_, array in arrays)});"
    passed = [f"{type_} *{a}, int64_t {a}_state, int64_t {a}_entry" for type_, a in arrays]
    return f"int {name}({', '.join(['int64_t count', *passed])});"
