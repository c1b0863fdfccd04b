"""Expressions of procedures: numbers, names, entries, operators and calls."""

from __future__ import annotations

import ast
import linecache
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import CodeType, FunctionType
from typing import Any, cast

from chainform.runtime.procedures.language import (
    ARITHMETIC,
    BOOL,
    COMPARISONS,
    CONSTANT,
    ENTRIES,
    FLOAT,
    FLOATS,
    FOLDED,
    INT,
    INTRINSICS,
    INTS,
    NONE,
    NUMBER,
    WITH_ONE_LANE,
    Value,
)
from chainform.runtime.procedures.module import Module
from chainform.runtime.procedures.records import ARRAY, STRUCTS, kind_of


@cache
def parsed(procedure: Callable[..., Any]) -> ast.FunctionDef:
    """Return the syntax of a procedure, which nobody changes."""
    node = ast.parse(textwrap.dedent(_source(procedure.__code__))).body[0]
    assert isinstance(node, ast.FunctionDef)
    return node


def _source(code: CodeType) -> str:
    """Return the lines of a function: up to the next one that is not indented further.

    `inspect.getsource` reads them word by word, which takes as long as all of the translation.
    """
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    depth = len(lines[0]) - len(lines[0].lstrip())
    end = 1
    # A signature of several lines is closed by a bracket below its beginning.
    while end < len(lines) and (lines[end][: depth + 1].isspace() or lines[end].lstrip()[0] == ")"):
        end += 1
    return "".join(lines[:end])


