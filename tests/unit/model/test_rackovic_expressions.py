"""What Racković 1996 prints, as files of expressions: counted as there, and reduced."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.graph import Cost
from chainform.model.expression_model import model_of_text
from zoo import reference, reference_data

Q = np.array([0.3, -0.7, 0.4, 1.1, -0.5, 0.9])


@cache
def arm() -> cf.Mechanism:
    return reference("rackovic_2_1")


@cache
def numbers() -> dict[str, Any]:
    return cf.derive(arm(), ["H", "C", "hG"]).evaluate(Q)


def totals(count: Cost) -> tuple[int, int]:
    return count.multiplications, count.additions


# --- H_11 of Section 3.5.2 -----------------------------------------------------------------------

H_11 = """
s2 = sin(q2)   # of the angles
s3 = sin(q3)
s4 = sin(q4)
s5 = sin(q5)
c2 = cos(q2)
c3 = cos(q3)
c4 = cos(q4)
c5 = cos(q5)
S2 = sin(2*q2)   # of twice the angles
S3 = sin(2*q3)
S4 = sin(2*q4)
C2 = cos(2*q2)
C3 = cos(2*q3)
C4 = cos(2*q4)
s34 = sin(q3 + q4)
c34 = cos(q3 + q4)
s334 = sin(2*q3 + q4)
H_11 = (4.007625 + 6.8*s2^2 + 1.8*S2*S3 - 3.6*c2^2*c3^2 - 3.6*s2^2*s3^2 + 0.133375*S2*S3*C4
  + 0.26675*S2*C3*c4*s4 + 0.26675*C2*c3*s3*S4 - 0.181625*c5^2 + 0.085125*s2^2*c3^2*c4^2
  + 0.085125*c2^2*s3^2*c4^2 + 0.085125*c2^2*c3^2*s4^2 + 0.085125*s2^2*s3^2*s4^2
  + 0.012*c2^2*c3^2*c4^2*s5^2
  - 0.0968125*S2*S3*C4*s5^2   # printed with six digits
  - 0.193625*S2*C3*c4*s4*s5^2 - 0.193625*C2*c3*s3*S4*s5^2 + 0.012*s2^2*s3^2*c4^2*s5^2
  + 0.012*s2^2*c3^2*s4^2*s5^2 + 0.012*c2^2*s3^2*s4^2*s5^2 + 8.32*s2^2*c3 + 4.16*S2*s3
  + 0.84*s2^2*c34 + 0.42*S2*s34 + 1.08*s2^2*c34*c5 + 0.54*S2*s34*c5 + 0.42*S2*s334
  + 0.84*s2^2*c3^2*c4   # the line that the print lacks: it has 44 terms, its table 44 additions
  + 1.08*s2^2*c3^2*c4*c5 + 0.54*S2*s334*c5 + 0.84*c2^2*s3^2*c4 + 0.84*C2*c3*s3*s4
  + 1.08*c2^2*s3^2*c4*c5 + 1.08*C2*c3*s3*s4*c5 + 0.2025*s2^2*c3^2*c4^2*c5
  + 0.10125*S2*S3*C4*c5 + 0.2025*S2*C3*c4*s4*c5 + 0.2025*c2^2*s3^2*c4^2*c5
  + 0.2025*C2*c3*s3*S4*c5 + 0.2025*c2^2*c3^2*s4^2*c5 + 0.2025*s2^2*s3^2*s4^2*c5
  + 0.181625*s2^2*c3^2*c4^2*c5^2 + 0.181625*c2^2*s3^2*c4^2*c5^2
  + 0.181625*c2^2*c3^2*s4^2*c5^2 + 0.181625*s2^2*s3^2*s4^2*c5^2)
