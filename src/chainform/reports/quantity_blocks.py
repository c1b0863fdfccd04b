"""What the outputs of a model are: the equation of motion, and a table with units and meanings.

Texts of the catalogue, such as `T = qd^T H qd / 2`, are set with the symbols that formulas have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from chainform.emitters import (
    ZERO,
    Equation,
    Formula,
    Letters,
    NameFormula,
    product_formula,
    sum_formula,
)
from chainform.expressions import Mark, Symbol, parse_symbol
from chainform.mechanism import EffortElement, ForceElement, Mechanism, MomentElement
from chainform.model import CATALOGUE, Model, letter_of, notation_of, parse_request
from chainform.pipeline import derive, quantities
from chainform.reports.blocks import DataTable, InlineText, ReportBlock, TableCell
from chainform.reports.mechanism_blocks import unit_text

NAME = re.compile(r"([A-Za-z]+)(?:_([a-z]+))?('?)(?:\(([A-Z])\))?(?:\^(T|−1))?")
"""A name in an equation of the catalogue: indices, a prime, a frame in brackets, a power."""
KNOWN = frozenset(
    {"q", "qd", "qdd", "tau", "sigma", "theta", "lambda", "gamma", "pi"}
    | {entry.letter for entry in CATALOGUE.values() if entry.letter}
)
INPUTS = {
    "q": "coordinates $q$",
    "qd": r"rates $\dot{q}$",
    "qdd": r"accelerations $\ddot{q}$",
    "tau": r"efforts $\tau$",
    "sigma": r"forces in the loops $\sigma$",
    "wrench": "wrenches",
    "x": "states of actuators $x$",
    "u": "signals $u$",
    "force": "unknown forces",
    "t": "the time $t$",
    "direction": "directions",
    "weights": "weights",
    "parameter": "parameters",
}
"""What the inputs are, by their groups."""
UNIT = re.compile(r"[uvp]_[ikl]")


# --- the equation of motion ---------------------------------------------------------------------


def equation_of_motion(model: Model) -> tuple[tuple[Equation, ...], InlineText]:
    """Return the equation of motion, with those forces that there are, and what letters mean.

    Behind it stand the forces by rates, and the condition that loops stay closed.
    """
    mechanism = model.mechanism
    terms = [(1, r"H \ddot{q}"), (1, "c"), (1, "h^{G}")]
    lines = [Equation(_symbols("c_{i}"), _symbols(r"\dot{q}^{T} C_{i} \dot{q}"))]
    words = "with $C_{i}$ the matrix of Christoffel symbols for coordinate $i$"
    if mechanism.quaternions:
        lines = [Equation(_symbols("c"), _symbols(r"C_{m} \dot{q}"))]
        words = r"with $C_{m}$ the matrix of velocity terms; $\dot{q}$ the rates, in body axes "
        words += "where a joint has a quaternion"
    if _has_passive(model):
        terms.append((1, "P"))
        words += "; $P$ what friction and springs add"
    if _has_forces(mechanism) and "forces" not in model.without:
        terms.append((-1, "Q"))
        words += "; $Q$ the forces of laws"
    if mechanism.loops:
        is_complete = model.closure == "complete"
        terms.append((-1, r"J^{T} \sigma") if is_complete else (1, r"B \sigma"))
        words += r"; $\sigma$ the forces in the loops, which stay closed where $J$ $\dot{q}$ is 0"
        lines.append(Equation(_symbols(r"J \dot{q}"), ZERO))
        words += "" if is_complete else "; $B$ = −$J^{T}$ in the rows of basic joints"
    if model.wrenches:
        terms.append((-1, "J_{F}^{T} w"))
        words += "; $w$ the wrenches, and $J_{F}$ the Jacobian of their frames"
    if any(constraint.kind != "unilateral" for constraint in mechanism.constraints):
        words += r"; $\tau$ includes the forces of the constraints"
    right = sum_formula(_symbols(symbols, sign) for sign, symbols in terms)
    return (Equation(_symbols(r"\tau"), right), *lines), _inline(f"{words}.")


def _has_passive(model: Model) -> bool:
    mechanism = model.mechanism
    if "passive" not in {entry.name for entry in quantities(mechanism)}:
        return False
    passive = derive(mechanism, ["passive"], without=list(model.without))["passive"]
    return passive.sparsity().indices.size > 0


def _has_forces(mechanism: Mechanism) -> bool:
    kinds = (ForceElement, MomentElement, EffortElement)
    return bool(mechanism.forces) or any(isinstance(e, kinds) for e in mechanism.elements)


def _symbols(text: str, sign: int = 1) -> Formula:
    """Return a product of symbols."""
    return product_formula(
        Fraction(sign), [NameFormula(parse_symbol(symbol)) for symbol in text.split()]
    )


def _inline(text: str) -> InlineText:
    """Return a text in which symbols stand between dollar signs."""
    parts = text.split("$")
    return tuple(parse_symbol(part) if k % 2 else part for k, part in enumerate(parts))


def level_words(model: Model) -> InlineText:
    """Return what the levels of formulas are, and which inputs they begin with."""
    graph = model.graph
    needed = graph.cone(graph.output_variables())
    groups = {item.group for v, item in graph.inputs.items() if needed[v]}
    words = "Each variable is a sum of products, or a function, of variables of lower levels."
    found = ", ".join(text for group, text in INPUTS.items() if group in groups)
    return _inline(f"{words} Level 0 are the inputs: {found}." if found else words)


# --- the table ----------------------------------------------------------------------------------


def quantity_blocks(model: Model) -> list[ReportBlock]:
    """Return the outputs of a model with shape, unit, meaning and equation."""
    rows = [_quantity(model, name) for name in model.outputs]
    titles = ("output", "letter", "shape", "unit", "meaning", "equation")
    caption = (
        "$u_{i}$ is rad, or m where rate $i$ slides; $i$, $k$, $l$ are the indices of an entry."
    )
    return [DataTable.of(titles, rows, (), _inline(caption) if model.has_bodies else "")]


def _quantity(model: Model, name: str) -> tuple[TableCell, ...]:
    shape = " × ".join(map(str, model[name].shape)) or "1"
    entry = CATALOGUE.get(name) if model.has_bodies else None
    if entry is None and model.has_bodies and name not in model.defined:
        entry = CATALOGUE.get(parse_request(name).name)
    if entry is None:
        letter = letter_of(name) if model.has_bodies else None
        return name, letter or "", shape, "", "", model.defined.get(name, "")
    letters = Letters(notation_of(model.mechanism))
    letter = letters(entry.letter) if entry.letter else ""
    equation = tuple(_with_symbols(entry.equation.replace("-", "−"), letters))
    if "=" not in entry.equation:
        equation = (entry.equation,)
    return name, letter, shape, _unit(entry.unit), entry.meaning, equation


def _unit(text: str) -> InlineText:
    """Return a unit with the symbols of what depends on the rate."""
    names = UNIT.findall(text)
    texts = UNIT.split(unit_text(text))
    found = [part for pair in zip(texts, map(_index, names), strict=False) for part in pair]
    return tuple(part for part in (*found, texts[-1]) if part)


def _index(name: str) -> Symbol:
    return Symbol(Mark(name[0]), below=(Mark(name[2:]),))


def _with_symbols(text: str, letters: Letters) -> Iterator[str | Symbol]:
    """Yield an equation of the catalogue: symbols, and what stands between them."""
    end = 0
    for found in NAME.finditer(text):
        name, index, prime, frame, power = found.groups()
        is_change = name[0] == "d" and (len(name) == 2 or name[1:] in KNOWN)
        letter = name[1:] if is_change else name
        if letter not in KNOWN and len(letter) > 1:
            continue
        yield text[end : found.start()] + ("d" if is_change else "")
        below = tuple(Mark(mark) for mark in index or frame or "")
        symbol = letters(letter)
        above = (*symbol.above, *(Mark(mark) for mark in power or ""))
        yield replace(symbol, below=(*symbol.below, *below), above=above, primes=len(prime))
        end = found.end()
    yield text[end:]
