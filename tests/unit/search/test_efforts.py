"""How much is done: the choices, their options, and what each leaves."""

from __future__ import annotations

import gc
import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

import chainform as cf
from chainform.algebra import Prices, system_of
from chainform.errors import DeriveError
from chainform.formulations import Formulation
from chainform.graph import Graph, cost, evaluate, verify
from chainform.readers import read_text
from chainform.search import (
    EFFORTS,
    SINE_COST,
    Stage,
    effort_of,
    fast,
    path_of,
    reduce_graph,
    seconds_of,
)
from chainform.search.neighbourhood import Walk
from reductions import check_kept, operations
from zoo import DATA, exact_state, random_tree, reference


@pytest.fixture(autouse=True)
def short_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the walk of a fast reduction be short, so that the tests are quick."""
    monkeypatch.setattr(fast, "FEWEST", 40)
    monkeypatch.setattr(fast, "MOST", 40)


# --- options ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("5m", 300), ("90", 90), ("90s", 90), (" 1.5 h ", 5400), (".5s", 0.5), (2, 2)),
        *(
            (0.25, 0.25),
            ("1h30m", 5400),
            ("1m30s", 90),
            ("1h 0.5m 1s", 3631),
            (Fraction(1, 4), 0.25),
        ),
    ],
)
def test_times(text: Any, seconds: float) -> None:
    assert seconds_of(text) == seconds
    assert effort_of("deep", budget=text).seconds == seconds


@pytest.mark.parametrize(
    "text",
    [
        *("", "soon", "5d", "-1", "0", "1e3", "nan", "inf", 0, -3, "5 m m", "30m1h", "1h30", "m"),
        *([1], b"5s", True, False, {}, object(), 1j, -(10**400)),
    ],
)
def test_no_times(text: Any) -> None:
    with pytest.raises(DeriveError, match="no time to search for") as found:
        effort_of("deep", budget=text)
    assert found.value.element == "budget"
    assert found.value.remedy is not None


def test_too_long_times() -> None:
    digits = "9" * 400
    for text in (10**400, 10**5000, digits, f"{digits}h", 1e300, "8761h", "1000000000000"):
        with pytest.raises(DeriveError, match="time to search for") as found:
            effort_of("deep", budget=text)
        assert found.value.element == "budget"
        assert found.value.remedy is not None
        assert len(found.value.message) < 100


def test_numbers_that_python_does_not_write() -> None:
    for option in ("sine_cost", "seed", "steps", "cores"):
        large: dict[str, Any] = {option: 10**5000}
        with pytest.raises(DeriveError, match=r"many digits|not finite"):
            effort_of("deep", **large)


def test_times_that_are_not_finite() -> None:
    for number in (float("nan"), float("inf")):
        with pytest.raises(DeriveError):
            seconds_of(number)


def test_an_unknown_effort() -> None:
    with pytest.raises(DeriveError) as found:
        effort_of("depe")
    assert found.value.element == "reduce"
    assert found.value.remedy == (
        f"did you mean 'deep'? choices are {', '.join(EFFORTS)}, or passes by name"
    )


@pytest.mark.parametrize("name", ["none", "thesis", "fast"])
def test_bounds_belong_to_deep(name: str) -> None:
    with pytest.raises(DeriveError, match="takes no budget") as found:
        effort_of(name, budget=5)
    assert found.value.element == "budget"
    with pytest.raises(DeriveError, match="takes no steps"):
        effort_of(name, steps=5)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("sine_cost", value) for value in (-1, float("nan"), float("inf"), "12", True, None)),
        *(("sine_cost", value) for value in (10**400, 1e17, 1e308, 1e6 + 1, [1], b"1")),
        *(("seed", value) for value in (-1, 1.5, "0", True, None)),
        *(("steps", value) for value in (0, -4, 2.5, "9", False, 10**400)),
        *(("cores", value) for value in (0, -1, 1.5, "all", [2])),
    ],
)
def test_bad_numbers(option: str, value: Any) -> None:
    with pytest.raises(DeriveError) as found:
        effort_of("deep", **{option: value})
    assert found.value.element == option
    assert found.value.remedy is not None
    assert len(found.value.message) < 120


def test_an_unknown_effort_is_refused_before_anything_is_derived(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mechanism = reference("rackovic_2_1")
    monkeypatch.setattr(Formulation, "graph", None)
    with pytest.raises(DeriveError, match="quick"):
        cf.derive(mechanism, reduce="quick")


# --- stages -----------------------------------------------------------------------------------

ZOO: list[tuple[Any, list[str], str]] = [
    (reference("rackovic_2_1"), ["mass_matrix", "coriolis", "gravity"], "numeric"),
    (reference("manipulator_5dof"), ["inverse_dynamics"], "numeric"),
    (reference("manipulator_5dof"), ["forward_dynamics"], "symbolic"),
    (reference("sliding_links_3"), ["mass_matrix"], "symbolic"),
    (reference("stanford_arm"), ["mass_matrix", "gravity"], "numeric"),
    (random_tree(2), ["mass_matrix", "com"], "numeric"),
    (random_tree(3), ["mass_matrix"], "numeric"),
]


@pytest.mark.parametrize(("mechanism", "outputs", "parameters"), ZOO)
def test_fast_is_never_dearer(mechanism: Any, outputs: list[str], parameters: str) -> None:
    graph = cf.derive(mechanism, outputs, parameters=parameters).graph
    stages = reduce_graph(graph, effort_of("fast"))
    names = ["formulation", "extract_divisors", "search_neighbourhoods"]
    assert [stage.name for stage in stages if stage.name != "choose_start"] == names
    for before, stage in pairwise(s for s in stages if s.name != "choose_start"):
        assert operations(stage.graph) <= operations(before.graph), stage.name
        assert stage.cost == cost(stage.graph)
        assert stage.seconds > 0
    assert stages[-1].options["steps"] in (40, fast.TRIAL)
    state = exact_state(mechanism, 2) | {f"tau{i}": i for i in range(1, 9)}
    check_kept(graph, stages[-1].graph, state)


def price(graph: Graph) -> float:
    return system_of(graph, Prices(call=SINE_COST)).sums.cost


@pytest.mark.parametrize(
    ("name", "formulation"),
    [
        ("rackovic_2_1", "closed_form"),
        ("rackovic_2_1", "elements"),
        ("rackovic_2_1", "lagrange"),
        ("rackovic_2_1", "composite_body"),
        ("manipulator_5dof", "closed_form"),
        ("puma560", "closed_form"),
        ("stanford_arm", "closed_form"),
    ],
)
def test_fast_is_never_dearer_than_the_thesis(name: str, formulation: str) -> None:
    outputs = ["mass_matrix", "coriolis", "gravity"]
    graph = cf.derive(reference(name), outputs, formulation=formulation).graph
    found, printed = (
        reduce_graph(graph, effort_of(effort))[-1].graph for effort in ("fast", "thesis")
    )
    assert price(found) <= price(printed)
    if name.startswith("rackovic"):
        assert operations(found) <= operations(printed)


@pytest.mark.parametrize(
    ("formulation", "outputs"),
    [("kinetostatic", ["mass_matrix", "gravity"]), ("gibbs_appell", ["mass_matrix", "bias"])],
)
def test_nor_where_there_are_other_outputs(formulation: str, outputs: list[str]) -> None:
    graph = cf.derive(reference("rackovic_2_1"), outputs, formulation=formulation).graph
    found, printed = (
        reduce_graph(graph, effort_of(effort))[-1].graph for effort in ("fast", "thesis")
    )
    assert operations(found) <= operations(printed)


def test_fast_starts_from_a_stage_of_the_thesis_where_that_is_better() -> None:
    model = cf.derive(
        reference("rackovic_2_1"), ["gravity", "mass_matrix"], formulation="closed_form"
    )
    stages = reduce_graph(model.graph, effort_of("fast"))
    assert stages[1].name == "choose_start"
    assert stages[1].options["stage"] in ("analytic expressions", "final graph")
    assert operations(stages[-1].graph) < operations(model.graph) / 5


def test_fast_is_not_dearer_where_angles_have_multiples() -> None:
    """A walk does not look into angles; the thesis shares 3 q3 and takes 3 out of 3 a + 3 q2."""
    text = "sin(3*a + 3*q2)*cos(3*q3 + a) - sin(0.5*q1 - q3)*cos(0.5*q2 - 3*q3)*q2"
    graph = cf.read_expressions({"Y": text}).graph
    stages, printed = (reduce_graph(graph, effort_of(effort)) for effort in ("fast", "thesis"))
    assert stages[-1].name == "choose_end"
    assert operations(stages[-1].graph) <= operations(printed[-1].graph) < operations(graph)


@pytest.mark.slow
def test_fast_takes_the_expressions_of_the_biped() -> None:
    """The thesis ends at 994 multiplications and 1497 additions."""
    outputs = ["mass_matrix", "coriolis", "gravity"]
    graph = cf.derive(reference("rackovic_4_1"), outputs, formulation="closed_form").graph
    stages = reduce_graph(graph, effort_of("fast"))
    assert stages[1].options == {"stage": "analytic expressions"}
    assert operations(stages[-1].graph) < 1500


def test_none_is_the_graph_alone() -> None:
    graph = cf.derive(reference("rackovic_2_1"), ["gravity"]).graph
    (stage,) = reduce_graph(graph, effort_of("none"), start="before")
    assert (stage.name, stage.graph, stage.seconds) == ("before", graph, 0.0)


def test_stages_are_observed_as_they_come() -> None:
    graph = cf.derive(reference("manipulator_5dof"), ["gravity"]).graph
    seen: list[Stage] = []
    stages = reduce_graph(graph, effort_of("fast", seed=4), observe=seen.append)
    assert tuple(seen) == stages
    assert stages[1].options == {"sine_cost": SINE_COST}
    assert stages[2].options["seed"] == 4


def test_thesis_keeps_the_stages_with_all_outputs() -> None:
    graph = cf.derive(
        reference("manipulator_5dof"), ["mass_matrix", "gravity"], formulation="closed_form"
    ).graph
    seen: list[Stage] = []
    stages = reduce_graph(graph, effort_of("thesis"), observe=seen.append)
    assert tuple(seen) == stages
    path = path_of(stages)
    assert len(stages) > len(path) > 3
    assert all(list(stage.graph.outputs) == list(graph.outputs) for stage in path)
    check_kept(graph, stages[-1].graph, exact_state(reference("manipulator_5dof"), 2))


def test_a_part_is_reduced_like_a_whole() -> None:
    arm = cf.derive(reference("rackovic_2_1"), ["gravity"], formulation="closed_form")
    found = reduce_graph(arm.graph, effort_of("thesis"))
    part = next(stage.graph for stage in found if list(stage.graph.outputs) == ["part"])
    stages = reduce_graph(part, effort_of("thesis"))
    assert operations(stages[-1].graph) < operations(part)
    check_kept(part, stages[-1].graph, exact_state(reference("rackovic_2_1"), 2))


def test_a_step_that_changes_a_value_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = reference("manipulator_5dof")
    graph = cf.derive(mechanism, ["gravity"]).graph
    payload = mechanism.with_payload(mechanism.segments[-1].name, "0.001", [0, 0, 0])
    wrong = cf.derive(payload, ["gravity"]).graph
    monkeypatch.setattr(Walk, "best_graph", lambda _: wrong)
    with pytest.raises(DeriveError, match="search_neighbourhoods changed a value"):
        reduce_graph(graph, effort_of("fast"))


def test_passes_by_name() -> None:
    graph = cf.derive(reference("puma560"), ["gravity"], formulation="closed_form").graph
    effort = effort_of("expand(trig=true), extract_divisors(sine_cost=2.5)")
    stages = reduce_graph(graph, effort)
    assert [stage.name for stage in stages] == ["formulation", "expand", "extract_divisors"]
    assert stages[2].options == {"passes": "extract_divisors(sine_cost=2.5)"}
    with pytest.raises(DeriveError, match="did you mean 'merge_equal'"):
        effort_of("expand,merge_equals")


@pytest.mark.slow
def test_a_search_is_never_worse_than_a_short_one() -> None:
    graph = cf.derive(reference("puma560"), ["inverse_dynamics"]).graph
    short = reduce_graph(graph, effort_of("fast"))[-1].graph
    long = reduce_graph(graph, effort_of("deep", steps=1, cores=1))[-1].graph
    assert operations(long) <= operations(short)


def test_a_better_start_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast, "SHORT", 0)
    monkeypatch.setattr(fast, "PER_OPERATION", 0)
    plain = cf.derive(reference("puma560"), ["gravity"], formulation="closed_form").graph
    better = cf.derive(reference("puma560"), ["gravity"]).graph
    stages = reduce_graph(plain, effort_of("fast"), others=lambda: [better])
    names = [stage.name for stage in stages]
    assert names == ["formulation", "choose_start", "extract_divisors", "search_neighbourhoods"]
    assert stages[1].graph is better


@pytest.mark.parametrize(("large", "walks"), [(0.0, 1), (1e9, 3)])
def test_far_starts_are_walked_from_in_small_systems_only(
    monkeypatch: pytest.MonkeyPatch, large: float, walks: int
) -> None:
    model = cf.derive(reference("rackovic_2_1"), ["mass_matrix", "coriolis", "gravity"])
    prices = Prices()
    starts = fast.best_starts([model.graph, *model._graphs_in_other_axes()], prices)
    assert starts[1].cost > 1.1 * starts[0].cost
    seen: list[Walk] = []
    monkeypatch.setattr(fast, "LARGE", large)
    monkeypatch.setattr(fast, "Walk", lambda *given: seen.append(Walk(*given)) or seen[-1])
    assert fast.best_walk(starts, prices)[0] is starts[0]
    assert len(seen) == walks


@pytest.mark.parametrize("is_enabled", [True, False])
def test_the_collection_of_garbage_is_left_as_it_was(is_enabled: bool) -> None:
    graph = cf.derive(reference("manipulator_5dof"), ["gravity"]).graph
    try:
        (gc.enable if is_enabled else gc.disable)()
        reduce_graph(graph, effort_of("fast"))
        assert gc.isenabled() is is_enabled
        with pytest.raises(ZeroDivisionError), fast.without_collection():
            _ = 1 // int(gc.isenabled())
        assert gc.isenabled() is is_enabled
    finally:
        gc.enable()


def test_a_start_with_other_values_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast, "SHORT", 0)
    monkeypatch.setattr(fast, "PER_OPERATION", 0)
    mechanism = reference("puma560")
    plain = cf.derive(mechanism, ["gravity"], formulation="closed_form").graph
    payload = mechanism.with_payload(mechanism.segments[-1].name, "0.001", [0, 0, 0])
    wrong = cf.derive(payload, ["gravity"]).graph
    with pytest.raises(DeriveError, match="choose_start changed a value"):
        reduce_graph(plain, effort_of("fast"), others=lambda: [wrong])


# --- what is asked of a reduction -------------------------------------------------------------


def test_free_parameters() -> None:
    mechanism = reference("manipulator_5dof")
    outputs = ["mass_matrix", "gravity"]
    plain = cf.derive(mechanism, outputs, parameters="symbolic")
    model = plain.reduce()
    assert model.free_parameters == plain.free_parameters
    values = exact_state(mechanism, 5)
    for place, name in enumerate(model.free_parameters, start=1):
        values[name] = place
    check_kept(plain.graph, model.graph, values)
    once = model.count(once=True)
    assert once.multiplications + once.additions > 0
    assert operations(model.graph) < operations(plain.graph)
    numeric = cf.derive(mechanism, outputs).reduce()
    assert operations(model.graph) <= 1.3 * operations(numeric.graph)


def with_gravity(z: float) -> cf.Mechanism:
    data = json.loads((DATA / "manipulator_5dof.json").read_text("utf-8"))
    place = data.get("mechanism", data)
    place["gravity"] = [0.0, 0.0, z]
    return read_text(json.dumps(data), "json")


def test_gravity_can_stay_free() -> None:
    model = cf.derive(with_gravity(-9.81), ["inverse_dynamics"], parameters=["g"]).reduce()
    assert list(model.free_parameters) == ["g"]
    state = exact_state(model.mechanism, 6)
    for g in ("1.62", "9.81", "0"):
        other = cf.derive(with_gravity(-float(g)), ["inverse_dynamics"]).graph
        bound = model.bind({"g": g}).graph
        verify(bound)
        expected = evaluate(other, state)["inverse_dynamics"]
        assert (evaluate(bound, state)["inverse_dynamics"] == expected).all()


@pytest.mark.slow
def test_cheap_sines_are_used() -> None:
    mechanism = reference("rackovic_2_1")
    outputs = ["mass_matrix", "coriolis", "gravity"]
    model = cf.derive(mechanism, outputs)
    usual, cheap = (model.reduce(sine_cost=c).count() for c in (SINE_COST, 0))
    assert cheap.sin + cheap.cos > usual.sin + usual.cos
    assert cheap.multiplications + cheap.additions < usual.multiplications + usual.additions


def test_effort_is_a_value() -> None:
    effort = effort_of("deep", steps=5)
    assert replace(effort, seed=3) == effort_of("deep", steps=5, seed=3)
