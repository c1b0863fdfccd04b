"""Parts of sums computed in fewer operations: the values stay, and none is missed."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations, combinations_with_replacement

import numpy as np
from flint import fmpz
from hypothesis import given

import chainform as cf
from chainform.algebra import Settler, Windows, graph_of, is_same, system_of
from chainform.algebra.candidates import (
    DIVIDED,
    ITSELF,
    LESS,
    MORE,
    POINTS,
    PRIMES,
    PRODUCT,
    SINGLE,
    SUM,
    Candidates,
)
from chainform.algebra.dependencies import Needs
from chainform.algebra.finite_field import Field
from chainform.graph import Builder, Graph, Scalar, graph_text
from reductions import check_kept, moving_graph, operations
from strategies import POLYNOMIAL, TRIGONOMETRIC, Point, Program, examples, points, programs
from zoo import reference


def graph_with(values: list[Scalar], builder: Builder) -> Graph:
    builder.output("out", (len(values),), [(f"out_{i}", value) for i, value in enumerate(values)])
    return builder.finish()


def settled(graph: Graph) -> Graph:
    system = system_of(graph)
    Settler(system).settle(resubstitute=True)
    return graph_of(system)


def swept(graph: Graph) -> Graph:
    system = system_of(graph)
    settler = Settler(system)
    settler.settle(resubstitute=True)
    Windows(system, Needs(system)).sweep(settler.reduce)
    after = graph_of(system)
    assert is_same(graph, after)
    return after


# --- candidates -----------------------------------------------------------------------------------


def test_the_primes_have_the_form_that_fields_need() -> None:
    for prime in PRIMES:
        assert prime < 2**31
        for _ in range(3):
            assert fmpz(prime).is_prime()
            prime = (prime + 1) // 12


def residues(rng: random.Random, count: int) -> np.ndarray:
    rows = [[[rng.randrange(1, p) for _ in range(count)] for _ in range(POINTS)] for p in PRIMES]
    return np.array(rows, dtype=np.uint64)


def test_every_form_is_found_and_nothing_else() -> None:
    rng = random.Random(1)
    values = residues(rng, 5)
    candidates = Candidates(values)
    allowed = np.ones((1, 5), dtype=bool)
    exact = values.astype(object)
    p = np.array(PRIMES, dtype=object)[:, None]
    formed = {(SINGLE, x, x): exact[:, :, x] for x in range(5)}
    formed |= {
        (PRODUCT, x, y): exact[:, :, x] * exact[:, :, y]
        for x, y in combinations_with_replacement(range(5), 2)
    }
    for x, y in combinations(range(5), 2):
        formed[SUM, x, y] = exact[:, :, x] + exact[:, :, y]
        formed[SUM + 1, x, y] = exact[:, :, x] - exact[:, :, y]
    for k, c in ((1, 0), (-1, 0), (3, 0), (1, 7), (-5, 2)):
        for (shape, x, y), value in formed.items():
            for kind in (ITSELF, LESS, MORE, DIVIDED):
                s = 0 if kind == ITSELF else rng.randrange(5)
                inner = k * value + c
                other = exact[:, :, s]
                wanted = {LESS: inner + other, MORE: inner - other, DIVIDED: inner * other}
                w = (wanted.get(kind, inner) % p).astype(np.uint64)[:, :, None]
                hits = [
                    (
                        int(h.shape[n]),
                        int(h.x[n]),
                        int(h.y[n]),
                        bool(h.is_unit[n]),
                        bool(h.has_constant[n]),
                    )
                    for h in candidates.find(w, kind, allowed, np.array([False]))
                    for n in range(len(h.w))
                    if kind == ITSELF or h.s[n] == s
                ]
                assert (shape, x, y, k in (1, -1), c != 0) in hits
                assert len(hits) <= 2
    w = residues(rng, 1)
    for kind in (ITSELF, LESS, MORE, DIVIDED):
        assert not any(len(h.w) for h in candidates.find(w, kind, allowed, np.array([False])))


def test_only_allowed_variables_are_used() -> None:
    values = residues(random.Random(2), 4)
    candidates = Candidates(values)
    exact = values.astype(object)
    p = np.array(PRIMES, dtype=object)[:, None]
    w = ((exact[:, :, 0] * exact[:, :, 1] + exact[:, :, 2]) % p).astype(np.uint64)[:, :, None]
    no_variable = np.array([False])
    for forbidden in range(4):
        allowed = np.ones((1, 4), dtype=bool)
        allowed[0, forbidden] = False
        found = sum(len(h.w) for h in candidates.find(w, LESS, allowed, no_variable))
        assert found == (1 if forbidden == 3 else 0)


# --- windows --------------------------------------------------------------------------------------


def test_a_factor_that_is_nowhere_is_found() -> None:
    """a^2 - b^2 is (a - b)(a + b), where only a - b is there."""
    builder = Builder()
    a, b = builder.input("a", "qd", 0), builder.input("b", "qd", 1)
    graph = graph_with([a - b, a * a - b * b], builder)
    assert operations(settled(graph)) == 4
    assert operations(swept(graph)) == 3


def test_a_number_beside_a_multiple_is_found() -> None:
    """A number times cos^4, and another number, where cos^2 is there."""
    builder = Builder()
    q, x, y = builder.input("q", "q", 0), builder.input("x", "qd", 0), builder.input("y", "qd", 1)
    s, c = builder.call("sin", q), builder.call("cos", q)
    fourth = Fraction(3, 7) * s * s * s * s - Fraction(6, 7) * s * s + 5
    graph = graph_with([c * c * x, c * c * y, fourth], builder)
    assert operations(settled(graph)) > 6
    assert operations(swept(graph)) == 6


@examples(20)
@given(programs(POLYNOMIAL + TRIGONOMETRIC, most_steps=12), points)
def test_a_sweep_keeps_values_and_never_costs(program: Program, point: Point) -> None:
    for constants in (0, 1):
        graph = moving_graph(program, constants)
        system = system_of(graph)
        settler = Settler(system)
        settler.settle(resubstitute=True)
        before = system.sums.cost
        mark = system.sums.mark()
        start = graph_of(system)
        windows = Windows(system, Needs(system))
        count = windows.sweep(settler.reduce)
        assert system.sums.cost < before if count else system.sums.cost == before
        after = graph_of(system)
        assert is_same(graph, after, seed=7)
        check_kept(graph, after, point.values())
        system.sums.undo(mark)
        assert system.sums.cost == before
        assert is_same(start, graph_of(system), seed=8)


def test_the_cost_of_a_window_is_what_goes_without_it() -> None:
    model = cf.derive(reference("rackovic_2_1"), ["mass_matrix", "gravity"])
    system = system_of(model.graph)
    settler = Settler(system)
    settler.settle()
    sums = system.sums
    windows = list(Windows(system, Needs(system)).windows(0.0))
    assert len(windows) > 100
    for window in windows:
        before, mark = sums.cost, sums.mark()
        for m in window.part:
            sums.remove(window.variable, m)
        gone: set[int] = set()
        while unused := [v for v in sums.unused() if v != window.variable]:
            gone.update(unused)
            for v in unused:
                sums.drop(v)
        rest = sums.prices.addition if sums.sum_of(window.variable) else 0.0
        assert abs(window.cost - (before - sums.cost - rest)) < 1e-9
        assert window.inner == gone
        sums.undo(mark)


def test_a_sum_that_is_zero_at_a_point_has_no_inverse() -> None:
    """The sign of a short number is known, so that 1 + sign(x) may be 0 where x is one."""
    fields = [Field(prime, seed) for prime in PRIMES for seed in range(POINTS)]

    def zeros(name: str) -> list[bool]:
        return [f.call_of("sign", f.input(name)) == f.prime - 1 for f in fields]

    found = ((name, zeros(name)) for name in (f"x{k}" for k in range(10_000)))
    name = next(name for name, there in found if any(there[2:]) and not any(there[:2]))
    builder = Builder()
    x, y, z = (builder.input(n, "qd", k) for k, n in enumerate((name, "y", "z")))
    up = builder.call("sign", x) + 1
    swept(graph_with([up * y + z * y, up * z, up * (y + z) + y * z, y * z + y + z], builder))


def test_an_output_needs_no_other_group_of_inputs() -> None:
    """b = (a + b) - a costs nothing more, but would need a."""
    builder = Builder()
    a, b = builder.input("a", "qd", 0), builder.input("b", "q", 0)
    square = b * b * b
    builder.output("first", (1,), [("first_1", a + square)])
    builder.output("second", (1,), [("second_1", square)])
    graph = builder.finish()
    system = system_of(graph)
    settler = Settler(system)
    settler.settle(resubstitute=True)
    windows = Windows(system, Needs(system))
    (second,) = (system.to_sums[v] for v in graph.outputs["second"].variables)
    (qd_input,) = (system.to_sums[v] for v in graph.inputs if graph.inputs[v].group == "qd")
    for found in windows.replacements(-10.0):
        if found.window.variable == second:
            assert qd_input not in (found.s, found.x, found.y)


def test_two_sweeps_make_the_same_graph() -> None:
    graph = cf.derive(reference("puma560"), ["mass_matrix"]).graph
    assert graph_text(swept(graph)) == graph_text(swept(graph))
