"""Differences: by parameter and by entry; other values are told from other formulas."""

from __future__ import annotations

from fractions import Fraction

import pytest

from chainform.graph import Graph, graph_text, parse_graph, set_defaults, substitute
from chainform.store import Database, RevisionDifference, RevisionRecord


def compared(
    database: Database, one: Graph, other: Graph, *, expand: bool = False
) -> RevisionDifference:
    database.save(one, RevisionRecord("arm"))
    database.save(other, RevisionRecord("arm"))
    return database.diff("arm@1", "arm@2", expand=expand)


def test_binding_is_a_change_of_entries(database: Database, graph: Graph) -> None:
    found = compared(database, graph, substitute(graph, {"m_1": Fraction("1.5")}))
    assert [str(p) for p in found.parameters] == ["m_1 0.5 (free) -> not named"]
    assert {entry.label for entry in found.entries} == {"hG_1", "E"}
    assert not any(entry.same_values for entry in found.entries)
    assert found.outputs_changed == ("gravity", "energy")
    assert found.outputs_rewritten == ()


def test_binding_to_the_default_keeps_the_values(database: Database, graph: Graph) -> None:
    found = compared(database, graph, substitute(graph, {"m_1": Fraction("0.5")}))
    assert all(entry.same_values for entry in found.entries)
    assert found.outputs_changed == ()
    assert found.outputs_rewritten == ("gravity", "energy")
    assert "same values, other formulas: gravity, energy" in str(found)


def test_other_defaults_are_no_other_formulas(database: Database, graph: Graph) -> None:
    found = compared(database, graph, set_defaults(graph, {"m_1": Fraction("0.7")}))
    assert found
    assert [str(p) for p in found.parameters] == ["m_1 0.5 (free) -> 0.7 (free)"]
    assert (found.entries, found.changed, found.has_other_formulas) == ((), {}, False)
    assert "the formulas are the same; only values of parameters changed" in str(found)


def test_the_same_values_by_other_formulas(database: Database, graph: Graph) -> None:
    text = graph_text(graph).replace(
        "sin_q1 = sin(q1)", "turned = -q1\nback = sin(turned)\nsin_q1 = -back"
    )
    found = compared(database, graph, parse_graph(text))
    assert {entry.label for entry in found.entries} == {"hG_1", "E"}
    assert all(entry.same_values for entry in found.entries)
    assert found.changed == {"sin_q1": ("sin(q1)", "-back")}
    assert set(found.added) == {"turned", "back"}


def test_entries_go_by_label_not_by_variable(database: Database, graph: Graph) -> None:
    """A variable that is renamed is no other entry, and gives no lone plus or minus."""
    text = graph_text(graph).replace("hG_1 =", "sum_1 =").replace("[2]: hG_1 ", "[2]: hG_1:sum_1 ")
    text = text.replace("alias weight = hG_1", "alias weight = sum_1")
    found = compared(database, graph, parse_graph(text))
    assert found.entries == ()
    assert (found.removed, found.added) == ({}, {})
    changed = parse_graph(text.replace("9.81*m_1", "9.8*m_1"))
    database.save(changed, RevisionRecord("arm"))
    (entry,) = database.diff("arm@1", "arm@3").entries
    assert (entry.output, entry.label, entry.same_values) == ("gravity", "hG_1", False)
    assert entry.before == "9.81*m_1*sin_q1 + square - inverse"
    assert entry.after == "9.8*m_1*sin_q1 + square - inverse"


def test_a_change_below_the_entry(database: Database, graph: Graph) -> None:
    other = parse_graph(graph_text(graph).replace("both = q1 + q2", "both = q1 - q2"))
    found = compared(database, graph, other)
    lines = str(found).splitlines()
    assert any(line.startswith("~ hG_1 = ") for line in lines)
    assert "- both = q1 + q2" in lines
    assert "+ both = q1 - q2" in lines
    expanded = database.diff("arm@1", "arm@2", expand=True)
    (first, *_) = (entry for entry in expanded.entries if entry.label == "E")
    assert first.before != first.after
    assert "sin(q2)" in str(first.after)


@pytest.mark.parametrize("expand", [False, True])
def test_outputs_that_come_and_go(database: Database, graph: Graph, expand: bool) -> None:
    text = graph_text(graph).replace("output energy []: E:square\n", "output power []: half\n")
    found = compared(database, graph, parse_graph(text), expand=expand)
    assert (found.outputs_added, found.outputs_removed) == (("power",), ("energy",))
    rows = {entry.label: (entry.before is None, entry.after is None) for entry in found.entries}
    assert rows == {"E": (False, True), "half": (True, False)}
