"""Whatever cell is changed by hand, `check` finds and names it, and mends what it can."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from contextlib import closing, suppress
from fractions import Fraction
from pathlib import Path

import pytest

from chainform.errors import RunError, StoreError
from chainform.graph import FLOAT, Graph, evaluate, graph_text
from chainform.store import Database, MechanismFile, ParameterEntry, RevisionRecord

STATE = {"q1": 0.3, "q2": -1.1}


def fill(database: Database, graph: Graph) -> None:
    mechanism = MechanismFile(
        "Puma", "{}", "puma.urdf", "application/xml", b"<robot/>", (("note", "arm", "rounded"),)
    )
    parameters = (ParameterEntry("m_1", Fraction(1, 2), "kg", "mass"), ParameterEntry("length"))
    database.save(
        graph, RevisionRecord("arm", mechanism=mechanism, parameters=parameters, seconds=2)
    )
    database.expand("arm", "energy")
    database.objects.put("key", b"code", "arm")
    database.runs.save("arm", "first", {"t": [0.0, 1.0]}, {"step": 0.1}, seconds=1)


def change(database: Database, statement: str) -> None:
    """Do what another program could, foreign keys or not."""
    if database.connection.file is not None:
        with closing(sqlite3.connect(database.connection.file)) as file:
            file.execute(statement)
            file.commit()
        return
    with database.connection.writing() as connection:
        connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
        connection.exec_driver_sql(statement)


def on_both(statements: Iterable[str]) -> list[tuple[str, str]]:
    """Return each statement for SQLite, and the first of its kind for each table for PostgreSQL."""
    kinds = {tuple(re.findall(r"UPDATE \w+|FROM \w+|INTO \w+", s)): s for s in [*statements][::-1]}
    cases = [("sqlite", statement) for statement in statements]
    return cases + [("postgresql", statement) for statement in kinds.values()]


MENDED = {
    "UPDATE terms SET coefficient = '9.82' WHERE value > 9": "coefficient is '9.82', was '9.81'",
    "UPDATE terms SET value = 9.82 WHERE value > 9": "value is 9.82, was 9.81",
    "UPDATE terms SET coefficient = 'x' WHERE value > 9": "coefficient is 'x', was '9.81'",
    "DELETE FROM terms WHERE value > 9": "is missing",
    "UPDATE variables SET name = 'other' WHERE name = 'half'": "name is 'other', was 'half'",
    "UPDATE variables SET level = 9 WHERE name = 'square'": "level is 9",
    "UPDATE variables SET kind = 4 WHERE name = 'half'": "kind is 4, was 0",
    "UPDATE variables SET call = 'cos' WHERE name = 'sin_q1'": "call is 'cos', was 'sin'",
    "UPDATE variables SET argument = 1 WHERE name = 'sin_q1'": "argument is 1, was 0",
    "UPDATE factors SET power = 2 WHERE power = 3": "power is 2, was 3",
    "UPDATE factors SET variable = 0 WHERE power = 3": "variable is 0",
    "INSERT INTO factors VALUES (1, 9, 0, 7, 0, 1)": "was not saved",
    "UPDATE inputs SET value = 7 WHERE variable = 2": "value is 7.0, was 0.5",
    "UPDATE inputs SET exact = '7' WHERE variable = 2": "exact is '7', was '0.5'",
    "UPDATE inputs SET source = 'qd' WHERE variable = 0": "source is 'qd', was 'q'",
    "UPDATE aliases SET variable = 1": "variable is 1",
    "UPDATE aliases SET name = 'load'": "aliases (name weight) is missing",
    "UPDATE shapes SET shape = '2 1' WHERE quantity = 'gravity'": "shape is '2 1', was '2'",
    "UPDATE shapes SET place = 9 WHERE quantity = 'energy'": "place is 9, was 1",
    "UPDATE outputs SET label = 'F' WHERE label = 'E'": "label is 'F', was 'E'",
    "UPDATE outputs SET indices = '9' WHERE label = 'hG_1'": "indices is '9', was '1'",
    "UPDATE operations SET additions = 99 WHERE quantity = 'energy'": "additions is 99",
    "UPDATE operations SET once_calls = 99 WHERE quantity = ''": "once_calls is 99",
    "DELETE FROM operations": "operations (quantity ) is missing",
    "UPDATE revisions SET additions = 99": "revisions.additions is 99",
    "UPDATE graphs SET levels = 99": "graphs.levels is 99",
    "UPDATE graphs SET terms = 99": "graphs.terms is 99",
    "UPDATE expanded_terms SET coefficient = '5' WHERE place = 0": "terms, factors or hash",
    "UPDATE expanded_terms SET value = 5 WHERE place = 0": "expanded_terms.value",
    "UPDATE expanded_terms SET place = 77 WHERE place = 0": "the expression of variable",
    "UPDATE expanded_factors SET symbol = 'q9' WHERE term = 0": "terms, factors or hash",
    "UPDATE expanded_factors SET power = 9 WHERE term = 0": "terms, factors or hash",
    "UPDATE expanded_factors SET place = place + 7": "expanded_factors.place",
    "UPDATE expansions SET terms = 99": "expansions.terms",
    "UPDATE expansions SET hash = 'x'": "terms, factors or hash",
    "DELETE FROM expansions": "the expression of variable",
    "UPDATE objects SET hash = 'x'": "objects key",
    "INSERT INTO terms VALUES (77, 0, 0, '1', 1.0)": "rows of a graph 77 that is missing",
}

TOLD = {
    **{
        f"UPDATE revisions SET {column} = {value}": f"arm@1: revisions.{column}"
        for column, value in {
            "number": 2,
            "formulation": "'x'",
            "step": "'x'",
            "options": "'{\"a\": 1}'",
            "author": "'x'",
            "note": "'x'",
            "created": "'2001-01-01 00:00:00.000000'",
            "seconds": 9,
            "seal": "'{}'",
        }.items()
    },
    "UPDATE revisions SET mechanism = NULL": "arm@1: revisions.mechanism",
    **{
        f"UPDATE parameters SET {column} = {value} WHERE name = 'm_1'": f"parameters.{column}"
        for column, value in {"exact": "'7'", "value": 7, "unit": "'g'", "note": "'x'"}.items()
    },
    "UPDATE parameters SET name = 'x' WHERE name = 'm_1'": "parameters.name",
    "DELETE FROM parameters WHERE name = 'm_1'": "parameters.name",
    **{
        f"UPDATE mechanisms SET {column} = 'x'": "mechanisms 1"
        for column in ("name", "file_name", "media_type", "text", "notes", "hash")
    },
    **{
        f"UPDATE runs SET {column} = {value}": "runs 1 ("
        for column, value in {
            "name": "'x'",
            "kind": "'x'",
            "options": "'{}'",
            "created": "'2001-01-01 00:00:00.000000'",
            "seconds": 9,
            "media_type": "'x'",
            "bytes": "'x'",
            "hash": "'x'",
        }.items()
    },
    "DELETE FROM graphs": "arm@1: its graph 1 is missing",
    "DELETE FROM mechanisms": "arm@1: its mechanism 1 is missing",
    "DELETE FROM models": "its model is missing",
    "UPDATE models SET name = 'a@b'": "cannot be a name",
}


@pytest.mark.parametrize(("url", "statement"), on_both(MENDED), indirect=["url"])
def test_what_follows_from_a_graph_is_mended(
    database: Database, graph: Graph, statement: str
) -> None:
    fill(database, graph)
    assert database.check() == []
    change(database, statement)
    found = database.check()
    assert any(MENDED[statement] in problem for problem in found), found
    repaired = database.check(repair=True)
    assert repaired
    assert all(problem.endswith("(repaired)") for problem in repaired)
    assert database.check() == []
    database.drop_caches()
    assert graph_text(database.load("arm")[0]) == graph_text(graph)


@pytest.mark.parametrize(("url", "statement"), on_both(TOLD), indirect=["url"])
def test_what_cannot_be_mended_is_told(database: Database, graph: Graph, statement: str) -> None:
    fill(database, graph)
    change(database, statement)
    found = "\n".join(database.check())
    expected = TOLD[statement].replace("arm@1: revisions.number", "arm@2: revisions.number")
    assert expected in found
    if "FROM" not in statement:
        assert expected in "\n".join(database.check(repair=True))


def test_a_changed_hash_is_told_from_changed_content(database: Database, graph: Graph) -> None:
    fill(database, graph)
    change(database, f"UPDATE graphs SET hash = '{'0' * 64}'")
    assert any("graphs.hash" in problem for problem in database.check())
    database.check(repair=True)
    assert database.check() == []


def test_a_content_that_was_saved_again_under_its_hash(database: Database, graph: Graph) -> None:
    fill(database, graph)
    change(database, "UPDATE graphs SET hash = 'x'")
    database.save(graph, RevisionRecord("copy"))
    assert any("graphs.hash" in problem for problem in database.check())
    repaired = database.check(repair=True)
    assert all(problem.endswith("(repaired)") for problem in repaired), repaired
    assert database.check() == []
    assert database.revision("arm").graph == database.revision("copy").graph
    assert database.objects.get("key") == b"code"
    assert database.runs.load("arm", "first")[1].name == "first"


@pytest.mark.parametrize("name", ["definitions", "uses"])
def test_a_view_that_was_replaced(database: Database, graph: Graph, name: str) -> None:
    fill(database, graph)
    columns = {
        "definitions": "graph, number, name, '' AS kind, level, 'nonsense' AS formula",
        "uses": "'' AS model, 1 AS revision, graph, name, name AS uses",
    }
    cascade = "" if database.connection.file is not None else " CASCADE"
    change(database, f"DROP VIEW {name}{cascade}")
    change(database, f"CREATE VIEW {name} AS SELECT {columns[name]} FROM variables")
    assert f"the view {name} is not what was made" in database.check()
    assert f"the view {name} is not what was made (repaired)" in database.check(repair=True)
    assert database.check() == []
    assert database.formula("arm", "both") == "q1 + q2"


def test_a_view_that_others_are_built_on_is_told(postgres_url: str, graph: Graph) -> None:
    with Database.open(postgres_url) as database:
        fill(database, graph)
        change(database, "CREATE VIEW mine AS SELECT * FROM uses")
        assert database.check() == []
        columns = "model, revision, graph, name, uses"
        change(
            database,
            f"CREATE OR REPLACE VIEW uses AS SELECT {columns} FROM (SELECT m.name AS"
            " model, r.number AS revision, r.graph, m.name, m.name AS uses FROM models m"
            " JOIN revisions r ON r.model = m.id) AS x",
        )
        told = ["the view uses is not what was made"]
        assert database.check() == database.check(repair=True) == told


def test_without_rows_and_cache_nothing_is_left(database: Database, graph: Graph) -> None:
    fill(database, graph)
    change(database, "UPDATE terms SET coefficient = '9.82' WHERE value > 9")
    database.drop_caches()
    for repair in (False, True):
        assert "take the database from a backup" in database.check(repair=repair)[0]


def test_a_damaged_cache_is_written_anew(database: Database, graph: Graph) -> None:
    fill(database, graph)
    change(database, "UPDATE caches SET bytes = '123'")
    assert "cache is damaged" in database.check()[0]
    assert graph_text(database.load("arm")[0]) == graph_text(graph)
    database.check(repair=True)
    assert database.check() == []


# --- saving and evaluating over changed rows ---------------------------------------------------


MECHANISM = ("text = 'x'", "name = 'x'", "bytes = 'x'", "notes = '[]'", "hash = 'x'")


@pytest.mark.parametrize("cell", MECHANISM)
def test_a_changed_mechanism_is_not_taken_for_the_saved_one(
    database: Database, graph: Graph, cell: str, tmp_path: Path
) -> None:
    """Whatever would seal it anew refuses it, so that the change stays to be seen."""
    fill(database, graph)
    change(database, f"UPDATE mechanisms SET {cell}")
    with Database.open(str(tmp_path / "target.db")) as target:
        for task in (
            lambda: database.mechanism_file("arm"),
            lambda: database.revert("arm", 1),
            lambda: database.copy("arm", target),
        ):
            with pytest.raises(StoreError, match="damaged"):
                task()
        assert target.models() == []
    assert any("mechanisms 1" in problem for problem in database.check())


def test_a_mechanism_with_a_hash_that_fits_it(database: Database, graph: Graph) -> None:
    """The revision knows which mechanism it came from."""
    fill(database, graph)
    other = MechanismFile("other", "{}")
    database.save(graph, RevisionRecord("other", mechanism=other))
    change(database, "UPDATE revisions SET mechanism = 2 WHERE id = 1")
    with pytest.raises(StoreError, match="mechanism is not what was saved"):
        database.mechanism_file("arm")


def test_a_copy_shows_what_was_changed(database: Database, graph: Graph, tmp_path: Path) -> None:
    fill(database, graph)
    change(database, "UPDATE revisions SET note = 'x'")
    change(database, "UPDATE parameters SET unit = 'g' WHERE name = 'm_1'")
    change(database, "UPDATE runs SET kind = 'x'")
    with pytest.raises(StoreError, match="parameters are not what was saved"):
        database.revert("arm", 1)
    with Database.open(str(tmp_path / "target.db")) as target:
        database.copy("arm", target)
        found = "\n".join(target.check())
        for part in ("revisions.note", "parameters.unit", "runs 1"):
            assert part in found
        assert "revisions.author" not in found


def test_a_run_whose_name_is_no_text(tmp_path: Path, graph: Graph) -> None:
    with Database.open(str(tmp_path / "store.db")) as database:
        fill(database, graph)
        change(database, "UPDATE runs SET name = x'00ff'")
        for task in (database.runs.load, database.runs.delete):
            with pytest.raises(StoreError, match="no such run"):
                task("arm", "first")
        assert any("runs 1 (" in problem for problem in database.check())


LOOSE = [
    "UPDATE factors SET variable = variable + 0.5",
    "UPDATE factors SET variable = variable || 'x'",
    "UPDATE factors SET power = power + 0.5",
    "UPDATE factors SET term = term + 0.25",
    "UPDATE terms SET place = place + 0.25 WHERE place = 1",
    "UPDATE terms SET owner = owner || 'x'",
    "UPDATE variables SET call = 'SIN' WHERE call = 'sin'",
    "UPDATE inputs SET value = 'x' WHERE variable = 2",
]


@pytest.mark.parametrize("statement", LOOSE)
def test_cells_of_another_kind(tmp_path: Path, graph: Graph, statement: str) -> None:
    """SQLite lets a column of whole numbers hold anything."""
    url = str(tmp_path / "store.db")
    with Database.open(url) as database:
        fill(database, graph)
        change(database, statement)
    with Database.open(url) as database:
        with pytest.raises(StoreError, match="not those that were saved"):
            database.evaluate("arm", STATE)
        with suppress(RunError):  # no value, where a cell holds no number
            database.evaluate("arm", STATE, trust_rows=True)
        database.save(graph, RevisionRecord("copy"))
        assert database.check() == []


CHANGES = [
    "UPDATE terms SET value = 9.82 WHERE value > 9",
    "UPDATE terms SET coefficient = '9.82' WHERE value > 9",
    "UPDATE factors SET power = 2 WHERE power = 3",
    "UPDATE factors SET variable = 7 WHERE variable = 8",
    "UPDATE inputs SET value = 7 WHERE variable = 2",
    "UPDATE variables SET argument = 1 WHERE name = 'sin_q1'",
    "UPDATE outputs SET variable = 1 WHERE label = 'hG_1'",
    "DELETE FROM factors WHERE power = 3",
]


@pytest.mark.parametrize("statement", CHANGES)
def test_saving_the_same_content_heals(database: Database, graph: Graph, statement: str) -> None:
    fill(database, graph)
    change(database, statement)
    database.save(graph, RevisionRecord("copy"))
    assert database.check() == []
    assert database.objects.get("key") == b"code"


@pytest.mark.parametrize("statement", CHANGES)
def test_values_of_changed_rows_are_asked_for(url: str, graph: Graph, statement: str) -> None:
    with Database.open(url) as database:
        fill(database, graph)
        change(database, statement)
    with Database.open(url) as database:
        with pytest.raises(StoreError, match="not those that were saved"):
            database.evaluate("arm", STATE)
        found = database.evaluate("arm", STATE, trust_rows=True)["gravity"]
        expected = evaluate(graph, STATE, FLOAT)["gravity"].astype(float)
        # Values come from the doubles; a changed text beside them changes formulas only.
        assert (found != expected).any() == ("SET coefficient" not in statement)
        database.check(repair=True)
        healed = database.evaluate("arm", STATE)["gravity"]
        assert abs(healed - expected).max() < 1e-12


def test_a_changed_expression_is_made_anew(database: Database, graph: Graph) -> None:
    database.save(graph, RevisionRecord("arm"))
    expected = database.expand("arm", "energy")
    for statement in (
        "UPDATE expanded_terms SET coefficient = '5' WHERE place = 0",
        "DELETE FROM expanded_factors",
    ):
        change(database, statement)
        assert database.expand("arm", "energy") == expected
        assert database.check() == []