class Expressions:
    """The expressions of one procedure, as lines that compute their values."""

    def __init__(self, whole: Module, procedure: Callable[..., Any]) -> None:
        self.whole = whole
        self.globals: Mapping[str, Any] = procedure.__globals__
        self.node = parsed(procedure)
        self.arguments, self.result = self.signature(procedure)
        self.callees: list[Callable[..., Any]] = []
        """The procedures that are called, in that order."""
        self.lines: list[str] = []
        self.variables: dict[str, str] = {}
        """The type of each local name."""
        self.assigned: dict[str, ast.Name] = {}
        """The local names that are assigned to,"""
        self.read: set[str] = set()
        """and those whose values are used."""
        self.loops: list[tuple[str, str]] = []
        """Where `continue` and `break` lead to."""
        self.count = 0
        self.is_open = True
        """Whether the block that is written still lacks its end."""

    def error(self, node: ast.AST, message: str) -> SyntaxError:
        return SyntaxError(f"{self.node.name}, line {getattr(node, 'lineno', 0)}: {message}")

    def signature(self, procedure: Callable[..., Any]) -> tuple[list[str], str]:
        """Return the types of the arguments of a procedure and of its result."""
        node, names = parsed(procedure), procedure.__globals__
        arguments = [self.annotation(a.annotation, names) for a in node.args.args]
        return arguments, self.annotation(node.returns, names)

    def annotation(self, node: ast.expr | None, names: Mapping[str, Any]) -> str:
        name = "None" if node is None else ast.unparse(node)
        kind = kind_of(name, names)
        if kind is None:
            raise self.error(node or self.node, f"{name} is no type of the language")
        return self.in_lanes(kind)

    def in_lanes(self, kind: str) -> str:
        return WITH_ONE_LANE.get(kind, kind) if self.whole.lanes == 1 else kind

    # --- lines and blocks ---------------------------------------------------------------

    def put(self, line: str) -> None:
        if self.is_open:
            self.lines.append(f"  {line}")

    def value(self, line: str, kind: str) -> Value:
        self.count += 1
        self.put(f"%v{self.count} = {line}")
        return f"%v{self.count}", kind

    def label(self, name: str) -> str:
        self.count += 1
        return f"{name}{self.count}"

    def start(self, label: str) -> None:
        if self.is_open:
            self.put(f"br label %{label}")
        self.lines.append(f"{label}:")
        self.is_open = True

    def leave(self, line: str) -> None:
        self.put(line)
        self.is_open = False

    # --- expressions --------------------------------------------------------------------

    def expression(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=bool() as value):
                return str(value).lower(), BOOL
            case ast.Constant(value=int() as value):
                return str(value), INT
            case ast.Constant(value=float() as value):
                return repr(value), CONSTANT
            case ast.Name(id=name):
                return self.name(node, name)
            case ast.BinOp(left=left, op=op, right=right):
                return self.arithmetic(op, self.expression(left), self.expression(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.negative(self.expression(operand))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.value(f"xor i1 {self.condition(operand)}, true", BOOL)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self.compare(op, self.expression(left), self.expression(right))
            case ast.BoolOp():
                return self.both(node), BOOL
            case ast.Subscript(slice=ast.Slice()):
                return self.address(node)
            case ast.Subscript() | ast.Attribute():
                address, kind = self.address(node)
                if kind in STRUCTS:
                    return address, kind
                return self.value(f"load {self.whole.type_of(kind)}, ptr {address}, align 8", kind)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self.call(node, name, [self.expression(a) for a in arguments])
            case _:
                raise self.error(node, f"{ast.unparse(node)} is not part of the language")

    def name(self, node: ast.AST, name: str) -> Value:
        if name in self.variables:
            self.read.add(name)
            kind = self.variables[name]
            return self.value(f"load {self.whole.type_of(kind)}, ptr %{name}", kind)
        found = self.globals.get(name)
        if isinstance(found, int):
            return str(found), INT
        if isinstance(found, float):
            return repr(found), CONSTANT
        if isinstance(found, tuple):
            numbers = cast("tuple[float, ...]", found)
            return self.whole.table(f"{self.globals['__name__']}.{name}", numbers), FLOATS
        raise self.error(node, f"{name} is not known")

    def arithmetic(self, op: ast.operator, left: Value, right: Value) -> Value:
        if (left[1], right[1]) == (CONSTANT, CONSTANT):
            return repr(FOLDED[type(op)](float(left[0]), float(right[0]))), CONSTANT
        kind = self.common(left, right)
        kind = FLOAT if isinstance(op, ast.Div) and kind == INT else kind
        a, b = (self.converted(side, kind, op)[0] for side in (left, right))
        word = ARITHMETIC.get((type(op), kind))
        if word is None:
            raise self.error(op, f"{type(op).__name__} of {kind} is not part of the language")
        return self.value(f"{word} {self.whole.type_of(kind)} {a}, {b}", kind)

    def common(self, *values: Value) -> str:
        """Return the kind of number in which several meet."""
        kinds = {kind for _, kind in values}
        if kinds == {INT}:
            return INT
        return NUMBER if NUMBER in kinds and FLOAT not in kinds else FLOAT

    def negative(self, value: Value) -> Value:
        text, kind = value
        if kind == CONSTANT:
            return repr(-float(text)), CONSTANT
        if kind in (FLOAT, NUMBER):
            return self.value(f"fneg {self.whole.type_of(kind)} {text}", kind)
        return self.value(f"sub i64 0, {text}", INT)

    def compare(self, op: ast.cmpop, left: Value, right: Value) -> Value:
        word = COMPARISONS[type(op)]
        kind = self.common(left, right)
        if kind == INT:
            signed = word if word in ("eq", "ne") else f"s{word}"
            return self.value(f"icmp {signed} i64 {left[0]}, {right[0]}", BOOL)
        a, b = (self.converted(side, kind, op)[0] for side in (left, right))
        if self.whole.lanes > 1 and kind == FLOAT:
            raise self.error(op, "lanes cannot go different ways")
        # A comparison with NaN is false, but for "different".
        ordered = f"{'u' if word == 'ne' else 'o'}{word}"
        return self.value(f"fcmp {ordered} double {a}, {b}", BOOL)

    def condition(self, node: ast.expr) -> str:
        text, kind = self.expression(node)
        if kind == INT:
            return self.value(f"icmp ne i64 {text}, 0", BOOL)[0]
        return text

    def both(self, node: ast.BoolOp) -> str:
        """Return `and` or `or`, whose right side is only computed where it is needed."""
        self.count += 1
        slot = f"logic{self.count}"
        self.variables[slot] = BOOL
        after, is_and = self.label("decided"), isinstance(node.op, ast.And)
        for number, part in enumerate(node.values):
            test = self.condition(part)
            self.put(f"store i1 {test}, ptr %{slot}")
            if number == len(node.values) - 1:
                break
            on = self.label("further")
            ways = (on, after) if is_and else (after, on)
            self.leave(f"br i1 {test}, label %{ways[0]}, label %{ways[1]}")
            self.start(on)
        self.start(after)
        return self.value(f"load i1, ptr %{slot}", BOOL)[0]

    def address(self, node: ast.Subscript | ast.Attribute) -> Value:
        """Return the address of an entry, of the array from an entry on, or of a field."""
        base, kind = self.expression(node.value)
        if isinstance(node, ast.Attribute):
            return self.field(node, base, kind)
        entry = ENTRIES.get(kind, kind.removesuffix(ARRAY))
        if entry == kind or (entry in STRUCTS and isinstance(node.slice, ast.Slice)):
            raise self.error(node, f"{ast.unparse(node.value)} is not an array of numbers")
        index = node.slice.lower if isinstance(node.slice, ast.Slice) else node.slice
        assert index is not None
        number, _ = self.expression(index)
        line = f"getelementptr {self.whole.stored_as(entry)}, ptr {base}, i64 {number}"
        address, _ = self.value(line, kind)
        return address, kind if isinstance(node.slice, ast.Slice) else entry

    def field(self, node: ast.Attribute, base: str, kind: str) -> Value:
        """Return the address of a field of a record."""
        struct = STRUCTS.get(kind)
        if struct is None or node.attr not in struct.fields:
            raise self.error(node, f"{ast.unparse(node)} is not a field")
        offset = struct.offset(node.attr, self.whole.lanes)
        address, _ = self.value(f"getelementptr i8, ptr {base}, i64 {offset}", kind)
        return address, self.in_lanes(struct.fields[node.attr])

    def call(self, node: ast.Call, name: str, values: Sequence[Value]) -> Value:
        if name == "float":
            return self.converted(values[0], FLOAT, node)
        if name == "int":
            single = FLOAT if self.whole.lanes == 1 else NUMBER
            text, _ = self.converted(values[0], single, node)
            return self.value(f"fptosi double {text} to i64", INT)
        if name == "integers":
            text, _ = self.converted(values[0], FLOATS, node)
            return text, INTS
        if name in INTRINSICS:
            return self.intrinsic(node, name, values)
        if name in self.whole.given:
            self.whole.called.add(name)
            kinds, result = self.whole.given[name]
        else:
            found = self.whole.instead.get(name, self.globals.get(name))
            if found is None and name in self.whole.instead:
                return "", NONE
            if isinstance(found, int | float):
                return repr(found), INT if isinstance(found, int) else CONSTANT
            if not isinstance(found, FunctionType):
                raise self.error(node, f"{name} is not a procedure")
            self.callees.append(found)
            name = found.__name__
            kinds, result = self.signature(found)
        texts = [self.converted(v, k, node)[0] for v, k in zip(values, kinds, strict=True)]
        listed = ", ".join(
            f"{self.whole.type_of(k)} {t}" for t, k in zip(texts, kinds, strict=True)
        )
        line = f"call {self.whole.type_of(result)} @{name}({listed})"
        if result == NONE:
            self.put(line)
            return "", NONE
        return self.value(line, result)

    def intrinsic(self, node: ast.AST, name: str, values: Sequence[Value]) -> Value:
        word, count = INTRINSICS[name]
        meeting = NUMBER if self.common(*values) == NUMBER else FLOAT
        kind = self.whole.type_of(meeting)
        suffix = "f64" if kind == "double" else f"v{self.whole.lanes}f64"
        full = f"@{word}.{suffix}"
        self.whole.declared.add(f"declare {kind} {full}({', '.join([kind] * count)})")
        texts = [self.converted(value, meeting, node)[0] for value in values]
        return self.value(
            f"call {kind} {full}({', '.join(f'{kind} {text}' for text in texts)})", meeting
        )

    def converted(self, value: Value, kind: str, node: ast.AST) -> Value:
        text, now = value
        if now == kind:
            return value
        if kind not in (FLOAT, NUMBER) or now not in (INT, CONSTANT, NUMBER):
            raise self.error(node, f"{now} is not {kind}")
        if now == CONSTANT or text.lstrip("-").isdigit():
            return self.whole.number(float(text), kind), kind
        scalar = text
        if now == INT:
            scalar, _ = self.value(f"sitofp i64 {text} to double", NUMBER)
        if self.whole.lanes == 1 or kind == NUMBER:
            return scalar, kind
        lanes = self.whole.lanes
        vector = f"<{lanes} x double>"
        one, _ = self.value(f"insertelement {vector} poison, double {scalar}, i64 0", FLOAT)
        zeros = f"<{lanes} x i32> zeroinitializer"
        return self.value(f"shufflevector {vector} {one}, {vector} poison, {zeros}", FLOAT)
