"""Functions of one state in C and its relatives: straight-line code, cut where it is long."""

from __future__ import annotations

from collections.abc import Sequence

from chainform.emitters.infix import FunctionWriter
from chainform.emitters.languages.c.dialect import Dialect, comment
from chainform.emitters.package import Function, Package, argument_name


class CWriter(FunctionWriter):
    """The statements of a function, for one state or for the lanes of a block."""

    def __init__(
        self, package: Package, function: Function, dialect: Dialect, *, in_lanes: bool = False
    ) -> None:
        element = "{array}[{index}]" + ("[lane]" if in_lanes else "")
        own = dialect.has_own_sine
        super().__init__(package, function, dialect.syntax(element), has_own_sine=own)
        self.dialect = dialect

    def entry(self, array: str, index: int) -> str:
        """Return an entry of an array that is read; parameters are those of all states."""
        return f"parameters[{index}]" if array == "parameters" else super().entry(array, index)

    def sine_call(self) -> list[str]:
        """Return the statements that compute the sines and cosines of the first angles."""
        if not self.has_own_sine:
            return []
        prefix, kind = self.dialect.prefix, self.dialect.real
        size = f"{prefix.upper()}PADDED({len(self.schedule.angles)})"
        listed = ", ".join(self.formulas.name(v) for v in self.schedule.angles)
        return [
            f"const {kind} angle[{size}] = {{{listed}}};",
            f"{kind} sine[{size}], cosine[{size}];",
            f"{prefix}sine({size}, angle, sine, cosine);",
        ]


def single(package: Package, function: Function, dialect: Dialect) -> list[str]:
    """Return the texts of a function of one state: its parts, and itself."""
    writer = CWriter(package, function, dialect)
    about = comment(function.about)
    if writer.count == 1:
        idle = [f"    (void){name};" for name in writer.idle()]
        return ["\n".join([*about, dialect.head(function), "{", *idle, *writer.body(0), "}", ""])]
    given = [*dialect.parameters(function), f"{dialect.real} *work"]
    texts = [
        _part(writer, number, given, [f"    (void){text.split('*')[-1]};" for text in given])
        for number in range(writer.count)
    ]
    return [*texts, "\n".join([*about, *_together(writer)])]


def _part(writer: CWriter, number: int, given: Sequence[str], idle: Sequence[str]) -> str:
    dialect = writer.dialect
    name = f"{dialect.prefix}{writer.function.name}_{number + 1}"
    head = f"{dialect.part_start}void {name}(" + (",\n" + " " * 8).join(given) + ")"
    return "\n".join([head, "{", *idle, *writer.body(number), "}", ""])


def _together(writer: CWriter) -> list[str]:
    """Return the function that calls its parts.

    Results may overlap arguments: these are copied before some of the results are stored.
    """
    dialect, function = writer.dialect, writer.function
    copies: list[str] = []
    for argument in function.signature.arguments:
        array, size = argument_name(argument.group), argument.length
        copies.append(f"    {dialect.real} {array}_given[{max(1, size)}];")
        loop = [f"    for (i = 0; i < {size}; ++i)", f"        {array}_given[i] = {array}[i];"]
        copies += loop if size else [f"    (void){array};"]
    names = [f"{argument_name(a.group)}_given" for a in function.signature.arguments]
    called = ", ".join([*names, *writer.results, "work"])
    name = f"{dialect.prefix}{function.name}"
    calls = [f"    {name}_{k + 1}({called});" for k in range(writer.count)]
    work = f"    {dialect.real} work[{max(1, writer.schedule.work)}];"
    return [dialect.head(function), "{", "    int i;", work, *copies, *calls, "}", ""]
