"""Certificates of models that are right, of all kinds."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import chainform as cf
import zoo
from chainform.errors import ReadError, RunError, StoreError
from chainform.verification import (
    KINDS,
    OF_MODEL,
    Certificate,
    VerificationInterrupted,
    certificates,
    verify,
)

EXAMPLES = Path(__file__).parents[3] / "examples"
QUICK = ("reference", "peers", "text", "rows")
"""Kinds that compile no machine code and derive nothing anew."""


def held(certificate: Certificate, *kinds: str) -> Certificate:
    """Return a certificate after a look whether it holds, and these kinds compared something."""
    assert certificate.holds, str(certificate)
    compared = {check.kind for check in certificate.compared}
    assert {*kinds} <= compared, str(certificate)
    return certificate


@pytest.mark.slow
def test_an_arm_holds_by_everything() -> None:
    found = held(cf.verify(EXAMPLES / "pick_arm.urdf", states=2), *OF_MODEL)
    assert found.verdict.startswith(f"{len(found.compared)} checks hold")
    assert found.deviation is not None
    assert found.deviation < 1e-7
    assert found.versions["chainform"] == cf.__version__
    assert all(check.states for check in found.compared)
    assert all(check.figure and check.compared for check in found.checks)


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "driven_arm", "manipulator_forces"])
def test_loops_actuators_and_forces_hold(name: str) -> None:
    model = cf.derive(EXAMPLES / f"{name}.toml", parameters="symbolic")
    found = held(cf.verify(model, only=QUICK, states=3), "reference", "text", "rows")
    (reference, *_) = found.checks
    assert reference.deviation is not None
    assert reference.deviation < 1e-11


def test_actuators_without_states_hold() -> None:
    builder = cf.Mechanism.builder("wheel")
    builder.segment("wheel", axis="z", mass=1, inertia=[0, 0, 1])
    builder.actuator("drive", "wheel", type="torque")
    held(cf.verify(builder.build(), only=["text", "reference"], states=2), "text", "reference")


def test_formulas_without_values_near_zero_are_compared_where_they_have_some() -> None:
    found = held(cf.verify(EXAMPLES / "portal_crane.toml", only=["text", "laws"]), "text")
    python = next(check for check in found.compared if check.kind == "text")
    assert "no state" not in python.figure
    assert [check.figure for check in found.checks if "H is" in check.law] == [
        "the outputs have no finite values at 20 random states"
    ]


def test_outputs_without_a_value_are_named() -> None:
    model = cf.derive(EXAMPLES / "four_bar.toml", ["gravity"])
    model = model.with_outputs({"never": "sqrt(-1 - q1^2)"})
    (python, *_) = cf.verify(model, only="text").checks
    assert python.holds
    assert "no state was certain enough for never" in python.figure


def test_motors_hold() -> None:
    model = cf.derive(EXAMPLES / "driven_arm.toml", ["complete_model", "drives"])
    held(cf.verify(model, only=["reference", "text"]), "reference")


def test_elements_hold_by_what_knows_them() -> None:
    found = held(cf.verify(EXAMPLES / "stanford_elements.toml", only=QUICK), "text", "rows")
    (reference,) = [check for check in found.checks if check.kind == "reference"]
    assert reference.holds is None
    assert "elements" in reference.figure


def test_a_floating_base_holds() -> None:
    mechanism = cf.read(EXAMPLES / "pick_arm.urdf", base="floating").with_payload("base", 3)
    outputs = ["inverse_dynamics", "mass_matrix", "coriolis_matrix", "bias", "jacobian(hand,local)"]
    model = cf.derive(mechanism, outputs, parameters=["g"])
    held(cf.verify(model, only=QUICK, states=2), "reference", "peers")


def test_a_reduced_model_and_its_derivatives_hold() -> None:
    outputs = ["inverse_dynamics", "derivative(inverse_dynamics,q)", "pose(forearm)"]
    model = cf.derive(EXAMPLES / "driven_arm.toml", outputs).reduce("thesis")
    found = held(cf.verify(model, only=[*QUICK, "laws"], states=2), "reference", "laws")
    (_, slopes, *_) = found.checks
    assert "derivative(inverse_dynamics,q)" in slopes.figure
    assert any("as polynomials" in check.compared for check in found.checks)


def test_a_mechanism_without_mass_has_no_mass_centre_to_compare() -> None:
    builder = cf.Mechanism.builder("rod")
    builder.segment("rod", joint="revolute", axis="x")
    model = cf.derive(builder.build(), ["momentum", "mass_matrix", "gravity"])
    held(cf.verify(model, only=["reference", "peers"]), "reference", "peers")


def test_wrenches_hold() -> None:
    model = cf.derive(
        EXAMPLES / "driven_arm.toml",
        ["inverse_dynamics", "forward_dynamics"],
        wrenches=["forearm"],
        without=["friction"],
    )
    held(cf.verify(model, only="reference"), "reference")


def test_expressions_hold() -> None:
    found = held(cf.verify(EXAMPLES / "polynomials.expr", only=QUICK), "text", "rows")
    assert "elements" in found.checks[0].figure


@pytest.mark.parametrize("seed", range(8))
def test_random_trees_hold(seed: int) -> None:
    tree = zoo.loaded_tree(seed) if seed % 2 else zoo.random_tree(seed, quaternions=seed % 4 == 0)
    model = cf.derive(tree, ["inverse_dynamics", "mass_matrix", "bias", "kinetic_energy"])
    held(cf.verify(model, only="reference", states=2, seed=seed), "reference")


@pytest.mark.slow
def test_motions_hold_and_wrong_ones_fail(tmp_path: Path) -> None:
    problem = cf.Problem.of(EXAMPLES / "scenarios" / "pendulum.toml", t=1.0)
    seen: list[str] = []
    held(cf.verify(problem, observe=lambda kind, _: seen.append(kind)), "motion")
    assert any(kind.startswith("motion 1 of") for kind in seen)
    run = problem.compile().run()
    run.save(tmp_path / "run.npz")
    held(cf.verify(tmp_path / "run.npz"), "motion")
    wrong = replace(run, q=run.q * (1 + 1e-4))
    assert cf.verify(wrong).failed


# --- what a certificate says --------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    """The certificate of an arm by two kinds."""
    return cf.verify(EXAMPLES / "driven_arm.toml", ["gravity"], only=["reference", "text"])


def test_it_is_readable(certificate: Certificate, tmp_path: Path) -> None:
    text = str(certificate)
    for check in certificate.checks:
        assert check.law in text
        assert check.figure in text
    assert certificate.verdict in text
    assert repr(certificate) == ("<Certificate of driven_arm, auto, not reduced: 3 checks hold>")
    page = certificate._repr_mimebundle_()["text/html"]
    assert "the independent reference" in page
    for form in ("json", "txt", "html"):
        certificate.save(tmp_path / f"arm.{form}")
    assert json.loads((tmp_path / "arm.json").read_text()) == certificate.document
    assert (tmp_path / "arm.txt").read_text() == f"{text}\n"
    assert "<!DOCTYPE html>" in (tmp_path / "arm.html").read_text()
    with pytest.raises(RunError, match="no name of a certificate"):
        certificate.save(tmp_path / "arm.docx")


def test_the_same_seed_gives_the_same_figures(certificate: Certificate) -> None:
    again = cf.verify(EXAMPLES / "driven_arm.toml", ["gravity"], only=["reference", "text"])
    assert [c.deviation for c in again.checks] == [c.deviation for c in certificate.checks]
    other = cf.verify(EXAMPLES / "driven_arm.toml", ["gravity"], only="reference", seed=1, states=9)
    assert other.seed == 1
    assert other.checks[0].states == 9


def test_nothing_compared_does_not_hold() -> None:
    found = cf.verify(EXAMPLES / "stanford_elements.toml", only="reference")
    assert not found.holds
    assert not found.failed
    assert found.verdict == "nothing was compared, 1 could not be made"


def test_ctrl_c_leaves_what_was_done() -> None:
    seen: list[tuple[str, int]] = []

    def stop(kind: str, made: int) -> None:
        seen.append((kind, made))
        if made == 1:
            raise KeyboardInterrupt

    with pytest.raises(VerificationInterrupted) as caught:
        verify(EXAMPLES / "driven_arm.toml", ["gravity"], only=["reference", "text"], observe=stop)
    found = caught.value.certificate
    assert len(found.checks) == 1
    assert found.compared
    assert not found.holds
    assert "broken off before" in found.verdict
    assert seen[0] == ("reference", 0)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"only": "guesses"}, "there is no kind of check"),
    ({"only": []}, "no kind of check is named"),
    ({"only": "motion"}, "those of a motion, and this is a model"),
    ({"store": "models.db"}, "expected an open store"),
    ({"observe": 3}, "expected a function"),
    ({"save": "yes"}, "expected true or false"),
    ({"states": 0}, "expected a whole number"),
    ({"states": 10**9}, "expected a whole number"),
    ({"states": "many"}, "expected a whole number"),
    ({"seed": -1}, "expected a whole number"),
    ({"outputs": ["heat"]}, "heat"),
    ({"formulation": "guess"}, "guess"),
]


@pytest.mark.parametrize(("options", "words"), BAD, ids=[str(options) for options, _ in BAD])
def test_bad_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(cf.Error, match=words):
        cf.verify(EXAMPLES / "four_bar.toml", **options)


def test_bad_subjects_are_refused(tmp_path: Path) -> None:
    wrong: Any = 7
    with pytest.raises(RunError, match="expected a model, a mechanism, a motion, or a file"):
        cf.verify(wrong)
    with pytest.raises(ReadError):
        cf.verify(tmp_path / "nothing.toml")
    model = cf.derive(EXAMPLES / "four_bar.toml", ["gravity"])
    with pytest.raises(RunError, match="a model takes no options"):
        cf.verify(model, formulation="lagrange")
    with pytest.raises(RunError, match="a motion takes no options"):
        cf.verify(EXAMPLES / "scenarios" / "pendulum.toml", ["gravity"])
    with pytest.raises(ReadError, match="those of a model, and this is a motion"):
        cf.verify(EXAMPLES / "scenarios" / "pendulum.toml", only="laws")
    with pytest.raises(ReadError, match="there is no such file"):
        cf.verify("x" * 5000)
    with pytest.raises(ReadError, match="no store is given") as caught:
        cf.verify("arm@2")
    assert "store=cf.open_store()" in str(caught.value)


def test_kinds_are_those_of_models_and_motions() -> None:
    assert set(KINDS) > set(OF_MODEL)


def test_a_law_about_what_the_model_lacks_says_so() -> None:
    model = cf.derive(EXAMPLES / "four_bar.toml", ["gravity"])
    laws = {c.law: c.compared for c in cf.verify(model, only="laws", states=1).checks}
    assert laws["H is symmetric"].startswith("H (derived anew, the model lacks it) and its")
    assert "anew" not in laws["gravity is the gradient of the potential energy"]


def test_a_kind_that_compares_nothing_says_why(tmp_path: Path) -> None:
    model = cf.derive(EXAMPLES / "four_bar.toml", ["pose(rocker)", "gravity"])
    (*made, left) = cf.verify(model, only="formulations", states=1).checks
    assert [check.law.split()[-1] for check in made] == ["gravity"]
    assert left.holds is None
    assert "pose(rocker)" in left.figure
    (tmp_path / "square.expr").write_text("f = x^2")
    found = cf.verify(tmp_path / "square.expr", only=["laws", "formulations"], states=1)
    assert [(c.kind, c.holds) for c in found.checks] == [("laws", None), ("formulations", None)]
    assert all("bodies that move" in check.figure for check in found.checks)


# --- with the store -----------------------------------------------------------------------------


def test_a_stored_run_is_verified() -> None:
    run = cf.simulate(EXAMPLES / "scenarios" / "pendulum.toml")
    with cf.open_store(":memory:") as store:
        store.save(cf.derive(run.mechanism, ["gravity"]), "arm")
        cf.verify("arm", only="rows", states=1, store=store)
        store.save_run(run, "arm", "swing")
        found = cf.verify(store.run("arm", "swing"))
        assert found.holds
        assert {check.kind for check in found.checks} == {"motion"}
        with pytest.raises(cf.Error, match="there is no run of the form"):
            cf.verify(store.run("arm", "verification1"))


def test_a_certificate_stays_with_the_formulas_it_is_about() -> None:
    model = cf.derive(EXAMPLES / "four_bar.toml", ["gravity"], parameters="symbolic")
    with cf.open_store(":memory:") as store:
        store.save(model, "arm")
        store.bind("arm", {"a": "0.25"})
        of_file = cf.verify(model, only="rows", states=1)
        first = cf.verify("arm@1", only="rows", states=1, store=store, save=False)
        for certificate in (of_file, first):
            with pytest.raises(StoreError, match="about other formulas"):
                store.save_run(certificate, "arm@2", "verification1")
        store.save_run(first, "arm@1", "mine")
        assert [run.name for run in store.runs("arm@1")] == ["mine"]
        assert not store.runs("arm@2")


def test_the_name_of_a_stored_model_may_have_a_dot() -> None:
    model = cf.derive(EXAMPLES / "four_bar.toml", ["gravity"])
    with cf.open_store(":memory:") as store:
        for name in ("arm.v2", "arm.toml"):
            store.save(model, name)
            found = cf.verify(f"{name}@1", only="rows", states=1, store=store)
            assert found.holds
            assert found.subject.startswith(f"{name}@1,")
            assert cf.verify(name, only="rows", states=1, store=store, save=False).holds
        file = str(EXAMPLES / "four_bar.toml")
        of_file = cf.verify(file, ["gravity"], only="rows", states=1, store=store)
        assert of_file.subject.startswith("four_bar, ")


def test_a_certificate_is_kept_with_its_revision(tmp_path: Path) -> None:
    with cf.open_store(tmp_path / "models.db") as store:
        model = cf.derive(EXAMPLES / "four_bar.toml", ["gravity", "inverse_dynamics"])
        store.save(model, "linkage")
        store.save(model.reduce("thesis"), "linkage")
        found = held(cf.verify("linkage@1", only=QUICK, store=store), "reference", "rows")
        assert found.subject.startswith("linkage@1, ")
        assert found.content == store.revision("linkage@1").content
        (kept,) = certificates(store, "linkage@1")
        assert kept.document == found.document
        assert certificates(store, "linkage") == []
        cf.verify("linkage@1", only="text", store=store, save=False)
        cf.verify("linkage@1", only="text", store=store)
        names = [entry.name for entry in store.runs("linkage@1")]
        assert names == ["verification1", "verification2"]


def test_a_store_that_is_only_read_is_refused_before_the_work(tmp_path: Path) -> None:
    file = tmp_path / "models.db"
    with cf.open_store(file) as store:
        store.save(cf.derive(EXAMPLES / "four_bar.toml", ["gravity"]), "bar")
    seen: list[str] = []
    with cf.open_store(file, read_only=True) as store:
        with pytest.raises(StoreError, match="save=False"):
            cf.verify("bar", store=store, observe=lambda kind, _: seen.append(kind))
        assert cf.verify("bar", only="rows", states=1, store=store, save=False).holds
    assert seen == []


def test_what_was_made_of_a_revision_is_no_revision(tmp_path: Path) -> None:
    with cf.open_store(tmp_path / "models.db") as store:
        store.save(cf.derive(EXAMPLES / "four_bar.toml", ["gravity"], parameters="symbolic"), "bar")
        loaded = store.load("bar")
        for changed in (loaded.bind({"a": "1/3"}), loaded.reduce("thesis")):
            found = cf.verify(changed, only="text", store=store)
            assert found.holds
            assert found.content == ""
            assert not found.subject.startswith("bar@1")
        assert store.runs("bar@1") == []
        found = cf.verify("bar@1", ["gravity"], only="text", store=store)
        assert store.runs("bar@1") == []
        assert found.content == ""


def test_a_certificate_that_was_changed_is_refused(tmp_path: Path) -> None:
    with cf.open_store(tmp_path / "models.db") as store:
        store.save(cf.derive(EXAMPLES / "four_bar.toml", ["gravity"]), "bar")
        cf.verify("bar", only="text", store=store)
    import sqlite3

    with sqlite3.connect(tmp_path / "models.db") as base:
        base.execute("UPDATE runs SET options = replace(options, 'true', 'false')")
    with cf.open_store(tmp_path / "models.db") as store, pytest.raises(cf.Error):
        certificates(store, "bar")
