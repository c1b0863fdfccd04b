"""Models in the store: saved, loaded, bound, followed, and evaluated in SQL."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import RunError, StoreError
from chainform.graph import expand, graph_text
from chainform.mechanism import GROUND, Attachment, Loop
from chainform.model import Store
from chainform.store import Database, MechanismFile, RevisionRecord
from robots import example_robot
from zoo import reference, reference_data

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"


def four_bar(parameters: Any = "symbolic", outputs: Any = ("mass_matrix", "gravity")) -> cf.Model:
    return cf.derive(EXAMPLES / "four_bar.toml", outputs, parameters=parameters)


def close(got: Any, expected: Any) -> None:
    """Compare to 1e-12 of the largest entry."""
    expected = np.asarray(expected)
    size = float(np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12 * size)


def definitions(model: cf.Model) -> set[str]:
    """Return the definitions of a graph, in no order."""
    return set(graph_text(model.graph).splitlines())


# --- saving and loading ---------------------------------------------------------------------


def test_models_and_graphs_have_the_same_revisions(store: Store) -> None:
    """What a store of models and its database do alike is one method, not two."""
    store.save(four_bar(), "linkage", author="Ada")
    names = ("models", "log", "diff", "tag", "untag", "rename", "delete", "gc", "check", "revision")
    assert all(getattr(Store, name) is getattr(Database, name) for name in names)
    assert store.tag("linkage", "good").tags == store.database.revision("linkage@good").tags
    for repository in (store, store.database):
        assert [entry.name for entry in repository.models(since="2020-01-31")] == ["linkage"]
        assert repository.models(until="2020-01-31") == []
        with pytest.raises(StoreError, match="is not a date"):
            repository.models(since="yesterday")


def test_a_model_comes_back_whole(store: Store) -> None:
    outputs = ["mass_matrix", "inverse_dynamics", "closure_jacobian"]
    model = cf.derive(
        EXAMPLES / "four_bar.toml",
        outputs,
        parameters=["a", "crank_mass"],
        closure="basic",
        wrenches=["coupler"],
    )
    revision = store.save(model, "linkage", tags=["first"], note="as drawn", author="Ada")
    assert (revision.name, revision.number, revision.reference) == ("linkage", 1, "linkage@1")
    assert (revision.author, revision.note, revision.tags) == ("Ada", "as drawn", ("first",))
    for name in ("linkage", "linkage@1", "linkage@first"):
        again = store.load(name)
        assert definitions(again) == definitions(model)
        assert again.outputs == model.outputs
        assert again.formulation == model.formulation
        assert again.parameters == ("a", "crank_mass")
        assert (again.reduction, again.closure) == (model.reduction, "basic")
        assert again.wrenches == ("coupler",)
        assert again.count() == model.count()
        bare = replace(again.mechanism, notes=(), file=None)
        assert bare == replace(model.mechanism, notes=(), file=None)
    state = {"q": [1, -0.8, 1.9], "qd": [1, 2, 3], "qdd": [0, 1, 2]}
    given: dict[str, Any] = {**state, "sigma": [1, 2, 3], "wrench": [1, 2, 3, 4, 5, 6]}
    values = {"a": 0.25}
    expected = model.evaluate(**given, values=values)
    for name, array in store.load("linkage").evaluate(**given, values=values).items():
        close(array, expected[name])


def test_the_file_is_kept_byte_for_byte(store: Store) -> None:
    path = EXAMPLES / "four_bar.toml"
    store.save(four_bar(), "linkage")
    kept = store.mechanism_file("linkage")
    assert kept is not None
    assert kept.source == path.read_bytes()
    assert (kept.file_name, kept.media_type) == ("four_bar.toml", "application/toml")
    loaded = store.load("linkage").mechanism
    assert (loaded.file, loaded.source) == ("four_bar.toml", path.read_bytes())


def test_a_built_mechanism_has_no_file(store: Store) -> None:
    mechanism = cf.Mechanism.builder("rod").segment("rod", axis="x", mass=1, com=[0, 0, 1]).build()
    store.save(cf.derive(mechanism, ["gravity"]), "rod")
    kept = store.mechanism_file("rod")
    assert kept is not None
    assert (kept.source, kept.file_name) == (b"", "")
    assert store.load("rod").mechanism.file is None


def test_nothing_is_overwritten(store: Store) -> None:
    first, second = four_bar("numeric"), four_bar("symbolic")
    assert store.save(first, "linkage").number == 1
    assert store.save(second, "linkage").number == 2
    assert definitions(store.load("linkage@1")) == definitions(first)
    assert definitions(store.load("linkage")) == definitions(second)
    assert sorted(revision.number for revision in store.log("linkage")) == [1, 2]


def test_the_author_is_the_user_unless_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "grace")
    assert store.save(four_bar(), "linkage").author == "grace"

    def nobody() -> str:
        raise OSError

    monkeypatch.setattr("getpass.getuser", nobody)
    assert store.save(four_bar(), "linkage").author == ""


def test_parameters_have_units_and_notes(store: Store) -> None:
    store.save(four_bar("symbolic"), "linkage")
    found = {p.name: p for p in store.database.parameters("linkage")}
    assert found["a"].value == Fraction("0.2")
    assert (found["a"].unit, found["a"].note) == ("m", "length of the crank")
    assert found["g"].value == Fraction("9.81")


# --- the models that must be shown ----------------------------------------------------------


def test_example_2_1_in_sql(store: Store) -> None:
    outputs = ["mass_matrix", "coriolis", "gravity", "inverse_dynamics"]
    model = cf.derive(reference("rackovic_2_1"), outputs, formulation="closed_form")
    store.save(model, "manipulator")
    names = {"H": "mass_matrix", "C": "coriolis", "hG": "gravity", "tau": "inverse_dynamics"}
    for state in reference_data("rackovic_2_1")["evaluations"]:
        given = {key: state[key] for key in ("q", "qd", "qdd")}
        got = store.evaluate("manipulator", **given)
        for name, array in model.evaluate(**given).items():
            close(got[name], array)
        for key, name in names.items():
            if key in state:
                size = max(1.0, np.abs(state[key]).max())
                np.testing.assert_allclose(got[name], state[key], rtol=1e-9, atol=1e-9 * size)


@pytest.mark.slow
def test_the_biped_in_sql(store: Store) -> None:
    data = reference_data("rackovic_4_1")
    point = tuple(Fraction(str(x)) for x in data["closure"]["closing_point_in_body_8_frame"])
    loop = Loop("foot", "frame", Attachment(7, point), Attachment(GROUND))  # type: ignore[arg-type]
    mechanism = replace(reference("rackovic_4_1"), loops=(loop,))
    model = cf.derive(mechanism, ["closure", "closure_jacobian", "inverse_dynamics"])
    store.save(model, "biped")
    again = store.load("biped")
    assert again.mechanism.loops == mechanism.loops
    state = data["evaluations"][0]
    given = {key: state[key] for key in ("q", "qd", "qdd", "sigma")}
    got = store.evaluate("biped", **given)
    for name, array in model.evaluate(**given).items():
        close(got[name], array)
    np.testing.assert_allclose(got["closure"], state["B"], rtol=1e-9, atol=1e-9)
    expected = state["tau_with_closure_all_joints"]
    np.testing.assert_allclose(got["inverse_dynamics"], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_talos_in_sql(store: Store) -> None:
    mechanism = cf.read(example_robot("talos_reduced.urdf"), base="floating")
    model = cf.derive(mechanism, ["inverse_dynamics", "gravity"], formulation="newton_euler")
    revision = store.save(model, "talos")
    assert revision.mechanism == mechanism.name
    rng = np.random.default_rng(0)
    q = mechanism.neutral() + rng.uniform(-0.2, 0.2, mechanism.nq)
    q[3:7] /= np.linalg.norm(q[3:7])
    qd, qdd = rng.uniform(-1, 1, (2, mechanism.nv))
    got = store.evaluate("talos", q=q, qd=qd, qdd=qdd)
    again = store.load("talos").evaluate(q=q, qd=qd, qdd=qdd)
    for name, array in model.evaluate(q=q, qd=qd, qdd=qdd).items():
        close(got[name], array)
        close(again[name], array)


# --- evaluation inside the database ---------------------------------------------------------


def test_evaluate_takes_names_batches_and_values(store: Store) -> None:
    model = four_bar(["a", "g"])
    store.save(model, "linkage")
    q = np.random.default_rng(1).uniform(-1, 1, (2, 3, 3))
    expected = model.evaluate(q=q, values={"a": [[0.1], [0.2]]})
    got = store.evaluate("linkage", q=q, values={"a": [[0.1], [0.2]]})
    assert got["mass_matrix"].shape == (2, 3, 3, 3)
    for name, array in got.items():
        close(array, expected[name])
    by_name = {"crank": 0.1, "coupler": 0.2, "rocker": 0.3}
    one = store.evaluate("linkage", q=by_name, outputs=["gravity"])
    close(one["gravity"], model.evaluate(q=[0.1, 0.2, 0.3])["gravity"])
    assert list(one) == ["gravity"]


def test_evaluate_tells_what_is_missing(store: Store) -> None:
    store.save(four_bar(), "linkage")
    with pytest.raises(cf.Error, match=r"q1|q2|q3"):
        store.evaluate("linkage")
    with pytest.raises(RunError, match="nothing"):
        store.evaluate("linkage", q=[0, 0, 0], outputs=["nothing"])
    with pytest.raises(RunError, match="last dimension"):
        store.evaluate("linkage", q=[0, 0])
    with pytest.raises(RunError, match="no free parameter"):
        store.evaluate("linkage", q=[0, 0, 0], values={"zzz": 1})


def test_navigation_agrees_with_the_graph(store: Store) -> None:
    model = four_bar("symbolic", ["mass_matrix"])
    store.save(model, "linkage")
    quantity = model["mass_matrix"][0, 0]
    assert store.formula("linkage", "H_1_1") == str(quantity)
    assert store.expand("linkage", "H_1_1") == {"H_1_1": str(quantity.expand(angles="split"))}
    whole = store.expand("linkage", "mass_matrix")
    assert (
        whole["H_1_2"] == whole["H_2_1"] == str(model["mass_matrix"][0, 1].expand(angles="split"))
    )
    cone = set(store.cone("linkage", "H_1_1"))
    assert set(quantity.needs()) <= cone
    assert cone <= {*quantity.needs(), quantity.name, model.graph.names[quantity.variable]}
    users = store.uses("linkage", "cos_q2")
    assert users
    assert set(users) <= set(store.uses("linkage", "cos_q2", whole=True))


# --- binding --------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", ["symbolic", ["a", "b", "crank_mass", "g"]])
def test_binding_makes_a_revision(store: Store, parameters: Any) -> None:
    model = four_bar(parameters)
    store.save(model, "linkage")
    revision = store.bind("linkage", {"a": "1/3", "g": 1.62}, note="on the moon")
    assert (revision.number, revision.parent, revision.step) == (2, 1, "bind")
    assert revision.options["values"] == {"a": "1/3", "g": "1.62"}
    assert revision.note == "on the moon"
    bound = store.load("linkage")
    assert set(bound.free_parameters) == set(model.free_parameters) - {"a", "g"}
    q = [0.1, 0.2, 0.3]
    expected = model.evaluate(q=q, values={"a": 1 / 3, "g": 1.62})
    for name, array in bound.evaluate(q=q).items():
        close(array, expected[name])
    assert definitions(store.load("linkage@1")) == definitions(model)


def test_a_bound_mechanism_agrees_with_its_graph(store: Store) -> None:
    store.save(four_bar("symbolic"), "linkage")
    store.bind("linkage", {"a": "0.25", "coupler_mass": 3})
    bound = store.load("linkage")
    again = cf.derive(bound.mechanism, bound.outputs, parameters=bound.parameters)
    for name in bound.outputs:
        assert same_formulas(bound, again, name)
    found = {p.name: p.value for p in store.database.parameters("linkage")}
    assert (found["a"], found["coupler_mass"]) == (Fraction("0.25"), Fraction(3))
    kept = store.mechanism_file("linkage")
    assert kept is not None
    assert kept.source == (EXAMPLES / "four_bar.toml").read_bytes()


def same_formulas(one: cf.Model, other: cf.Model, name: str) -> bool:
    first, second = (
        expand(model.graph, model[name].variables.ravel().tolist()) for model in (one, other)
    )
    return first == second


def test_binding_everything_leaves_numbers(store: Store) -> None:
    model = four_bar(["a", "b"])
    store.save(model, "linkage")
    store.bind("linkage", {"a": 1, "b": 2})
    bound = store.load("linkage")
    assert (bound.parameters, dict(bound.free_parameters)) == ("numeric", {})
    with pytest.raises(StoreError, match="not a free parameter"):
        store.bind("linkage", {"a": 1})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"zzz": 1}, "not a free parameter"),
        ({"a": "b"}, "may not name parameters"),
        ({"a": "1 +"}, "expected"),
        ({"a": None}, "expected a number"),
        ({"a": float("nan")}, "not finite"),
        ({}, "no values"),
    ],
)
def test_what_cannot_be_bound(store: Store, values: dict[str, Any], message: str) -> None:
    store.save(four_bar(), "linkage")
    with pytest.raises(StoreError, match=message):
        store.bind("linkage", values)
    assert len(store.log("linkage")) == 1


# --- finding and changing -------------------------------------------------------------------


def test_search(store: Store) -> None:
    store.save(four_bar(), "linkage", tags=["final"], author="Ada")
    arm = cf.derive(EXAMPLES / "six_axis_arm.toml", ["inverse_dynamics"])
    store.save(arm, "arm", author="Grace")
    now = datetime.now(UTC)

    def names(*search: Any, **fields: Any) -> list[str]:
        return [entry.name for entry in store.models(*search, **fields)]

    assert names() == ["arm", "linkage"]
    assert names("link") == ["linkage"]
    assert names(mechanism="six_axis_arm") == ["arm"]
    assert names(author="Ada") == ["linkage"]
    assert names(tag="final") == ["linkage"]
    assert names(quantity="gravity") == ["linkage"]
    assert names(since=now - timedelta(hours=1)) == ["arm", "linkage"]
    assert names(since=now + timedelta(hours=1)) == []
    assert names(until=now.date()) == ["arm", "linkage"]
    assert names(until="2020-01-31") == []
    assert names(since="2020-01-31T10:00") == ["arm", "linkage"]
    with pytest.raises(StoreError, match="not a date"):
        store.models(since="yesterday")


def test_revert_and_diff(store: Store) -> None:
    model = four_bar()
    store.save(model, "linkage")
    store.bind("linkage", {"a": 1})
    found = store.diff("linkage@1", "linkage@2")
    assert (found.before.number, found.after.number) == (1, 2)
    assert found
    assert not store.diff("linkage@1", "linkage@1")
    revision = store.revert("linkage", 1, note="back", author="Ada")
    assert (revision.number, revision.author, revision.note) == (3, "Ada", "back")
    assert not store.diff("linkage@1", "linkage@3")
    again = store.load("linkage")
    assert definitions(again) == definitions(model)
    assert again.parameters == "symbolic"
    assert replace(again.mechanism, notes=(), file=None) == replace(
        model.mechanism, notes=(), file=None
    )


def test_tags_names_and_deletion(store: Store) -> None:
    store.save(four_bar(), "linkage")
    assert store.tag("linkage@1", "good").tags == ("good",)
    store.rename("linkage", "bar")
    assert store.revision("bar@good").number == 1
    assert store.delete("bar") == 1
    assert store.models() == []
    assert store.gc().graphs >= 0
    with pytest.raises(StoreError, match="no model"):
        store.load("bar")


# --- from store to store --------------------------------------------------------------------


def test_export_and_import(store: Store, tmp_path: Path) -> None:
    store.save(four_bar(), "linkage", tags=["final"])
    store.bind("linkage", {"a": 1})
    store.save(cf.derive(EXAMPLES / "six_axis_arm.toml", ["gravity"]), "arm")
    path = tmp_path / "out" / "models [1].db"
    path.parent.mkdir()
    assert store.export(path, ["linkage"]) == ["linkage"]
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    with cf.open_store(tmp_path / "other.db") as other:
        (revision,) = other.import_(path)
        assert revision.reference == "linkage@2"
        assert [r.step for r in other.log("linkage")] == [r.step for r in store.log("linkage")]
        assert definitions(other.load("linkage@final")) == definitions(store.load("linkage@1"))
        with pytest.raises(StoreError, match="already has"):
            other.import_(path)
        with pytest.raises(StoreError, match="no such model"):
            other.import_(path, ["arm"])
    with pytest.raises(StoreError, match="the file exists"):
        store.export(path)
    assert store.export(path, force=True) == ["arm", "linkage"]
    with pytest.raises(StoreError, match="no such model"):
        store.export(tmp_path / "new.db", ["nothing"])
    assert not (tmp_path / "new.db").exists()
    with pytest.raises(StoreError, match="folder"):
        store.export(tmp_path)
    with pytest.raises(StoreError, match=r"cannot be written|folder"):
        store.export(tmp_path / "missing" / "new.db")


# --- what is wrong is said ------------------------------------------------------------------


@pytest.mark.parametrize("reference", ["nothing", "linkage@7", "linkage@0", "linkage@tag", "", "@"])
def test_unknown_references(store: Store, reference: str) -> None:
    store.save(four_bar(), "linkage")
    calls: list[Any] = [store.load, store.revision, lambda r: store.bind(r, {"a": 1})]
    calls += [lambda r: store.diff("linkage", r), lambda r: store.evaluate(r, q=[0, 0, 0])]
    calls += [lambda r: store.cone(r, "H_1_1"), lambda r: store.expand(r, "H_1_1")]
    for call in calls:
        with pytest.raises(StoreError):
            call(reference)


def test_unknown_names(store: Store) -> None:
    store.save(four_bar(), "linkage")
    for call in (store.log, store.delete, lambda name: store.revert(name, 1)):
        with pytest.raises(StoreError):
            call("nothing")
    with pytest.raises(StoreError):
        store.revert("linkage", 9)
    for call in (store.cone, store.uses, store.formula, store.expand):
        with pytest.raises(cf.Error):
            call("linkage", "nothing")


@pytest.mark.parametrize("name", ["", "a@b", " a", "a\nb", "x" * 300])
def test_names_that_cannot_be(store: Store, name: str) -> None:
    with pytest.raises(StoreError):
        store.save(four_bar(), name)
    assert store.models() == []


def test_a_graph_without_a_mechanism_is_no_model(store: Store) -> None:
    graph = four_bar().graph
    store.database.save(graph, RevisionRecord("graph"))
    with pytest.raises(StoreError, match="no mechanism"):
        store.load("graph")
    store.database.save(graph, RevisionRecord("odd", mechanism=MechanismFile("odd", "{]")))
    with pytest.raises(StoreError, match="cannot be read"):
        store.load("odd")


def test_files_that_are_no_stores(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to be looked at as one" * 20)
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE birds (name TEXT)")
    connection.close()
    for path in (text, foreign, tmp_path, tmp_path / "missing" / "models.db"):
        with pytest.raises(StoreError):
            cf.open_store(path)
    with cf.open_store(tmp_path / "models.db") as store:
        for path in (text, foreign, tmp_path, tmp_path / "missing.db"):
            with pytest.raises(StoreError):
                store.import_(path)


def test_a_damaged_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "models.db"
    with cf.open_store(path) as store:
        store.save(four_bar(), "linkage")
    data = bytearray(path.read_bytes())
    data[4096:] = bytes(len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(StoreError), cf.open_store(path) as store:
        store.load("linkage")
