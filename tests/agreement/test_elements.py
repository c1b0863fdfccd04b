"""Elements against all other formulations, and both algorithms of its authors, in fractions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.formulations.elements import ElementEquation
from chainform.formulations.shared.options import Options
from chainform.formulations.shared.outputs import declare
from chainform.graph import EXACT, Builder, cost, evaluate, verify
from chainform.mechanism import BaseMotion, parametrise
from chainform.pipeline import available_outputs
from element_models import exact_inputs, random_model
from zoo import exact_state, loaded_tree, random_tree, reference

MODELS = range(12)


def values_of(mechanism: cf.Mechanism, state: dict[str, Any], output: str, **options: Any) -> Any:
    return np.asarray(all_values(mechanism, state, [output], **options)[output])


def all_values(
    mechanism: cf.Mechanism, state: dict[str, Any], outputs: list[str], **options: Any
) -> dict[str, Any]:
    graph = cf.derive(mechanism, outputs, **options).graph
    verify(graph)
    return evaluate(graph, state, EXACT)


def state_of(mechanism: cf.Mechanism, seed: int) -> dict[str, Any]:
    state = exact_inputs(mechanism, exact_state(mechanism, seed))
    return state | {f"wrench{k}": Fraction(k, 3) for k in range(1, 7)}


@pytest.mark.parametrize("seed", range(0, 24, 2))
def test_loads_enter_as_with_other_methods(seed: int) -> None:
    tree = loaded_tree(seed)
    state, on = state_of(tree, seed), [tree.segments[-1].name]
    outputs = ["inverse_dynamics", "mass_matrix"]
    for without in ((), ("friction", "rotors"), ("springs", "forces")):
        options: dict[str, Any] = {"wrenches": on, "without": without}
        usual = all_values(tree, state, outputs, **options)
        own = all_values(tree, state, outputs, formulation="elements", **options)
        for output in outputs:
            assert (own[output] == usual[output]).all(), (output, without)


def moving_base() -> BaseMotion:
    """Return a base that slides and turns by laws of time whose values are rational."""
    builder = cf.Mechanism.builder("carrier").segment("arm", axis="z", mass=1)
    place = {"position": ["t^2/3", "1 - t^3", "t/2"], "quaternion": ["t/5", "t^2/7", "1/3", 1]}
    return builder.base(place).build().base


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 24, 4))
def test_a_base_that_moves_by_laws_of_time(seed: int) -> None:
    tree = replace(loaded_tree(seed), base=moving_base())
    state = state_of(tree, seed)
    assert state["t"]
    outputs = ["inverse_dynamics", "bias", "gravity", "mass_matrix", "coriolis_matrix"]
    usual = all_values(tree, state, outputs)
    for mechanism, formulation in ((tree, "elements"), (tree.as_elements(), "auto")):
        own = all_values(mechanism, state, outputs, formulation=formulation)
        for output in outputs:
            assert (own[output] == usual[output]).all(), (output, formulation)


def test_a_base_with_given_velocities_is_no_place_for_elements() -> None:
    tree = replace(random_tree(4), base=replace(BaseMotion(), velocity=(Fraction(1),) * 3))
    for output in ("inverse_dynamics", "velocity(ground)", "kinetic_energy"):
        with pytest.raises(cf.Error, match="given velocities or accelerations") as caught:
            cf.derive(tree.as_elements(), [output])
        assert "laws of t" in (caught.value.remedy or "")
    with pytest.raises(cf.Error, match="no place for a base that moves"):
        cf.derive(tree, ["inverse_dynamics"], formulation="elements")
    available = available_outputs(tree.as_elements())
    assert "mass_matrix" in available
    assert not {"inverse_dynamics", "kinetic_energy"}.intersection(available)
    for output in available:
        cf.derive(tree.as_elements(), [output])


@pytest.mark.parametrize("base", [BaseMotion(), moving_base()], ids=["at rest", "moving"])
@pytest.mark.parametrize("seed", range(1, 25, 3))
def test_quantities_of_a_mechanism_as_elements(seed: int, base: BaseMotion) -> None:
    tree = replace(loaded_tree(seed), base=base)
    elements, state = tree.as_elements(), state_of(tree, seed)
    last = tree.segments[-1].name
    outputs = ["kinetic_energy", "potential_energy", "passive", "momentum", f"pose({last})"]
    if any(segment.body.mass for segment in tree.segments if segment.rate is not None):
        outputs += ["com", "com_velocity", "com_acceleration", "com_jacobian"]
        outputs += [
            f"centroidal_momentum{part}" for part in ("", "_rate", "_matrix", "_matrix_rate")
        ]
    for axes in ("", ",local", ",mixed"):
        kinds = ("velocity", "acceleration", "jacobian", "jacobian_rate")
        outputs += [f"{kind}({last}{axes})" for kind in kinds]
    usual, own = (all_values(m, state, outputs) for m in (tree, elements))
    for output in outputs:
        assert np.all(own[output] == usual[output]), output


def test_symbolic_parameters_and_loops() -> None:
    arm = reference("rackovic_2_1")
    state = state_of(arm, 3)
    usual, own = (
        values_of(arm, state, "inverse_dynamics", formulation=f, parameters="symbolic")
        for f in ("newton_euler", "elements")
    )
    assert (usual == own).all()
    squeezer = cf.read("examples/squeezer.toml")
    q, outputs = np.linspace(-1, 1, squeezer.nq), ["inverse_dynamics", "closure_jacobian"]
    count = sum(3 if loop.kind == "point" else 6 for loop in squeezer.loops)
    states: dict[str, Any] = {
        "q": q,
        "qd": q[::-1],
        "qdd": q**2,
        "sigma": np.arange(1.0, 1 + count),
    }
    found = [
        cf.derive(squeezer, outputs, formulation=f).evaluate(**states) for f in ("auto", "elements")
    ]
    for name, value in found[0].items():
        assert np.allclose(found[1][name], value, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", MODELS)
def test_both_algorithms_give_the_same_equations(seed: int) -> None:
    """Sorting forces while the equations are built, or differentiating the finished ones."""
    model = random_model(seed)
    builder = Builder()
    equation = ElementEquation(builder, parametrise(model, "numeric"), Options())
    matrix, right = equation.by_differentiation()
    n, m = model.nv, len(model.unknowns)
    declare(builder, "A", "Ad", (n, m), matrix)
    declare(builder, "B", "Bd", (n,), right)
    state = state_of(model, seed)
    by_differentiation = evaluate(builder.finish(), state, EXACT)
    sorted_ = cf.derive(model, ["force_matrix", "force_right"]).graph
    by_sorting = evaluate(sorted_, state, EXACT)
    assert (by_differentiation["A"] == by_sorting["force_matrix"]).all()
    assert (by_differentiation["B"] == by_sorting["force_right"]).all()
    assert by_sorting["force_matrix"].any()
    counts = [cost(graph) for graph in (builder.finish(), sorted_)]
    assert counts[1].multiplications <= counts[0].multiplications


@pytest.mark.parametrize("seed", MODELS)
def test_all_equations_of_a_model_belong_together(seed: int) -> None:
    """tau = H qdd + bias + passive - forces, B = tau + A X, and forward undoes inverse dynamics."""
    model = random_model(seed)
    state = state_of(model, seed)
    names = ["mass_matrix", "bias", "inverse_dynamics", "force_matrix", "force_right", "passive"]
    graph = cf.derive(model, names).graph
    value = evaluate(graph, state, EXACT)
    qdd = np.array([state[f"qdd{k + 1}"] for k in range(model.nv)], dtype=object)
    X = np.array([state[name] for name in model.unknowns], dtype=object)
    H, A, tau = value["mass_matrix"], value["force_matrix"], value["inverse_dynamics"]
    assert (H == H.T).all()
    assert (value["force_right"] == tau + A @ X).all()
    at_rest = evaluate(graph, state | {f"qdd{k + 1}": Fraction(0) for k in range(model.nv)}, EXACT)
    assert (at_rest["inverse_dynamics"] + H @ qdd == tau).all()
    if np.linalg.matrix_rank(H.astype(float)) < model.nv:
        return
    state |= {f"tau{k + 1}": value for k, value in enumerate(tau)}
    assert (values_of(model, state, "forward_dynamics") == qdd).all()


@pytest.mark.parametrize("seed", range(6))
def test_christoffel_symbols_make_the_quadratic_part_of_the_bias(seed: int) -> None:
    tree = random_tree(seed).as_elements()
    state = exact_state(tree, seed)
    C, h, hG = (values_of(tree, state, name) for name in ("coriolis", "bias", "gravity"))
    qd = np.array([state[f"qd{k + 1}"] for k in range(tree.nv)], dtype=object)
    assert (C @ qd @ qd + hG == h).all()
