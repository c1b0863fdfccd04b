"""All small changes of a source file: one operator, constant, condition or statement at a time."""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

OPERATORS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
SILENT = {"__repr__", "__str__", "_repr_html_", "__rich__", "_text"}
"""Functions whose result people read."""
MESSAGES = re.compile(r".*(Error|error|Warning|warn|refused|Finding)$")
"""Calls whose arguments are messages."""
WORDS = {"element", "remedy", "message", "match"}
"""Arguments that are parts of messages."""


@dataclass(frozen=True)
class Change:
    """A piece of a file and what stands there instead."""

    file: str
    """The path in the package."""
    line: int
    first: int
    """The first line of the statement,"""
    last: int
    """and its last one."""
    start: int
    stop: int
    old: str
    new: str
    kind: str
    text: str
    """The line, without its indentation."""
    in_function: bool = False
    """Whether it runs when a function is called, and not at the import."""
    key: str = ""
    """The same for the same change, also where other lines of the file have changed."""

    @property
    def name(self) -> str:
        """One line for people; with the file's text it is the same for the same change."""
        where = f"{self.file}:{self.line}"
        return f"{where}: {self.kind}: {self.text} [{_short(self.old)} -> {_short(self.new)}]"

    def applied(self, source: str) -> str:
        """Return the changed text of the file."""
        if source[self.start : self.stop] != self.old:
            raise ValueError(f"{self.name}: the file has changed")
        return source[: self.start] + self.new + source[self.stop :]


def _short(text: str) -> str:
    return " ".join(text.split())


def changes_of(file: str, source: str) -> list[Change]:
    """Return all changes of a file, in the order of the text; see `is_python`."""
    found = _Finder(file, source).all()
    unique = {(c.start, c.stop, c.new): c for c in found if c.old != c.new}
    counts: Counter[tuple[str, ...]] = Counter()
    keyed: list[Change] = []
    for place in sorted(unique):
        change = unique[place]
        parts = file, change.text, change.old, change.new
        counts[parts] += 1
        digest = hashlib.sha256(repr((*parts, counts[parts])).encode())
        keyed.append(replace(change, key=digest.hexdigest()[:16]))
    return keyed


