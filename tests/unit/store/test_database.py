"""Saving and loading, the history of a model, and sharing of content."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import chainform as cf
import zoo
from chainform.errors import Error, StoreError
from chainform.graph import Graph, cost, cost_once, graph_text, parse_graph, set_defaults, verify
from chainform.store import Database, MechanismFile, ParameterEntry, RevisionRecord
from strategies import graphs


def bound(graph: Graph, value: str) -> Graph:
    return set_defaults(graph, {"m_1": Fraction(value)})


def assert_same(found: Graph, saved: Graph) -> None:
    verify(found)
    assert graph_text(found) == graph_text(saved)
    assert found.inputs == dict(saved.inputs)
    assert found.outputs == dict(saved.outputs)
    for name in ("kind", "level", "call", "argument", "term_start", "factor_start", "power"):
        assert getattr(found, name).dtype == getattr(saved, name).dtype


def test_a_graph_comes_back_from_cache_and_rows(database: Database, graph: Graph) -> None:
    saved = database.save(graph, RevisionRecord("arm"))
    from_cache, revision = database.load("arm")
    assert_same(from_cache, graph)
    assert revision == saved
    database.drop_caches()
    assert_same(database.load("arm", 1)[0], graph)
    assert database.check() == []


@pytest.mark.slow
def test_random_graphs_come_back(tmp_path: Path) -> None:
    with Database.open(str(tmp_path / "many.db")) as database:
        _round_trips(database)


@pytest.mark.slow
def test_random_graphs_come_back_from_postgres(postgres_url: str) -> None:
    with Database.open(postgres_url) as database:
        _round_trips(database)


def _round_trips(database: Database) -> None:
    @settings(
        max_examples=30,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.differing_executors],
    )
    @given(graphs())
    def round_trip(graph: Graph) -> None:
        database.save(graph, RevisionRecord("random"))
        assert_same(database.load("random")[0], graph)
        database.drop_caches()
        assert_same(database.load("random")[0], graph)

    round_trip()
    assert database.check() == []


@pytest.mark.parametrize("name", ["rackovic_2_1", "puma560", "humanoid_30"])
def test_models_come_back(database: Database, name: str) -> None:
    outputs = ["inverse_dynamics", "mass_matrix"]
    model = cf.derive(zoo.reference(name), outputs=outputs, parameters="symbolic")
    saved = database.save(model.graph, RevisionRecord(name))
    assert saved.outputs == model.outputs
    assert (saved.cost, saved.once) == (cost(model.graph), cost_once(model.graph))
    assert_same(database.load(name)[0], model.graph)
    database.drop_caches()
    assert_same(database.load(name)[0], model.graph)


def test_the_whole_record_comes_back(database: Database, graph: Graph) -> None:
    moment = datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)
    mechanism = MechanismFile(
        "Puma", '{"a": 1}', "puma.urdf", "application/xml", b"\x00\xff<robot>"
    )
    parameters = (
        ParameterEntry("m_1", Fraction(1, 3), "kg", "link'; DROP TABLE models; --"),
        ParameterEntry("free", None),
    )
    record = RevisionRecord(
        name="arm 'one' ü",
        formulation="newton_euler",
        step="derive",
        options={"outputs": ["gravity"], "depth": 2},
        author="Ann",
        note="first\ntry",
        tags=("good", "draft"),
        seconds=1.5,
        mechanism=mechanism,
        parameters=parameters,
        created=moment,
    )
    saved = database.save(graph, record)
    assert saved == database.revision("arm 'one' ü@good")
    assert (saved.created, saved.seconds, saved.tags) == (moment, 1.5, ("draft", "good"))
    assert (saved.options, saved.mechanism) == (record.options, "Puma")
    assert (saved.author, saved.note, saved.formulation) == ("Ann", "first\ntry", "newton_euler")
    assert (saved.variables, saved.terms) == (len(graph), len(graph.coefficient))
    assert database.mechanism_file(saved.reference) == mechanism
    assert database.parameters(saved.reference) == parameters


def test_parameters_are_taken_from_the_graph(database: Database, graph: Graph) -> None:
    database.save(graph, RevisionRecord("arm"))
    expected = (ParameterEntry("m_1", Fraction(1, 2)), ParameterEntry("length", Fraction(1, 3)))
    assert database.parameters("arm") == expected
    assert database.mechanism_file("arm") is None


def test_nothing_is_overwritten_and_equal_content_is_shared(
    database: Database, graph: Graph
) -> None:
    mechanism = MechanismFile("arm", "{}", "arm.json", "application/json", b"{}")
    first = database.save(graph, RevisionRecord("arm", mechanism=mechanism))
    second = database.save(bound(graph, "0.7"), RevisionRecord("arm", step="bind", parent=1))
    third = database.revert("arm", 1, author="Bo")
    other = database.save(graph, RevisionRecord("copy", mechanism=mechanism))
    assert [r.number for r in database.log("arm")] == [1, 2, 3]
    assert (third.step, third.parent, third.author) == ("revert", 1, "Bo")
    assert first.content == third.content == other.content != second.content
    assert database.query("SELECT count(*) AS n FROM graphs") == [{"n": 2}]
    assert database.query("SELECT count(*) AS n FROM mechanisms") == [{"n": 1}]
    assert_same(database.load("arm@2")[0], bound(graph, "0.7"))
    assert_same(database.load("arm")[0], graph)


def test_content_does_not_depend_on_the_pool_of_coefficients(
    database: Database, graph: Graph
) -> None:
    size = len(graph.coefficients)
    turned = replace(
        graph,
        coefficients=(Fraction(77), *graph.coefficients[::-1]),
        coefficient=(size - graph.coefficient).astype(graph.coefficient.dtype),
    )
    first = database.save(graph, RevisionRecord("arm"))
    assert database.save(turned, RevisionRecord("arm")).content == first.content


def test_in_memory(graph: Graph) -> None:
    with Database.open("sqlite://") as database:
        database.save(graph, RevisionRecord("arm"))
        database.delete("arm")
        assert database.gc().graphs == 1
        assert database.save(graph, RevisionRecord("arm")).number == 1
        assert_same(database.load("arm")[0], graph)


def test_a_difference_names_definitions_and_costs(database: Database, graph: Graph) -> None:
    database.save(graph, RevisionRecord("arm"))
    text = graph_text(bound(graph, "0.7"))
    text = text.replace("both = q1 + q2", "both = q1 - q2").replace("alias weight = hG_1\n", "")
    text = text.replace("output energy []: E:square\n", "output power []: half\n")
    text = text.replace("inverse = reciprocal(length)", "turned = reciprocal(length)")
    text = text.replace("- inverse", "- turned").replace("[2]: hG_1 hG_2:zero", "[1]: hG_1")
    database.save(parse_graph(text), RevisionRecord("arm", parent=1))
    found = database.diff("arm@1", "arm@2")
    assert found.changed == {"both": ("q1 + q2", "q1 - q2")}
    assert [str(p) for p in found.parameters] == ["m_1 0.5 (free) -> 0.7 (free)"]
    assert {entry.label for entry in found.entries} == {"hG_1", "hG_2", "E", "half"}
    assert found.added == {"turned": "reciprocal(length)"}
    assert found.removed == {"inverse": "reciprocal(length)"}
    assert found.outputs_added == ("power",)
    assert found.outputs_removed == ("energy",)
    assert found.outputs_changed == ("gravity",)
    assert (found.before.number, found.after.number) == (1, 2)
    assert found
    assert not database.diff("arm@1", "arm@1")


def test_models_are_found(database: Database, graph: Graph) -> None:
    now = datetime.now(UTC)
    arm = RevisionRecord(
        "arm_100%", author="Ann Lee", mechanism=MechanismFile("Puma 560"), tags=("ok",)
    )
    database.save(graph, arm)
    database.save(bound(graph, "0.9"), RevisionRecord("arm_100%", author="Bo"))
    old = now - timedelta(days=30)
    database.save(bound(graph, "0.8"), RevisionRecord("leg", author="Cy", created=old))

    def found(**conditions: Any) -> list[str]:
        return [entry.name for entry in database.models(**conditions)]

    assert found() == ["arm_100%", "leg"]
    assert found(search="ARM") == found(search="_1") == found(search="0%") == ["arm_100%"]
    assert found(search="e_") == found(search="%g") == []
    assert found(mechanism="puma") == found(author="ann") == found(tag="ok") == ["arm_100%"]
    assert found(quantity="e_1") == found(quantity="gravity") == ["arm_100%", "leg"]
    assert found(quantity="coriolis") == []
    assert found(since=now - timedelta(days=1)) == ["arm_100%"]
    assert found(until=now - timedelta(days=1)) == ["leg"]
    elsewhere = timezone(timedelta(hours=14))
    assert found(since=(now - timedelta(hours=1)).astimezone(elsewhere)) == ["arm_100%"]
    entry = database.models("arm")[0]
    assert (entry.revisions, entry.latest.number, entry.latest.author) == (2, 2, "Bo")


def test_tags_belong_to_one_revision_of_a_model(database: Database, graph: Graph) -> None:
    database.save(graph, RevisionRecord("arm", tags=("best",)))
    database.save(bound(graph, "2"), RevisionRecord("arm", tags=("best",)))
    assert [r.tags for r in database.log("arm")] == [(), ("best",)]
    assert database.tag("arm@1", "best", "x").tags == ("best", "x")
    assert database.revision("arm@best").number == 1
    database.untag("arm", "x")
    assert [r.tags for r in database.log("arm")] == [("best",), ()]
    for bad in ("1", "a@b", "", "a b"):
        with pytest.raises(StoreError, match="cannot be a tag"):
            database.tag("arm", bad)


def test_names_are_checked_and_changed(database: Database, graph: Graph) -> None:
    database.save(graph, RevisionRecord("arm"))
    database.save(graph, RevisionRecord("leg"))
    with pytest.raises(StoreError, match="already"):
        database.rename("arm", "leg")
    database.rename("arm", "hand")
    assert [entry.name for entry in database.models()] == ["hand", "leg"]
    for bad in ("", "a@1", " a", "a\nb", "x" * 201):
        with pytest.raises(StoreError, match="cannot be a name"):
            database.save(graph, RevisionRecord(bad))


def test_what_is_not_there_is_named(database: Database, graph: Graph) -> None:
    database.save(graph, RevisionRecord("finger"))
    cases = {
        "fingr": "did you mean 'finger'",
        "nothing": "lists what there is",
        "finger@7": "last revision is 1",
        "finger@best": "no revision best",
        "finger@": "missing after @",
    }
    for reference, message in cases.items():
        with pytest.raises(StoreError, match=message):
            database.load(reference)
    with pytest.raises(StoreError, match="no revision 5 to start from"):
        database.save(graph, RevisionRecord("finger", parent=5))
    with pytest.raises(StoreError, match="not plain data"):
        database.save(graph, RevisionRecord("finger", options={"x": object()}))
    assert len(database.log("finger")) == 1


def test_an_invalid_graph_is_refused(database: Database, graph: Graph) -> None:
    with pytest.raises(Error):
        database.save(replace(graph, names=("a b", *graph.names[1:])), RevisionRecord("arm"))
    assert database.models() == []


def test_deleted_models_are_swept(database: Database, graph: Graph) -> None:
    mechanism = MechanismFile("arm", "{}", "arm.json", "application/json", b"{}")
    database.save(graph, RevisionRecord("arm", tags=("x",), mechanism=mechanism))
    database.save(bound(graph, "3"), RevisionRecord("arm"))
    database.save(graph, RevisionRecord("other"))
    database.expand("arm", "energy")
    assert database.delete("arm") == 2
    swept = database.gc()
    assert (swept.graphs, swept.mechanisms) == (1, 1)
    assert_same(database.load("other")[0], graph)
    database.delete("other")
    assert database.gc().graphs == 1
    for table in ("variables", "terms", "factors", "outputs", "inputs", "expanded_terms", "tags"):
        assert database.query(f"SELECT count(*) AS n FROM {table}") == [{"n": 0}]


def test_a_model_is_copied_with_its_history(
    database: Database, graph: Graph, tmp_path: Path
) -> None:
    mechanism = MechanismFile("arm", "{}", "arm.json", "application/json", b"{}")
    database.save(graph, RevisionRecord("arm", tags=("x",), mechanism=mechanism, note="one"))
    database.save(bound(graph, "3"), RevisionRecord("arm", parent=1, step="bind"))
    with Database.open(str(tmp_path / "other.db")) as other:
        copied = database.copy("arm", other)
        assert copied == database.log("arm") == other.log("arm")
        assert other.mechanism_file("arm@1") == mechanism
        assert_same(other.load("arm")[0], bound(graph, "3"))
        with pytest.raises(StoreError, match="already"):
            database.copy("arm", other)
        assert other.copy("arm", database, "arm again")[1].name == "arm again"


def test_a_damaged_cache_is_passed_over(database: Database, graph: Graph) -> None:
    database.save(graph, RevisionRecord("arm"))
    with database.connection.writing() as connection:
        cache = connection.exec_driver_sql("SELECT bytes FROM caches").scalar_one()
        broken = bytes(cache)[:-9] + b"123456789"
        mark = "?" if database.connection.is_sqlite else "%s"
        connection.exec_driver_sql(f"UPDATE caches SET bytes = {mark}", (broken,))
    assert "cache is damaged" in database.check()[0]
    assert_same(database.load("arm")[0], graph)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE terms SET coefficient = '9.82' WHERE value > 9",
        "UPDATE terms SET coefficient = '1/0' WHERE value > 9",
        "UPDATE terms SET coefficient = 'x' WHERE value > 9",
        "UPDATE variables SET call = 'x' WHERE kind = 5",
        "UPDATE factors SET owner = 4000000 WHERE power = 3",
        "DELETE FROM variables WHERE number > 5",
        "DELETE FROM shapes",
    ],
)
def test_changed_rows_are_noticed(database: Database, graph: Graph, change: str) -> None:
    database.save(graph, RevisionRecord("arm"))
    database.drop_caches()
    with database.connection.writing() as connection:
        connection.exec_driver_sql(change)
    with pytest.raises(StoreError, match="not those that were saved"):
        database.load("arm")
    assert len(database.check()) == 1


def test_a_revision_names_its_outputs_alone(database: Database, graph: Graph) -> None:
    """Quantities are no outputs."""
    revision = database.save(graph, RevisionRecord("pendulum"))
    assert sorted(revision.outputs) == ["energy", "gravity"]
