"""How many operations an emitted Python program takes, read from its text alone.

The graph has a count of its own; this one sees only what a reader of the program sees, and so
checks both the count and the emitter. The text is parsed, never run. The rule is the house's:

    k*x       one multiplication, for a constant k other than 1, 2 and their opposites
    2*x       one addition; 2*x*y one multiplication and one addition
    x*x*x     two multiplications, as is x**3
    -x        nothing
    f(x)      in a column of its own

Sums that serve only to form arguments of sines and cosines are angle sums. Statements that no
result needs do not count. What depends on parameters alone is computed once, and counted apart.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import NamedTuple

from chainform.errors import RunError
from chainform.graph import Cost

TRIGONOMETRIC = frozenset({"sin", "cos"})


class Counts(NamedTuple):
    """What one evaluation takes, and what is computed once, when the parameters are set."""

    each: Cost
    once: Cost


@dataclass(slots=True)
class Statement:
    """One assignment: its name, the names it uses, and its operations."""

    name: str
    uses: list[str] = field(default_factory=list[str])
    multiplications: int = 0
    additions: int = 0
    call: str = ""
    is_input: bool = False
    """Whether it takes a component of q, qd, tau, ... from an argument."""


def count_python(source: str, *, fixed: bool = True) -> Counts:
    """Count the operations of the function `model` in a program that `emit` made.

    `fixed` says whether parameters are set once; where there are no other inputs they are not.
    """
    body = _model(source).body
    statements = [_statement(line) for line in body[:-1]]
    results = _results(body[-1])
    moving = _moving(statements) if fixed else {s.name for s in statements}
    serving = _needs(statements, results)
    live = [s for s in statements if s.name in serving]
    return Counts(
        each=_total([s for s in live if s.name in moving], serving),
        once=_total([s for s in live if s.name not in moving], serving),
    )


def _model(source: str) -> ast.FunctionDef:
    for item in ast.parse(source).body:
        if isinstance(item, ast.FunctionDef) and item.name == "model":
            return item
    raise RunError("the program has no function `model`", element="model")


# --- one statement --------------------------------------------------------------------------


def _statement(line: ast.stmt) -> Statement:
    match line:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript()):
            return Statement(name, is_input=True)
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.Call(ast.Name(id=call), [ast.Name(id=x)])
        ):
            return Statement(name, [x], call=call)
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            statement = Statement(name)
            _count_sum(value, statement)
            return statement
        case _:
            raise _unknown(line)


def _count_sum(value: ast.expr, into: Statement) -> None:
    """Count a sum of products; each part is looked at once."""
    todo, terms = [value], 0
    while todo:
        match todo.pop():
            case ast.BinOp(left, ast.Add() | ast.Sub(), right):
                todo += (left, right)
            case ast.UnaryOp(ast.USub(), operand):
                todo.append(operand)
            case term:
                terms += 1
                _count_product(term, into)
    into.additions += terms - 1


def _count_product(value: ast.expr, into: Statement) -> None:
    todo, degree, number = [value], 0, 1.0
    while todo:
        match todo.pop():
            case ast.BinOp(left, ast.Mult(), right):
                todo += (left, right)
            case ast.UnaryOp(ast.USub(), operand):
                todo.append(operand)
            case ast.BinOp(ast.Name(id=name), ast.Pow(), ast.Constant(value=int(power))):
                degree += power
                into.uses.append(name)
            case ast.Name(id=name):
                degree += 1
                into.uses.append(name)
            case ast.Constant(value=int(constant) | float(constant)):
                number *= constant
            case other:
                raise _unknown(other)
    if degree:
        is_two, is_one = number == 2, number == 1
        into.multiplications += degree - 1 + (not is_one and not is_two)
        into.additions += is_two


def _unknown(item: ast.AST) -> RunError:
    return RunError(
        f"{ast.unparse(item)} is not a statement that can be counted",
        element=f"line {getattr(item, 'lineno', 0)}",
        remedy="count programs made by the Python emitter",
    )


# --- all of them ----------------------------------------------------------------------------


def _results(line: ast.stmt) -> set[str]:
    """Return the names that the function returns."""
    if not isinstance(line, ast.Return) or line.value is None:
        raise _unknown(line)
    return {item.id for item in ast.walk(line.value) if isinstance(item, ast.Name)}


def _moving(statements: list[Statement]) -> set[str]:
    """Return the names whose values depend on more than parameters."""
    moving: set[str] = set()
    for s in statements:
        if s.is_input or not moving.isdisjoint(s.uses):
            moving.add(s.name)
    return moving


def _needs(statements: list[Statement], results: set[str]) -> dict[str, bool]:
    """Return the names that the results need; True for those that are nothing but angles."""
    serving = dict.fromkeys(results, False)
    for s in reversed(statements):
        if s.name in serving:
            is_angle = s.call in TRIGONOMETRIC or (not s.call and serving[s.name])
            for used in s.uses:
                serving[used] = serving.get(used, True) and is_angle
    return serving


def _total(statements: list[Statement], serving: dict[str, bool]) -> Cost:
    called = [s.call for s in statements if s.call]
    return Cost(
        multiplications=sum(s.multiplications for s in statements),
        additions=sum(s.additions for s in statements if not serving[s.name]),
        sin=called.count("sin"),
        cos=called.count("cos"),
        angle_sums=sum(s.additions for s in statements if serving[s.name]),
        calls=sum(1 for call in called if call not in TRIGONOMETRIC),
    )
