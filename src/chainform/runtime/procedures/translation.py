"""Translate procedures, and all they call, into one module: statements, one after the other."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from chainform.runtime.procedures.expressions import Expressions
from chainform.runtime.procedures.language import BOOL, CONSTANT, FLOAT, INT, NONE, Value
from chainform.runtime.procedures.module import Module
from chainform.runtime.procedures.records import STRUCTS


class Statements(Expressions):
    """A whole procedure: its statements one after the other."""

    def text(self) -> str:
        """Return the function; the memory of its names stands first, as LLVM wants it."""
        names = [argument.arg for argument in self.node.args.args]
        arguments = list(zip(names, self.arguments, strict=True))
        kinds = ", ".join(f"{self.whole.type_of(kind)} %{name}.in" for name, kind in arguments)
        head = f"define {self.whole.type_of(self.result)} @{self.node.name}({kinds}) #0 {{\nentry:"
        for name, kind in arguments:
            self.variables[name] = kind
            self.put(f"store {self.whole.type_of(kind)} %{name}.in, ptr %{name}")
        self.block(self.node.body)
        if self.is_open:
            self.put("ret void" if self.result == NONE else "unreachable")
        for name, node in self.assigned.items():
            if name not in self.read:
                raise self.error(node, f"{name} is not read")
        slots = [
            f"  %{name} = alloca {self.whole.type_of(kind)}"
            for name, kind in self.variables.items()
        ]
        return "\n".join([head, *slots, *self.lines, "}\n"])

    # --- statements ---------------------------------------------------------------------

    def block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=call):
                if self.expression(call)[1] != NONE:
                    raise self.error(node, f"what {ast.unparse(call)} returns is not read")
            case ast.Assign(targets=[target], value=value):
                self.assign(target, self.expression(value))
            case ast.AnnAssign(target=ast.Name(id=name) as target, value=value) if (
                value is not None
            ):
                self.variables.setdefault(name, self.annotation(node.annotation, self.globals))
                self.assign(target, self.expression(value))
            case ast.AugAssign(target=target, op=op, value=value):
                now = self.arithmetic(op, self.expression(_loaded(target)), self.expression(value))
                self.assign(target, now)
            case ast.If():
                self.branch(node)
            case ast.While(test=test, body=body):
                self.loop(lambda: self.condition(test), body, None)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=args), body=body):
                self.for_range(name, args, body)
            case ast.Return(value=value):
                self.give(value)
            case ast.Break():
                self.leave(f"br label %{self.loops[-1][1]}")
            case ast.Continue():
                self.leave(f"br label %{self.loops[-1][0]}")
            case ast.Pass():
                pass
            case _:
                raise self.error(node, f"{ast.unparse(node)} is not part of the language")

    def assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.assigned.setdefault(target.id, target)
            first = FLOAT if value[1] == CONSTANT else value[1]
            kind = self.variables.setdefault(target.id, first)
            text, _ = self.converted(value, kind, target)
            self.put(f"store {self.whole.type_of(kind)} {text}, ptr %{target.id}")
        elif isinstance(target, ast.Subscript | ast.Attribute):
            address, kind = self.address(target)
            if kind in STRUCTS:
                raise self.error(target, "of a record the fields are assigned to")
            text, _ = self.converted(value, kind, target)
            self.put(f"store {self.whole.type_of(kind)} {text}, ptr {address}, align 8")
        else:
            raise self.error(target, "only names, entries and fields are assigned to")

    def branch(self, node: ast.If) -> None:
        then, other, after = self.label("then"), self.label("else"), self.label("end")
        test = self.condition(node.test)
        self.leave(f"br i1 {test}, label %{then}, label %{other if node.orelse else after}")
        self.start(then)
        self.block(node.body)
        if self.is_open:
            self.leave(f"br label %{after}")
        if node.orelse:
            self.start(other)
            self.block(node.orelse)
            if self.is_open:
                self.leave(f"br label %{after}")
        self.start(after)

    def loop(
        self, test: Callable[[], str], body: Sequence[ast.stmt], step: Callable[[], None] | None
    ) -> None:
        head, inside, on, after = (self.label(n) for n in ("head", "body", "on", "after"))
        self.start(head)
        self.leave(f"br i1 {test()}, label %{inside}, label %{after}")
        self.start(inside)
        self.loops.append((on, after))
        self.block(body)
        self.loops.pop()
        self.start(on)
        if step is not None:
            step()
        self.leave(f"br label %{head}")
        self.start(after)

    def for_range(self, name: str, bounds: Sequence[ast.expr], body: Sequence[ast.stmt]) -> None:
        values = [self.expression(bound)[0] for bound in bounds]
        first = values[0] if len(values) > 1 else "0"
        last = values[-1] if len(values) < 3 else values[1]
        step = values[2] if len(values) == 3 else "1"
        self.variables[name] = INT
        self.put(f"store i64 {first}, ptr %{name}")

        def test() -> str:
            now, _ = self.value(f"load i64, ptr %{name}", INT)
            return self.value(f"icmp slt i64 {now}, {last}", BOOL)[0]

        def advance() -> None:
            now, _ = self.value(f"load i64, ptr %{name}", INT)
            after, _ = self.value(f"add i64 {now}, {step}", INT)
            self.put(f"store i64 {after}, ptr %{name}")

        self.loop(test, body, advance)

    def give(self, node: ast.expr | None) -> None:
        if node is None:
            self.leave("ret void")
            return
        text, _ = self.converted(self.expression(node), self.result, node)
        self.leave(f"ret {self.whole.type_of(self.result)} {text}")


def _loaded(target: ast.expr) -> ast.expr:
    return ast.parse(ast.unparse(target), mode="eval").body


class Translation(Module):
    """A module of procedures, each with all that it calls."""

    def add(self, procedure: Callable[..., Any]) -> None:
        """Translate a procedure that is called from outside, and those that it calls."""
        self.entries.add(procedure.__name__)
        self.include(procedure)

    def include(self, procedure: Callable[..., Any]) -> None:
        """Translate a procedure that others call, and those that it calls, each once."""
        pending = [procedure]
        while pending:
            procedure = pending.pop()
            name = procedure.__name__
            if self.procedures.setdefault(name, procedure) is not procedure:
                raise SyntaxError(f"two procedures are called {name}")
            if name not in self.texts:
                statements = Statements(self, procedure)
                self.texts[name] = statements.text()
                self.arguments[name], self.results[name] = statements.arguments, statements.result
                pending += reversed(statements.callees)
