"""What other programs make of the same polynomials, counted by the same rule.

The outputs are multiplied out, sums of angles kept and every sine squared replaced; inputs, sines
and cosines are letters. FORM (`Format O4`), Symbolica and CasADi get all of them at once. What they
return is read as a graph, evaluated beside the polynomials at random rational numbers and counted.
Each runs in a process of its own, which can be stopped:

    python benchmarks/counting/polynomials.py form|symbolica|casadi < graph.txt
"""

from __future__ import annotations

import importlib
import importlib.util
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from chainform.graph import (
    EXACT,
    Builder,
    Graph,
    Scalar,
    cost,
    evaluate,
    expand,
    graph_text,
    parameter_only,
    parse_graph,
)

Term = tuple[Fraction, tuple[tuple[int, int], ...]]
"""A coefficient, and letters with their powers."""

LARGEST_DEVIATION = 1e-10


@dataclass(frozen=True)
class Polynomials:
    """Letters, those of them that are parameters, and sums of terms."""

    letters: tuple[str, ...]
    parameters: frozenset[str]
    sums: tuple[tuple[Term, ...], ...]

    def values(self, letters: Sequence[Fraction]) -> list[Fraction]:
        """Return the values of the sums."""
        return [
            sum((k * prod(letters[n] ** p for n, p in factors) for k, factors in terms), Fraction())
            for terms in self.sums
        ]


def polynomials_of(graph: Graph) -> Polynomials:
    """Return the outputs of a graph multiplied out; of equal ones, up to sign, the first."""
    variables = sorted({int(v) for v in graph.output_variables()})
    letters: dict[str, int] = {}
    sums: dict[tuple[Term, ...], None] = {}
    for expansion in expand(graph, variables, angles="kept", limit=None):
        number = [letters.setdefault(str(s), len(letters)) for s in expansion.symbols]
        terms = sorted(
            (tuple(sorted((number[n], p) for n, p in factors)), k) for k, factors in expansion.terms
        )
        if terms:
            sign = -1 if terms[0][1] < 0 else 1
            sums.setdefault(tuple((sign * k, factors) for factors, k in terms))
    constant = {graph.names[v] for v in np.flatnonzero(parameter_only(graph))}
    return Polynomials(tuple(letters), frozenset(constant & letters.keys()), tuple(sums))


Run = Callable[[Builder, list[Scalar]], Iterable[Scalar]]
"""A program that is given the letters, and returns the sums."""


def program_graph(problem: Polynomials, run: Run) -> Graph:
    """Return the graph of a program."""
    builder = Builder()
    letters = [
        builder.input(f"x{n}", "parameter" if name in problem.parameters else "q", n)
        for n, name in enumerate(problem.letters)
    ]
    results = [(f"result_{n}", value) for n, value in enumerate(run(builder, letters))]
    builder.output("results", [len(results)], results)
    return builder.finish()


def verify(problem: Polynomials, graph: Graph) -> None:
    """End the program where a graph has other values than the polynomials."""
    draw = random.Random(0)
    letters = [Fraction(draw.randint(-99, 99), 64) for _ in problem.letters]
    given = {f"x{n}": value for n, value in enumerate(letters)}
    found, expected = evaluate(graph, given, EXACT)["results"], problem.values(letters)
    largest = max(map(abs, expected), default=Fraction())
    if any(abs(a - b) > LARGEST_DEVIATION * largest for a, b in zip(found, expected, strict=True)):
        raise SystemExit("the result has other values than the polynomials")


# --- FORM -------------------------------------------------------------------------------------


def form(problem: Polynomials) -> Graph:
    """Return what `Format O4` of FORM makes of all sums at once, one bracket for each."""
    sums = [
        f"+out^{n + 1}*({''.join(map(_form_term, terms))})" for n, terms in enumerate(problem.sums)
    ]
    letters = ",".join(f"x{n}" for n in range(len(problem.letters)))
    lines = ["#-", "Off statistics;", f"Symbols out,{letters};", "Local F =", *sums, ";"]
    lines += ["Bracket out;", ".sort", "Format nospaces;", "Format O4,stats=off;", "#Optimize F"]
    lines += ['#write <> "%O"', '#write <> "%E;", F', ".end"]
    with TemporaryDirectory() as folder:
        Path(folder, "sums.frm").write_text("\n".join(lines) + "\n", encoding="ascii")
        command = ["form", "-q", "sums.frm"]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    statements = "".join(run.stdout.split()).split(";")
    return program_graph(problem, partial(_form_values, statements))


def _form_term(term: Term) -> str:
    coefficient, factors = term
    letters = "".join(f"*x{n}^{p}" for n, p in factors)
    return f"{'+' if coefficient >= 0 else '-'}{abs(coefficient)}{letters}"


def _form_values(
    statements: Sequence[str], builder: Builder, letters: list[Scalar]
) -> list[Scalar]:
    known = {f"x{n}": letter for n, letter in enumerate(letters)}
    results: dict[int, Scalar] = {}
    for statement in filter(None, statements):
        name, is_definition, text = statement.rpartition("=")
        terms = re.findall(r"[+-]?[^+-]+", text)
        if is_definition:
            value = sum((_form_product(builder, term, known) for term in terms), builder.number(0))
            known[name] = builder.keep(value)
            continue
        for term in terms:
            place = re.search(r"\bout(?:\^(\d+))?", term)
            if place is None:
                raise SystemExit(f"FORM wrote {term}, which belongs to no polynomial")
            product = _form_product(builder, term, known | {"out": builder.number(1)})
            results[int(place[1] or 1)] = product
    return [results[n] for n in sorted(results)]


