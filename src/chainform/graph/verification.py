"""Which graphs are legal. Everything downstream relies on what is checked here."""

from __future__ import annotations

from collections import Counter
from math import prod

import numpy as np

from chainform.errors import Error
from chainform.graph.types import BLOCK_NAME, CALLS, GROUPS, LARGEST_POWER, NAME, Graph, Kind


class GraphError(Error):
    """A graph that breaks a rule; the message names the variable."""


def verify(graph: Graph) -> None:
    """Raise GraphError unless the graph keeps every rule.

    - the arrays fit together;
    - names are distinct and consist of letters, digits, dots and underscores;
    - inputs are declared under their own name, no two of a group at one index, and have no
      definition; constants are one number;
    - a call has an argument and no terms, a computed variable has a term with a factor;
    - factors and arguments are earlier variables, ascending within a term, powers positive;
    - coefficients are not zero, and no two terms of a variable have the same factors;
    - a level is one more than the highest level used, zero for inputs and constants;
    - outputs and quantities have as many entries as their shape says.
    """
    _check_arrays(graph)
    _check_names(graph)
    _check_inputs(graph)
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


def _check_arrays(graph: Graph) -> None:
    rows = (graph.kind, graph.level, graph.call, graph.argument, graph.term_start[1:])
    terms, factors = len(graph.coefficient), len(graph.factor)
    if any(len(row) != len(graph) for row in rows):
        raise GraphError("the arrays of variables differ in length")
    if len(graph.factor_start) != terms + 1 or len(graph.power) != factors:
        raise GraphError("the arrays of terms or of factors differ in length")
    for starts, last in ((graph.term_start, terms), (graph.factor_start, factors)):
        if starts[0] != 0 or starts[-1] != last or np.any(np.diff(starts) < 0):
            raise GraphError("the terms or factors do not follow one another without a gap")


def _check_names(graph: Graph) -> None:
    name, count = Counter(graph.names).most_common(1)[0] if graph.names else ("", 0)
    if count > 1:
        raise GraphError(f"two variables have the name {name}")
    numbers = set(graph.names)
    for alias, variable in graph.aliases.items():
        if alias in numbers:
            raise GraphError(f"{alias} names one variable and is an alias of another")
        if not 0 <= variable < len(graph):
            raise GraphError(f"{alias} is an alias of a variable that does not exist")
    for name in (*graph.names, *graph.aliases):
        _check_name(name)


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise GraphError(f"{name!r} is not a name: letters, digits, dots and underscores are")


def _check_inputs(graph: Graph) -> None:
    names: dict[tuple[str, int], str] = {}
    for v, given in graph.inputs.items():
        if not 0 <= v < len(graph):
            raise GraphError(f"the input {given.name} is a variable that does not exist")
        if graph.names[v] != given.name:
            raise GraphError(f"variable {graph.names[v]} is declared as the input {given.name}")
        if GROUPS.get(given.group) != graph.kind[v] or given.index < 0:
            raise GraphError(f"variable {given.name} breaks a rule: its group gives its kind")
        other = names.setdefault((given.group, given.index), given.name)
        if other != given.name:
            raise GraphError(f"{other} and {given.name} are both {given.group}[{given.index}]")


def _check_kinds(graph: Graph) -> None:
    terms = np.diff(graph.term_start)
    _, of_factor = _owners(graph)
    has_factor = _mask(graph, of_factor)
    kind = graph.kind
    is_input = (kind == Kind.PARAMETER) | (kind == Kind.COORDINATE) | (kind == Kind.FORCE)
    declared = _mask(graph, np.asarray(list(graph.inputs), dtype=np.int64))
    _fail(graph, kind > max(Kind), "its kind is known")
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
    high = graph.power > LARGEST_POWER
    _fail(graph, _mask(graph, of_factor[high]), f"its powers are at most {LARGEST_POWER}")
    term_of_factor = np.repeat(np.arange(len(graph.coefficient)), np.diff(graph.factor_start))
    unsorted = (np.diff(term_of_factor) == 0) & (np.diff(graph.factor) <= 0)
    _fail(graph, _mask(graph, of_factor[1:][unsorted]), "its factors ascend within a term")


def _check_terms(graph: Graph) -> None:
    of_term, _ = _owners(graph)
    unknown = (graph.coefficient < 0) | (graph.coefficient >= len(graph.coefficients))
    _fail(graph, _mask(graph, of_term[unknown]), "its coefficients exist")
    zeros = [index for index, value in enumerate(graph.coefficients) if value == 0]
    zero = np.isin(graph.coefficient, zeros)
    _fail(graph, _mask(graph, of_term[zero]), "its coefficients are not zero")
    starts, factors, powers = graph.factor_start, graph.factor, graph.power
    for v in _suspects(graph, of_term):
        spans = [
            slice(starts[t], starts[t + 1])
            for t in range(graph.term_start[v], graph.term_start[v + 1])
        ]
        seen = {(factors[s].tobytes(), powers[s].tobytes()) for s in spans}
        if len(seen) != len(spans):
            _fail(graph, np.arange(len(graph)) == v, "no two of its terms have the same factors")


def _suspects(graph: Graph, of_term: np.ndarray) -> np.ndarray:
    """Return the variables that may have two terms with the same factors, among them all that do.

    Each term gets a number made of its factors and its owner; equal terms have equal numbers, and
    different ones hardly ever do, so that only a few variables are looked at closely.
    """
    first, second, third = (np.uint64(k) for k in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 29))
    mixed = graph.factor.astype(np.uint64) * first + graph.power.astype(np.uint64) * second
    mixed = (mixed ^ (mixed >> third)) * second
    total = np.concatenate([[np.uint64(0)], np.cumsum(mixed, dtype=np.uint64)])
    number = total[graph.factor_start[1:]] - total[graph.factor_start[:-1]]
    number ^= (of_term.astype(np.uint64) + np.uint64(1)) * first
    order = np.argsort(number, kind="stable")
    is_equal = number[order][1:] == number[order][:-1]
    return np.unique(of_term[order[1:][is_equal]])


def _check_levels(graph: Graph) -> None:
    _, of_factor = _owners(graph)
    highest = np.full(len(graph), -1, dtype=np.int64)
    np.maximum.at(highest, of_factor, graph.level[graph.factor])
    calls = np.flatnonzero(graph.argument >= 0)
    highest[calls] = graph.level[graph.argument[calls]]
    _fail(graph, graph.level != highest + 1, "its level is one above the highest it uses")


def _check_blocks(graph: Graph) -> None:
    for name, block in (*graph.outputs.items(), *graph.quantities.items()):
        if not BLOCK_NAME.fullmatch(block.name):
            raise GraphError(f"{block.name!r} cannot be the name of an output or a quantity")
        for label in block.labels:
            _check_name(label)
        if name != block.name:
            raise GraphError(f"{block.name} is listed under the name {name}")
        is_shape = min(block.shape, default=0) >= 0 and len(block.shape) <= 32
        if not is_shape or not prod(block.shape) == len(block.variables) == len(block.labels):
            raise GraphError(
                f"{block.name} does not have the entries its shape {block.shape} asks for"
            )
        if any(not 0 <= v < len(graph) for v in block.variables):
            raise GraphError(f"{block.name} names a variable that does not exist")
