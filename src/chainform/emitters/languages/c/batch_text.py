"""Functions of many states in C: blocks of states, in loops that compilers turn into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from string import Template

from chainform.emitters.languages.c.dialect import c_dialect
from chainform.emitters.languages.c.function_text import CWriter
from chainform.emitters.package import Function, Package, argument_name

LANES = 8
"""States of a block."""
BLOCK = """\
{
    $rows
    size_t start;
    int lane, k;
    for (start = 0; start < count; start += $lanes) {
        const int filled = count - start < $lanes ? (int)(count - start) : $lanes;
        for (lane = 0; lane < $lanes; ++lane) {
            const size_t row = start + (size_t)(lane < filled ? lane : filled - 1);
$gather
        }
$calls
        for (lane = 0; lane < filled; ++lane) {
            const size_t row = start + (size_t)lane;
$scatter
        }
    }
}
"""


class _LaneWriter(CWriter):
    """The statements of a block: what the angles need has a loop of its own."""

    def of_angles(self) -> list[str]:
        """Return the statements that the first angles need."""
        before, needs = self.schedule.before, self.definitions.needs
        read = dict.fromkeys([*self.schedule.angles, *(u for v in before for u in needs(v))])
        return [*(self.load(v) for v in read if v in self.definitions.inputs), *self.before()]

    def after_sines(self) -> list[str]:
        """Return what the loop after the sines reads, and computes again: parts of angles."""
        needs, before = self.definitions.needs, set(self.schedule.before)
        after = [v for v in self.schedule.parts[0] if v not in self.schedule.known]
        after += () if self.has_own_sine else self.schedule.of_angles
        todo = [u for v in after for u in needs(v)]
        todo += [v for v in (*self.schedule.parts[0], *self.entries) if v not in after]
        todo += [v for v in self.schedule.slots if v in before]
        read: set[int] = set()
        while todo:
            v = todo.pop()
            if v not in read:
                read.add(v)
                todo += needs(v) if v in before else []
        lines = [self.load(v) for v in self.definitions.inputs if v in read]
        again = [v for v in self.schedule.before if v in read]
        return [
            *lines,
            *(line for v in again for line in self.formulas.statements(v)),
            *self.sines(),
        ]


def batch(package: Package, function: Function) -> list[str]:
    """Return the texts of a function of many states."""
    dialect = c_dialect(package)
    writer = _LaneWriter(package, function, dialect, in_lanes=True)
    kind, name = dialect.real, f"{dialect.prefix}{function.name}"
    arrays = [(argument_name(a.group), a.length) for a in function.signature.arguments]
    lengths = [r.length for r in function.signature.results]
    results = list(zip(writer.results, lengths, strict=True))
    sizes = dict([*arrays, *results])
    if writer.has_own_sine:
        sizes |= dict.fromkeys(("sine", "cosine"), len(writer.schedule.angles))
    if writer.count > 1:
        sizes["work"] = writer.schedule.work
    texts = [_lanes(writer, number, list(sizes)) for number in range(writer.count)]
    own = {n: size for n, size in sizes.items() if n != "parameters"}
    called = ", ".join(n if n == "parameters" else f"{n}_lanes" for n in sizes)
    moved = [(n, size) for n, size in arrays if n != "parameters"]
    words = {
        "lanes": str(LANES),
        "rows": "\n    ".join(
            f"{kind} {n}_lanes[{max(1, size)}][{LANES}];" for n, size in own.items()
        ),
        "gather": _moves(moved, "{n}_lanes[k][lane] = {n}[row*{size} + (size_t)k];"),
        "scatter": _moves(results, "{n}[row*{size} + (size_t)k] = {n}_lanes[k][lane];"),
        "calls": "\n".join(f"        {name}_lanes{k + 1}({called});" for k in range(writer.count)),
    }
    return [*texts, dialect.head(function, "_batch") + "\n" + Template(BLOCK).substitute(words)]


def _moves(arrays: Sequence[tuple[str, int]], statement: str) -> str:
    lines: list[str] = []
    for n, size in arrays:
        loop = f"            for (k = 0; k < {size}; ++k)"
        move = f"                {statement.format(n=n, size=size)}"
        lines += [loop, move] if size else [f"            (void){n};"]
    return "\n".join(lines) or "            (void)row;\n            (void)k;"


def _lanes(writer: _LaneWriter, number: int, names: Sequence[str]) -> str:
    """Return one part of the function that computes the states of a block."""
    dialect, angles = writer.dialect, writer.schedule.angles
    kind, prefix = dialect.real, dialect.prefix
    given = [
        f"const {kind} *{n}" if n == "parameters" else f"{kind} (*{n})[{LANES}]" for n in names
    ]
    head = f"{dialect.part_start}void {prefix}{writer.function.name}_lanes{number + 1}("
    lines = [head + (",\n" + " " * 8).join(given) + ")", "{", "    int lane;"]
    loop = [f"{prefix.upper()}SIDE_BY_SIDE", f"    for (lane = 0; lane < {LANES}; ++lane) {{"]
    lines += [f"    (void){n};" for n in names]
    if number == 0 and writer.has_own_sine:
        lines.insert(3, f"    {kind} angle[{len(angles)}][{LANES}];")
        stores = [f"angle[{k}][lane] = {writer.formulas.name(v)};" for k, v in enumerate(angles)]
        lines += loop + writer.lines([*writer.of_angles(), *stores], " " * 8) + ["    }"]
        lines.append(f"    {prefix}sine({len(angles) * LANES}, angle[0], sine[0], cosine[0]);")
    statements = writer.loads(number) if number else writer.after_sines()
    statements += writer.statements(number) + writer.stores(number)
    return "\n".join([*lines, *loop, *writer.lines(statements, " " * 8), "    }", "}", ""])