def _form_product(builder: Builder, text: str, known: dict[str, Scalar]) -> Scalar:
    value = builder.number(-1 if text.startswith("-") else 1)
    for factor in text.lstrip("+-").split("*"):
        base, _, power = factor.partition("^")
        is_number = base[0].isdigit()
        value *= (builder.number(Fraction(base)) if is_number else known[base]) ** int(power or 1)
    return value


# --- Symbolica --------------------------------------------------------------------------------

ITERATIONS = 100
"""Schemes of Horner that Symbolica tries."""


def symbolica(problem: Polynomials) -> Graph:
    """Return what the evaluator of Symbolica makes of all sums at once, on one core."""
    # Its types are not all known.
    library: Any = importlib.import_module("symbolica")
    letters = [library.S(f"x{n}") for n in range(len(problem.letters))]
    sums = [library.E("".join(map(_form_term, terms))) for terms in problem.sums]
    program = library.Expression.evaluator_multiple(
        sums, letters, iterations=ITERATIONS, n_cores=1, jit_compile=False
    ).get_instructions()
    numbers = [Fraction(str(number)) for number in program.constants]

    def run(builder: Builder, given: list[Scalar]) -> list[Scalar]:
        known = {("param", n): letter for n, letter in enumerate(given)}
        known |= {("const", n): builder.number(value) for n, value in enumerate(numbers)}
        for operation, target, operands, *_ in program.instructions:
            if operation == "assign":
                known[target] = known[operands]
                continue
            values = [known[operand] for operand in operands]
            known[target] = builder.keep({"add": sum, "mul": prod}[operation](values))
        return [known["out", n] for n in range(program.output_count)]

    return program_graph(problem, run)


# --- CasADi -----------------------------------------------------------------------------------


def casadi(problem: Polynomials) -> Graph:
    """Return what `cse` of CasADi makes of all sums; its numbers are floating."""
    library: Any = importlib.import_module("casadi")
    letters = [library.SX.sym(f"x{n}") for n in range(len(problem.letters))]
    sums = [
        sum(float(k) * prod(letters[n] ** p for n, p in factors) for k, factors in terms)
        for terms in problem.sums
    ]
    program = library.Function("sums", letters, library.cse(sums))

    def run(builder: Builder, given: list[Scalar]) -> list[Scalar]:
        known: dict[int, Scalar] = {}
        results: dict[int, Scalar] = {}
        for n in range(program.n_instructions()):
            operation = program.instruction_id(n)
            operands, targets = program.instruction_input(n), program.instruction_output(n)
            if operation == library.OP_INPUT:
                known[targets[0]] = given[operands[0]]
            elif operation == library.OP_OUTPUT:
                results[targets[0]] = known[operands[0]]
            elif operation == library.OP_CONST:
                value = builder.number(Fraction(program.instruction_constant(n)))
                known[targets[0]] = value
            else:
                values = [known[v] for v in operands]
                known[targets[0]] = builder.keep(_casadi_value(library, operation, values))
        return [results[n] for n in sorted(results)]

    return program_graph(problem, run)


def _casadi_value(library: Any, operation: int, values: Sequence[Scalar]) -> Scalar:
    first, second = values[0], values[-1]
    if operation == library.OP_NEG:
        return -first
    if operation in (library.OP_ADD, library.OP_TWICE):
        return first + second
    if operation == library.OP_SUB:
        return first - second
    if operation in (library.OP_MUL, library.OP_SQ):
        return first * second
    raise SystemExit(f"CasADi has an operation of number {operation}, which is not known here")


# --- the peers --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Peer:
    """A program beside ours: its column, what it does, and how to get it."""

    title: str
    reduce: Callable[[Polynomials], Graph]
    is_there: Callable[[], bool]
    remedy: str


def _has_module(name: str) -> Callable[[], bool]:
    return lambda: importlib.util.find_spec(name) is not None


PEERS = {
    "form": Peer(
        "FORM, `O4`",
        form,
        lambda: shutil.which("form") is not None,
        "install the program `form` (a package of Debian)",
    ),
    "symbolica": Peer("Symbolica", symbolica, _has_module("symbolica"), "`pip install symbolica`"),
    "casadi": Peer("CasADi, `cse`", casadi, _has_module("casadi"), "`pip install casadi`"),
}


def peer_count(graph: Graph, peer: str, seconds: float) -> str:
    """Return the count of a peer and its time as text, or why there is none."""
    command = [sys.executable, __file__, peer]
    start = perf_counter()
    try:
        run = subprocess.run(
            command,
            input=graph_text(graph),
            capture_output=True,
            text=True,
            timeout=seconds,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return f"over {seconds:.0f} s"
    except subprocess.CalledProcessError as failure:
        return f"failed: {failure.stderr.strip().rpartition(chr(10))[2][:80]}"
    return f"{run.stdout.split()[-1]} in {perf_counter() - start:.1f} s"


def main() -> None:
    """Count the graph on standard input by one of the peers."""
    problem = polynomials_of(parse_graph(sys.stdin.read()))
    found = PEERS[sys.argv[1]].reduce(problem)
    verify(problem, found)
    count = cost(found)
    print(f"{count.multiplications}/{count.additions}")


if __name__ == "__main__":
    main()