def is_python(text: str) -> bool:
    """Tell whether a changed file still has a syntax tree; most have, and it takes time."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


class _Finder:
    """Walks over a syntax tree; what only people read is left out."""

    def __init__(self, file: str, source: str) -> None:
        self.source = source
        self.lines = source.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        self.here = Change(file, 0, 0, 0, 0, 0, "", "", "", "")
        self.returns = ""

    def all(self) -> Iterator[Change]:
        yield from self.block(ast.parse(self.source).body)

    def offset(self, line: int, column: int) -> int:
        text = self.lines[line - 1].encode()[:column].decode()
        return self.starts[line - 1] + len(text)

    def span(self, node: ast.AST) -> tuple[int, int]:
        a: tuple[int, int, int, int] = (
            getattr(node, "lineno"),  # noqa: B009
            getattr(node, "col_offset"),  # noqa: B009
            getattr(node, "end_lineno"),  # noqa: B009
            getattr(node, "end_col_offset"),  # noqa: B009
        )
        return self.offset(a[0], a[1]), self.offset(a[2], a[3])

    def piece(self, node: ast.AST) -> str:
        start, stop = self.span(node)
        return self.source[start:stop]

    def change(self, kind: str, start: int, stop: int, new: str) -> Change:
        line = self.source.count("\n", 0, start) + 1
        place = {"line": line, "start": start, "stop": stop, "text": self.lines[line - 1].strip()}
        return replace(self.here, kind=kind, old=self.source[start:stop], new=new, **place)

    def instead(self, kind: str, node: ast.AST, new: str) -> Change:
        return self.change(kind, *self.span(node), new)

    # --- statements ---------------------------------------------------------------------

    def block(self, body: list[ast.stmt]) -> Iterator[Change]:
        for statement in body:
            yield from self.statement(statement)

    def statement(self, node: ast.stmt) -> Iterator[Change]:
        outer = self.here, self.returns
        head = getattr(node, "body", None)
        last = head[0].lineno - 1 if isinstance(head, list) else node.end_lineno or node.lineno
        self.here = replace(self.here, first=node.lineno, last=max(last, node.lineno))
        match node:
            case ast.FunctionDef(name=name) if name not in SILENT:
                self.returns = ast.unparse(node.returns) if node.returns else ""
                for default in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
                    yield from self.expression(default)
                self.here = replace(self.here, in_function=True)
                yield from self.block(node.body)
            case ast.ClassDef(body=body):
                yield from self.block(body)
            case ast.If(test=test) if "TYPE_CHECKING" not in ast.unparse(test):
                yield from self.condition(test)
                yield from self.expression(test)
                yield from self.block([*node.body, *node.orelse])
            case ast.While(test=test, body=body):
                if not isinstance(test, ast.Constant):
                    yield self.instead("condition", test, "False")
                yield from self.expression(test)
                yield from self.block([*body, *node.orelse])
            case ast.For():
                yield from self.expression(node.iter)
                yield from self.block([*node.body, *node.orelse])
            case ast.With():
                for item in node.items:
                    yield from self.expression(item.context_expr)
                yield from self.block(node.body)
            case ast.Try():
                handlers = [part for handler in node.handlers for part in handler.body]
                yield from self.block([*node.body, *handlers, *node.orelse, *node.finalbody])
            case ast.Match():
                yield from self.expression(node.subject)
                for part in node.cases:
                    if part.guard is not None:
                        yield from self.condition(part.guard)
                        yield from self.expression(part.guard)
                    yield from self.block(part.body)
            case _:
                yield from self.simple(node)
        self.here, self.returns = outer

    def simple(self, node: ast.stmt) -> Iterator[Change]:
        """Yield the changes of a statement that holds no other one."""
        match node:
            case ast.Return(value=ast.expr() as value):
                yield from self.given_back(value)
                yield from self.expression(value)
            case ast.Assign(targets=targets, value=value):
                if any(isinstance(t, ast.Attribute | ast.Subscript) for t in targets):
                    yield self.instead("deleted", node, "pass")
                for part in [*targets, value]:
                    yield from self.expression(part)
            case ast.AnnAssign(annotation=kind, value=ast.expr() as value):
                if "TypeAlias" not in ast.unparse(kind):
                    yield from self.expression(value)
            case ast.AugAssign(target=target, op=op, value=value):
                yield self.instead("deleted", node, "pass")
                if type(op) in OPERATORS:
                    old, new = OPERATORS[type(op)]
                    yield from self.between(target, value, f"{old}=", f"{new}=")
                yield from self.expression(value)
            case ast.Expr(value=ast.Call() as call):
                yield self.instead("deleted", node, "pass")
                yield from self.expression(call)
            case ast.Expr(value=value) if not isinstance(value, ast.Constant):
                yield from self.expression(value)
            case ast.Continue() | ast.Break() | ast.Raise():
                yield self.instead("deleted", node, "pass")
            case _:
                pass

    def given_back(self, value: ast.expr) -> Iterator[Change]:
        text = self.piece(value)
        if text != "None":
            yield self.instead("result", value, "None")
        if self.returns == "bool":
            yield self.instead("result", value, f"not ({text})")
        elif self.returns in {"float", "int", "Fraction"}:
            yield self.instead("result", value, f"-({text})")

    def condition(self, test: ast.expr) -> Iterator[Change]:
        yield self.instead("condition", test, "True")
        yield self.instead("condition", test, "False")

    # --- expressions --------------------------------------------------------------------

    def between(self, left: ast.expr, right: ast.expr, old: str, new: str) -> Iterator[Change]:
        """Yield the change of the operator that stands between two expressions."""
        start, stop = self.span(left)[1], self.span(right)[0]
        text = self.source[start:stop]
        words = r"\s+".join(map(re.escape, old.split()))
        found = re.search(rf"(?<!\w){words}(?!\w)" if old[0].isalpha() else words, text)
        if found is not None and "#" not in text:
            yield self.change("operator", start + found.start(), start + found.end(), new)

    def expression(self, node: ast.AST) -> Iterator[Change]:
        match node:
            case ast.JoinedStr() | ast.Lambda(body=ast.JoinedStr()):
                return
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                if not (isinstance(op, ast.BitOr) and (_is_type(left) or _is_type(right))):
                    yield from self.between(left, right, *OPERATORS[type(op)])
            case ast.BinOp(left=left, op=ast.MatMult(), right=right):
                yield from self.swapped(left, right)
            case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
                yield self.instead("sign", node, self.piece(operand))
            case ast.Compare(left=left, ops=ops, comparators=others):
                sides = [left, *others]
                for a, op, b in zip(sides, ops, others, strict=False):
                    yield from self.between(a, b, *COMPARISONS[type(op)])
            case ast.BoolOp(op=op, values=values):
                words = ("and", "or") if isinstance(op, ast.And) else ("or", "and")
                for a, b in pairwise(values):
                    yield from self.between(a, b, *words)
            case ast.IfExp(test=test):
                yield from self.condition(test)
            case ast.comprehension(ifs=ifs):
                for test in ifs:
                    yield from self.condition(test)
            case ast.Constant(value=value):
                yield from self.constant(node, value)
            case ast.Call(func=function, args=args):
                if MESSAGES.match(ast.unparse(function)):
                    return
                for a, b in pairwise(args):
                    yield from self.swapped(a, b)
            case ast.keyword(arg=name) if name in WORDS:
                return
            case _:
                pass
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr | ast.comprehension | ast.keyword):
                yield from self.expression(part)

    def constant(self, node: ast.Constant, value: object) -> Iterator[Change]:
        if isinstance(value, bool):
            yield self.instead("constant", node, str(not value))
        elif isinstance(value, int | float):
            for step in (1, -1):
                yield self.instead("constant", node, f"({value + step!r})")

    def swapped(self, a: ast.expr, b: ast.expr) -> Iterator[Change]:
        """Yield two expressions in the other order."""
        first, second = self.piece(a), self.piece(b)
        is_plain = not any(isinstance(e, ast.Starred | ast.GeneratorExp) for e in (a, b))
        if is_plain and first != second:
            start, stop = self.span(a)[0], self.span(b)[1]
            middle = self.source[self.span(a)[1] : self.span(b)[0]]
            # An operator is no part of what is swapped: its operands may stand in parentheses.
            if "(" not in middle and ")" not in middle:
                yield self.change("order", start, stop, second + middle + first)


def _is_type(node: ast.expr) -> bool:
    """Tell whether an operand of `|` is the name of a type."""
    name = ast.unparse(node).split("[")[0].split(".")[-1]
    return name in {"None", "int", "float", "str", "bool", "bytes"} or name[:1].isupper()
