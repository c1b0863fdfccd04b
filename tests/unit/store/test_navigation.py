"""Following a model inside the database: the same formulas and values as in memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import chainform as cf
import zoo
from chainform.algebra import formulas
from chainform.errors import Error, RunError
from chainform.graph import (
    ANGLES,
    FLOAT,
    Graph,
    cost,
    cost_once,
    definition_text,
    evaluate,
    expand,
    expansion_text,
    parse_graph,
)
from chainform.store import Database, RevisionRecord
from strategies import graphs

STATE = {"q1": 0.3, "q2": -1.1}


def same_values(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert list(found) == list(expected)
    for name, array in expected.items():
        wanted = array.astype(np.float64)
        assert found[name].shape == wanted.shape
        np.testing.assert_allclose(found[name], wanted, rtol=1e-12, atol=1e-300)


def test_values_by_level(database: Database, graph: Graph) -> None:
    database.save(graph, RevisionRecord("arm"))
    same_values(database.evaluate("arm", STATE), evaluate(graph, STATE, FLOAT))
    given = {**STATE, "m_1": 2.5, "unknown": 1.0}
    names = ["e_1", "energy"]
    expected = evaluate(graph, given, FLOAT, names)
    same_values(database.evaluate("arm", given, names), expected)
    assert database.evaluate("arm", given, []) == {}


@pytest.mark.slow
def test_values_of_models(database: Database) -> None:
    for name in ("rackovic_2_1", "puma560", "humanoid_30"):
        model = cf.derive(
            zoo.reference(name), outputs=["inverse_dynamics", "mass_matrix"], parameters="symbolic"
        )
        database.save(model.graph, RevisionRecord(name))
        inputs = [i for i in model.graph.inputs.values() if i.group != "parameter"]
        state = {i.name: math.sin(1.7 * i.index + len(i.name)) for i in inputs}
        same_values(database.evaluate(name, state), evaluate(model.graph, state, FLOAT))


def test_values_and_formulas_of_random_graphs(database: Database) -> None:
    @settings(
        max_examples=25,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.differing_executors],
    )
    @given(graphs())
    def agree(graph: Graph) -> None:
        reference = database.save(graph, RevisionRecord("random")).reference
        rows = database.query(
            "SELECT number, formula FROM formulas WHERE model = :model AND revision = :revision",
            {"model": "random", "revision": int(reference.partition("@")[2])},
        )
        texts = {row["number"]: row["formula"] for row in rows}
        assert texts == {v: definition_text(graph, v) for v in range(len(graph))}
        state = {i.name: 0.25 + 0.5 * i.index for i in graph.inputs.values()}
        try:
            expected = evaluate(graph, state, FLOAT)
        except RunError:
            with pytest.raises(RunError):
                database.evaluate(reference, state)
            return
        found = database.evaluate(reference, state)
        for name, array in expected.items():
            # Random sums cancel; the error is measured beside the largest value.
            wanted = array.astype(np.float64)
            size = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
            np.testing.assert_allclose(found[name], wanted, rtol=1e-12, atol=1e-12 * size)

    agree()


def test_missing_and_impossible_values(database: Database, graph: Graph) -> None:
    database.save(graph, RevisionRecord("arm"))
    with pytest.raises(RunError, match="no value is given for q2"):
        database.evaluate("arm", {"q1": 1.0})
    with pytest.raises(RunError):
        database.evaluate("arm", {**STATE, "length": 0.0})
    with pytest.raises(RunError, match="no quantity nothing"):
        database.evaluate("arm", STATE, ["nothing"])
    same_values(database.evaluate("arm", STATE), evaluate(graph, STATE, FLOAT))


@pytest.mark.parametrize("call", ["sqrt", "log", "asin", "acos"])
def test_calls_without_a_value(database: Database, call: str) -> None:
    text = f"chainform graph 1\ninput q 0 x\ny = {call}(x)\noutput out []: y\n"
    database.save(parse_graph(text), RevisionRecord("call"))
    with pytest.raises(RunError):
        database.evaluate("call", {"x": -2.0})


def test_cone_and_users(database: Database, graph: Graph) -> None:
    database.save(graph, RevisionRecord("arm"))
    for v, name in enumerate(graph.names):
        cone = [graph.names[w] for w in np.flatnonzero(graph.cone([v]))]
        assert database.cone("arm", name) == cone
        direct, whole = users(graph, v)
        assert database.uses("arm", name) == direct
        assert database.uses("arm", name, whole=True) == whole
        assert database.formula("arm", name) == definition_text(graph, v)
    assert database.cone("arm", "weight") == database.cone("arm", "hG_1")
    assert database.formula("arm", "E") == database.formula("arm", "square")
    with pytest.raises(Error, match="did you mean 'square"):
        database.cone("arm", "sqare")


def users(graph: Graph, variable: int) -> tuple[list[str], list[str]]:
    offsets, rows = graph.users()
    direct = sorted(set(rows[offsets[variable] : offsets[variable + 1]].tolist()))
    whole = [w for w in range(len(graph)) if w != variable and graph.cone([w])[variable]]
    return [graph.names[w] for w in direct], [graph.names[w] for w in whole]


def test_expansions_are_stored(database: Database, graph: Graph) -> None:
    database.save(graph, RevisionRecord("arm"))
    for angles in ANGLES:
        for quantity in ("gravity", "energy", "e_1"):
            block = graph.block(quantity)
            found = formulas(graph, block.variables, angles=angles, brackets=False)
            expected = dict(zip(block.labels, map(expansion_text, found), strict=True))
            for _ in range(2):
                texts = database.expand("arm", quantity, angles=angles)
                assert texts == expected
    assert database.expand("arm", "weight")["weight"] == database.expand("arm", "gravity")["hG_1"]
    rows = database.query("SELECT name, expression FROM expressions WHERE form = 'split'")
    assert {row["name"] for row in rows} == {"hG_1", "zero", "half", "square"}


def test_expansion_of_a_mechanism(database: Database) -> None:
    model = cf.derive(zoo.reference("rackovic_2_1"), outputs=["mass_matrix"])
    database.save(model.graph, RevisionRecord("chain"))
    block = model.graph.block("mass_matrix")
    found = map(expansion_text, expand(model.graph, block.variables))
    assert database.expand("chain", "mass_matrix") == dict(zip(block.labels, found, strict=True))


def test_views(database: Database, graph: Graph) -> None:
    database.save(graph, RevisionRecord("arm"))
    counts = {
        row["quantity"]: row
        for row in database.query("SELECT * FROM operation_counts WHERE model = 'arm'")
    }
    assert set(counts) == {"", "gravity", "energy"}
    for name, row in counts.items():
        wanted = [name] if name else None
        for column, value in cost(graph, wanted).as_dict().items():
            assert row[column] == value
        for column, value in cost_once(graph, wanted).as_dict().items():
            assert row[f"once_{column}"] == value
    entries = database.query(
        "SELECT label, name, indices, shape FROM quantities WHERE quantity = 'e_1' ORDER BY label"
    )
    assert [tuple(row.values()) for row in entries] == [
        ("e_1_x", "zero", "1", "3"),
        ("e_1_y", "half", "2", "3"),
        ("e_1_z", "square", "3", "3"),
    ]
    used = database.query("SELECT uses FROM uses WHERE name = 'hG_1' ORDER BY uses")
    assert [row["uses"] for row in used] == ["inverse", "m_1", "sin_q1", "square"]
    formulas = database.query("SELECT name, formula FROM formulas WHERE kind = 'call'")
    assert {"name": "inverse", "formula": "reciprocal(length)"} in formulas
