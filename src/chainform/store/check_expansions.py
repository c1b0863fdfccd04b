"""Stored expressions, looked over: text by its hash and by what the graph gives when it is
multiplied out anew, doubles by the exact numbers beside them."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, delete, func, select, text

from chainform.errors import RunError
from chainform.graph import LIMIT, Expansion, Graph
from chainform.store import schema
from chainform.store.expansions import expanded, form_options, is_form, stored_texts
from chainform.store.rows import double

TABLES = (schema.expansions, schema.expanded_terms, schema.expanded_factors)

_TERMS = """
SELECT place, coefficient, value FROM expanded_terms
WHERE graph = :graph AND variable = :variable AND form = :form ORDER BY place
"""
_FACTORS = """
SELECT term, place, symbol, power FROM expanded_factors
WHERE graph = :graph AND variable = :variable AND form = :form ORDER BY term, place
"""


def broken_expansions(
    connection: Connection, graph: int, content: Graph, repair: bool
) -> list[str]:
    """Return what is wrong with the stored expressions of a graph; with `repair` remove them.

    They are made anew when they are asked for. Their hash tells that they are what was stored;
    that they are those of this graph is seen by multiplying it out once more.
    """
    keys: set[tuple[Any, Any]] = set()
    for table in TABLES:
        query = select(table.c.variable, table.c.form).where(table.c.graph == graph).distinct()
        keys |= {(variable, form) for variable, form in connection.execute(query).all()}
    found: list[str] = []
    t = schema.expanded_terms.c
    stored = connection.execute(select(func.count()).where(t.graph == graph)).scalar()
    right = _expected(content, keys, max(LIMIT, stored or 0))
    for variable, form in sorted(keys, key=str):
        reason = _damage(connection, graph, variable, form, right.get((variable, form)))
        if reason is None:
            continue
        found.append(f"the expression of variable {variable} ({form}): {reason}")
        if repair:
            for table in reversed(TABLES):
                t = table.c
                whose = (t.graph == graph, t.variable == variable, t.form == form)
                connection.execute(delete(table).where(*whose))
    return found


def _expected(
    graph: Graph, keys: set[tuple[Any, Any]], limit: int
) -> dict[tuple[int, str], Expansion]:
    """Return the expressions of a graph of which some are stored, by variable and form.

    Those that cannot be made within the limit of terms are left out.
    """
    found: dict[tuple[int, str], Expansion] = {}
    for form in sorted({form for _, form in keys if is_form(form)}):
        variables = sorted(
            v for v, other in keys if other == form and isinstance(v, int) and 0 <= v < len(graph)
        )
        for chosen in (variables, *([v] for v in variables)):
            if all((v, form) in found for v in chosen):
                continue
            with suppress(RunError):
                made = expanded(graph, chosen, **form_options(form), limit=limit)
                found |= {(v, form): expansion for v, expansion in made.items()}
    return found


def _damage(
    connection: Connection, graph: int, variable: int, form: str, right: Expansion | None
) -> str | None:
    if right is None or variable not in stored_texts(connection, graph, [variable], form):
        return "its terms, factors or hash are not what was saved"
    key = {"graph": graph, "variable": variable, "form": form}
    e = schema.expansions.c
    query = select(e.terms).where(e.graph == graph, e.variable == variable, e.form == form)
    terms = connection.execute(text(_TERMS), key).all()
    if connection.execute(query).scalar() != len(terms):
        return "expansions.terms is not what was saved"
    for number, (place, coefficient, value) in enumerate(terms):
        if place != number:
            return f"expanded_terms.place is {place}, was {number}"
        if value != double(Fraction(coefficient)):
            return f"expanded_terms.value of {coefficient} (place {place}) is {value!r}"
    factors = connection.execute(text(_FACTORS), key).all()
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