"""


def test_the_printed_expression_of_h_11() -> None:
    """Table 3.2 has 225 multiplications and 44 additions for it, and so have we."""
    model = model_of_text(H_11)
    printed = reference_data("rackovic_2_1_operation_counts")["table_3_2"]["H_{i1}"][0]
    assert totals(model.count()) == tuple(printed) == (225, 44)
    assert model.evaluate(Q[:5])["H_11"] == pytest.approx(numbers()["mass_matrix"][0, 0], rel=1e-14)
    whole = cf.derive(arm(), ["H"])["H_1_1"].expand()
    assert model["H_11"].expand() == whole
    for effort, most in (("thesis", 70), ("fast", 50)):
        reduced = model.reduce(effort)
        assert sum(totals(reduced.count())) < most
        assert reduced["H_11"].expand() == whole


# --- Model 3.1: the program that the thesis ends with --------------------------------------------


@cache
def program() -> cf.Model:
    """Model 3.1 as a file of expressions, 256 lines, with 7/9 for its constant 0.777778."""
    lines = reference_data("rackovic_model_3_1")["program"]
    text = "\n".join(f"{line['lhs']} = {line['rhs']}" for line in lines)
    text = re.sub(r"\bq_([0-9])", r"q\1", text).replace("0.777778", "7/9")
    names = [line["lhs"] for line in lines if re.match(r"(H|C|h)_", line["lhs"])]
    return model_of_text(text, dict.fromkeys(names))


def entry(name: str) -> float:
    """Return the number of H_ij, C_jk_i or h_i_G."""
    kind, first, *rest = name.split("_")
    places = [int(digit) - 1 for digit in first]
    if kind == "C":
        return float(numbers()["coriolis"][int(rest[0]) - 1, places[0], places[1]])
    return float(numbers()["mass_matrix" if kind == "H" else "gravity"][tuple(places)])


def test_model_3_1_as_a_model() -> None:
    model = program()
    printed = reference_data("rackovic_model_3_1")["operation_count"]["corrected_here"]
    count = model.count()
    assert (count.sin, count.cos) == (printed["sin"], printed["cos"])
    assert count.multiplications <= printed["mul"]
    assert count.additions <= printed["add"]
    reduced = model.reduce("fast")
    assert sum(totals(reduced.count())) < 230 < sum(totals(count))
    for made in (model, reduced):
        for name, value in made.evaluate(Q[: model.mechanism.nq]).items():
            assert value == pytest.approx(entry(name), abs=1e-12)


# --- Tables 3.1 and 3.2: operations of each entry ------------------------------------------------


def labels(row: str) -> list[str]:
    """Return our names of the entries in a row of the tables: C_{ik}^j is C[j,i,k]."""
    if row.startswith("h"):
        return [f"hG_{i}" for i in range(1, 7)]
    column = row[4]
    if row.startswith("H"):
        return [f"H_{i}_{column}" for i in range(1, 7)]
    return [f"C_{row[-1]}_{i}_{column}" for i in range(1, 7)]


@pytest.mark.slow
def test_tables_of_operations_by_entry() -> None:
    """Most entries have the printed count, and none of Table 3.1 has more."""
    derived = cf.derive(arm(), ["hG", "H", "C"], formulation="closed_form")
    reduced = derived.reduce("expand(trig=true),trig_identities(sine_cost=30)")
    counts = reduced.count_by_entry()
    assert list(counts) == ["formulation", "expand", "trig_identities"]
    printed = reference_data("rackovic_2_1_operation_counts")
    sums: dict[str, int] = {}
    for stage, table, least in (
        ("expand", "table_3_1", 218),
        ("trig_identities", "table_3_2", 200),
    ):
        pairs = [
            (totals(counts[stage][label]), tuple(pair))
            for row, columns in printed[table].items()
            for label, pair in zip(labels(row), columns, strict=True)
        ]
        assert len(pairs) == 258
        assert sum(ours == theirs for ours, theirs in pairs) >= least
        sums[table] = sum(sum(theirs) - sum(ours) for ours, theirs in pairs)
        if table == "table_3_1":
            assert all(sum(ours) <= sum(theirs) for ours, theirs in pairs)
    assert min(sums.values()) > 0
    alone = reduced["H"][0, 0].count()
    assert counts["trig_identities"]["H_1_1"] == alone
