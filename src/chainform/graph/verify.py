"""Which graphs are legal. Everything downstream relies on what is checked here."""

from __future__ import annotations

import numpy as np

from chainform.errors import Error
from chainform.graph.graph import Graph
from chainform.graph.types import CALLS, Kind


class GraphError(Error):
    """A graph that breaks a rule; the message names the variable."""


def verify(graph: Graph) -> None:
    """Raise GraphError unless the graph keeps every rule.

    - names are distinct, inputs have no definition, constants have no factors;
    - a call has an argument and no terms, a computed variable has a term with a factor;
    - factors and arguments are earlier variables, ascending within a term, powers positive;
    - coefficients are not zero, and no two terms of a variable have the same factors;
    - a level is one more than the highest level used, zero for inputs and constants;
    - outputs and quantities have as many entries as their shape says.
    """
    _check_names(graph)
    _check_kinds(graph)
    _check_factors(graph)
    _check_terms(graph)
    _check_levels(graph)
    _check_blocks(graph)


def _fail(graph: Graph, variables: object, rule: str) -> None:
    bad = np.flatnonzero(np.asarray(variables))
    if len(bad):
        raise GraphError(f"variable {graph.names[int(bad[0])]} breaks a rule: {rule}")


def _owners(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return the variable that owns each term, and the one that owns each factor."""
    of_term = np.repeat(np.arange(len(graph)), np.diff(graph.term_start))
    return of_term, np.repeat(of_term, np.diff(graph.factor_start))


def _mask(graph: Graph, owners: np.ndarray) -> np.ndarray:
    mask = np.zeros(len(graph), dtype=np.bool_)
    mask[owners] = True
    return mask


def _check_names(graph: Graph) -> None:
    if len(set(graph.names)) != len(graph.names):
        raise GraphError("two variables have the same name")
    clash = set(graph.names) & set(graph.aliases)
    if clash:
        raise GraphError(f"{min(clash)} names one variable and is an alias of another")


def _check_kinds(graph: Graph) -> None:
    terms = np.diff(graph.term_start)
    of_term, of_factor = _owners(graph)
    del of_term
    has_factor = _mask(graph, of_factor)
    kind = graph.kind
    is_input = (kind == Kind.PARAMETER) | (kind == Kind.COORDINATE) | (kind == Kind.FORCE)
    declared = _mask(graph, np.asarray(list(graph.inputs), dtype=np.int64))
    _fail(graph, is_input != declared, "it is an input exactly if it is declared as one")
    _fail(graph, is_input & (terms > 0), "an input has no definition")
    _fail(graph, (kind == Kind.CONSTANT) & (has_factor | (terms > 1)), "a constant is one number")
    _fail(graph, (kind == Kind.COMPUTED) & ~has_factor, "a computed variable has a factor")
    is_call = kind == Kind.CALL
    _fail(graph, is_call != (graph.call > 0), "a call has a function")
    _fail(graph, is_call != (graph.argument >= 0), "a call, and only a call, has an argument")
    _fail(graph, is_call & (terms > 0), "a call has no terms")
    _fail(graph, graph.call >= len(CALLS), "its function is known")
    _fail(graph, graph.argument >= np.arange(len(graph)), "its argument comes before it")


def _check_factors(graph: Graph) -> None:
    _, of_factor = _owners(graph)
    _fail(graph, _mask(graph, of_factor[graph.factor < 0]), "its factors exist")
    _fail(graph, _mask(graph, of_factor[graph.factor >= of_factor]), "its factors come before it")
    _fail(graph, _mask(graph, of_factor[graph.power < 1]), "its powers are positive")
    term_of_factor = np.repeat(np.arange(len(graph.coefficient)), np.diff(graph.factor_start))
    unsorted = (np.diff(term_of_factor) == 0) & (np.diff(graph.factor) <= 0)
    _fail(graph, _mask(graph, of_factor[1:][unsorted]), "its factors ascend within a term")


def _check_terms(graph: Graph) -> None:
    of_term, _ = _owners(graph)
    zero = np.asarray([value == 0 for value in graph.coefficients], dtype=np.bool_)
    if len(zero):
        _fail(graph, _mask(graph, of_term[zero[graph.coefficient]]), "its coefficients are not zero")
    counts = np.diff(graph.term_start)
    starts, factors, powers = graph.factor_start, graph.factor, graph.power
    # Variables with one term cannot repeat a monomial, and most have one or a few.
    for v in np.flatnonzero(counts > 1):
        spans = [
            slice(starts[t], starts[t + 1])
            for t in range(graph.term_start[v], graph.term_start[v + 1])
        ]
        seen = {(factors[s].tobytes(), powers[s].tobytes()) for s in spans}
        if len(seen) != len(spans):
            _fail(graph, np.arange(len(graph)) == v, "no two of its terms have the same factors")


def _check_levels(graph: Graph) -> None:
    _, of_factor = _owners(graph)
    highest = np.full(len(graph), -1, dtype=np.int64)
    np.maximum.at(highest, of_factor, graph.level[graph.factor])
    calls = np.flatnonzero(graph.argument >= 0)
    highest[calls] = graph.level[graph.argument[calls]]
    _fail(graph, graph.level != highest + 1, "its level is one above the highest it uses")


def _check_blocks(graph: Graph) -> None:
    for block in (*graph.outputs.values(), *graph.quantities.values()):
        size = int(np.prod(block.shape, dtype=np.int64))
        if not size == len(block.variables) == len(block.labels):
            raise GraphError(f"{block.name} does not have the entries its shape {block.shape} asks for")
        if any(not 0 <= v < len(graph) for v in block.variables):
            raise GraphError(f"{block.name} names a variable that does not exist")
