"""Analytic expressions in the database: the expansion of a variable, term by term."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from fractions import Fraction
from typing import Any

from sqlalchemy import Table, delete, func, insert, select, text

from chainform.errors import RunError
from chainform.graph import ANGLES, LIMIT, Expansion, Graph, expansion_text
from chainform.store import schema
from chainform.store.rows import double, exact, insert_rows
from chainform.store.schema import Transaction

TABLES = (schema.expansions, schema.expanded_terms, schema.expanded_factors)

TEXT = (
    "SELECT expression FROM expansion_texts"
    " WHERE graph = :graph AND number = :number AND form = :form"
)


def expression_hash(expression: str) -> str:
    """Return the hash by which a stored expression is known to be whole."""
    return hashlib.sha256(expression.encode()).hexdigest()


def expanded(
    graph: Graph, variables: list[int], form: str, limit: int | None = LIMIT
) -> dict[int, Expansion]:
    """Return variables multiplied out in a form of ANGLES, by variable; without brackets."""
    # Exact arithmetic takes long to import; what is stored is read without it.
    from chainform.algebra import formulas

    found = formulas(graph, variables, angles=form, brackets=False, limit=limit)
    return dict(zip(variables, found, strict=True))


def write_expansions(
    transaction: Transaction, graph: int, found: dict[int, Expansion], form: str
) -> None:
    """Write expansions as rows, in place of what is stored."""
    for variable, expansion in found.items():
        _remove(transaction, graph, variable, form)
        row = {"hash": expression_hash(expansion_text(expansion)), "terms": len(expansion)}
        key = {"graph": graph, "variable": variable, "form": form}
        transaction.execute(insert(schema.expansions).values(**key, **row))
        for table, rows in expansion_rows(graph, variable, form, expansion):
            insert_rows(transaction, table, len(rows), *zip(*rows, strict=True))


def _remove(transaction: Transaction, graph: int, variable: int, form: str) -> None:
    for table in reversed(TABLES):
        t = table.c
        whose = (t.graph == graph, t.variable == variable, t.form == form)
        transaction.execute(delete(table).where(*whose))


def expansion_rows(
    graph: int, variable: int, form: str, expansion: Expansion
) -> list[tuple[Table, list[tuple[Any, ...]]]]:
    """Return the rows of the terms and of the factors of an expansion."""
    key = (graph, variable, form)
    terms = [(*key, place, exact(k), double(k)) for place, (k, _) in enumerate(expansion.terms)]
    factors = [(*key, *factor) for factor in _factors(expansion)]
    return [(schema.expanded_terms, terms), (schema.expanded_factors, factors)]


def _factors(expansion: Expansion) -> list[tuple[Any, ...]]:
    names = [str(symbol) for symbol in expansion.symbols]
    return [
        (term, place, names[symbol], power)
        for term, (_, factors) in enumerate(expansion.terms)
        for place, (symbol, power) in enumerate(factors)
    ]


def stored_texts(
    transaction: Transaction, graph: int, variables: list[int], form: str
) -> dict[int, str]:
    """Return the expansions that are stored whole, as text, put together by the database."""
    table = schema.expansions.c
    query = select(table.variable, table.hash).where(table.graph == graph, table.form == form)
    rows: Any = transaction.execute(query).all()
    hashes: dict[int, str] = dict(rows)
    found: dict[int, str] = {}
    for v in sorted(set(variables) & hashes.keys()):
        values = {"graph": graph, "number": v, "form": form}
        expression: object = transaction.execute(text(TEXT), values).scalar()
        if isinstance(expression, str) and expression_hash(expression) == hashes[v]:
            found[v] = expression
    return found


# --- whether stored expressions are whole --------------------------------------------------------


_TERMS = """
SELECT place, coefficient, value FROM expanded_terms
WHERE graph = :graph AND variable = :variable AND form = :form ORDER BY place
"""
_FACTORS = """
SELECT term, place, symbol, power FROM expanded_factors
WHERE graph = :graph AND variable = :variable AND form = :form ORDER BY term, place
"""


def broken_expansions(
    transaction: Transaction, graph: int, content: Graph, repair: bool
) -> list[str]:
    """Return what is wrong with the stored expressions of a graph; with `repair` remove them.

    They are made anew when they are needed. Their hash tells that they are what was stored;
    that they are those of this graph is seen by multiplying it out once more.
    """
    keys: set[tuple[Any, Any]] = set()
    for table in TABLES:
        query = select(table.c.variable, table.c.form).where(table.c.graph == graph).distinct()
        keys |= {(variable, form) for variable, form in transaction.execute(query).all()}
    found: list[str] = []
    t = schema.expanded_terms.c
    stored = transaction.execute(select(func.count()).where(t.graph == graph)).scalar()
    right = _expected(content, keys, max(LIMIT, stored or 0))
    for variable, form in sorted(keys, key=str):
        reason = _damage(transaction, graph, variable, form, right.get((variable, form)))
        if reason is None:
            continue
        found.append(f"the expression of variable {variable} ({form}): {reason}")
        if repair:
            _remove(transaction, graph, variable, form)
    return found


def _expected(
    graph: Graph, keys: set[tuple[Any, Any]], limit: int
) -> dict[tuple[int, str], Expansion]:
    """Return the expressions of a graph of which some are stored, by variable and form.

    Those that cannot be made within the limit of terms are left out.
    """
    found: dict[tuple[int, str], Expansion] = {}
    for form in sorted({form for _, form in keys if form in ANGLES}):
        variables = sorted(
            v for v, other in keys if other == form and isinstance(v, int) and 0 <= v < len(graph)
        )
        for chosen in (variables, *([v] for v in variables)):
            if all((v, form) in found for v in chosen):
                continue
            with suppress(RunError):
                made = expanded(graph, chosen, form, limit)
                found |= {(v, form): expansion for v, expansion in made.items()}
    return found


def _damage(
    transaction: Transaction, graph: int, variable: int, form: str, right: Expansion | None
) -> str | None:
    if right is None or variable not in stored_texts(transaction, graph, [variable], form):
        return "its terms, factors or hash are not what was saved"
    key = {"graph": graph, "variable": variable, "form": form}
    e = schema.expansions.c
    query = select(e.terms).where(e.graph == graph, e.variable == variable, e.form == form)
    terms = transaction.execute(text(_TERMS), key).all()
    if transaction.execute(query).scalar() != len(terms):
        return "expansions.terms is not what was saved"
    for number, (place, coefficient, value) in enumerate(terms):
        if place != number:
            return f"expanded_terms.place is {place}, was {number}"
        if value != double(Fraction(coefficient)):
            return f"expanded_terms.value of {coefficient} (place {place}) is {value!r}"
    factors = transaction.execute(text(_FACTORS), key).all()
    misplaced = _misplaced([(term, place) for term, place, _, _ in factors], len(terms))
    if misplaced is None and _as_dict(terms, factors) != right.as_dict():
        return "it is not that of this graph"
    return misplaced


def _as_dict(terms: Any, factors: Any) -> dict[tuple[tuple[str, int], ...], Fraction]:
    """Return the rows of an expression as coefficients by monomial."""
    monomials: list[list[tuple[str, int]]] = [[] for _ in range(len(terms))]
    for term, _, symbol, power in factors:
        monomials[int(term)].append((symbol, power))
    pairs = zip(monomials, terms, strict=True)
    return {tuple(sorted(monomial)): Fraction(row[1]) for monomial, row in pairs}


def _misplaced(factors: Any, terms: int) -> str | None:
    before, expected = -1, 0
    for term, place in factors:
        expected = expected + 1 if term == before else 0
        if place != expected or not 0 <= term < terms:
            return f"expanded_factors.place is {place} in term {term}, was {expected}"
        before = term
    return None
