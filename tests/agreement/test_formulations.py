"""Every formulation against every other, in fractions: equal, with no tolerance."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.formulations import FORMULATIONS, Options
from chainform.graph import EXACT, evaluate, verify
from chainform.mechanism import parametrise
from zoo import exact_state, random_tree, reference

TREES = range(16)
ALL_TREES = range(70)
ALONE = range(4)
"""Seeds of mechanisms whose outputs have a graph of their own each; others have one for all."""
REFERENCES = (
    "rackovic_2_1",
    "rackovic_4_1",
    "manipulator_5dof",
    "puma560",
    "stanford_toolbox",
    "stanford_arm",
    "seven_axis_general",
    "sliding_links_3",
)
SHARED = ("mass_matrix", "coriolis", "gravity", "inverse_dynamics", "bias", "coriolis_matrix")


def mechanisms(seeds: range = TREES) -> list[Any]:
    trees = [pytest.param(partial(random_tree, seed), seed, id=f"tree{seed}") for seed in seeds]
    # Large ones have seeds above those of ALONE.
    states = dict.fromkeys(REFERENCES, 61) | {"rackovic_2_1": 1, "sliding_links_3": 2}
    references = [pytest.param(partial(reference, n), s, id=n) for n, s in states.items()]
    return [*trees, *references]


def values_of(
    mechanism: cf.Mechanism, state: dict[str, Any], formulation: str, output: str, parameters: str
) -> Any:
    return all_values(mechanism, state, formulation, [output], parameters)[output]


def all_values(
    mechanism: cf.Mechanism,
    state: dict[str, Any],
    formulation: str,
    outputs: list[str],
    parameters: str,
) -> Any:
    if not outputs:
        return {}
    model = cf.derive(mechanism, outputs, formulation=formulation, parameters=parameters)
    verify(model.graph)
    return evaluate(model.graph, state, EXACT)


@pytest.mark.parametrize(("mechanism", "seed"), mechanisms(ALL_TREES), indirect=["mechanism"])
def test_all_formulations_agree(mechanism: cf.Mechanism, seed: int) -> None:
    """Each output from a graph of its own, or from one graph of all that a formulation has."""
    state = exact_state(mechanism, seed)
    # Symbols and numbers in turn: each is met by half of the mechanisms.
    parameters = "symbolic" if seed % 2 else "numeric"
    first: dict[str, Any] = {}
    for method in FORMULATIONS.values():
        shared = [output for output in SHARED if output in method.outputs]
        for outputs in [[output] for output in shared] if seed in ALONE else [shared]:
            values = all_values(mechanism, state, method.name, outputs, parameters)
            for output in outputs:
                expected = first.setdefault(output, values[output])
                assert (values[output] == expected).all(), f"{output} by {method.name}"
    assert set(first) == set(SHARED)


@pytest.mark.usefixtures("cheapest_axes")
@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("puma560", "inverse_dynamics"),
        ("puma560", "mass_matrix"),
        ("rackovic_2_1", "mass_matrix"),
        ("stanford_toolbox", "inverse_dynamics"),
    ],
)
def test_every_choice_of_axes_gives_the_same(name: str, output: str) -> None:
    mechanism = reference(name)
    state = exact_state(mechanism, 7)
    settled, method = parametrise(mechanism, "numeric"), FORMULATIONS["auto"]
    first, choices = method.graph(settled, [output], Options())
    others = method.graphs_in_other_axes(settled, [output], Options(), choices)
    values = [evaluate(graph, state, EXACT)[output] for graph in (first, *others)]
    assert len(values) > 1
    assert all((value == values[0]).all() for value in values)


@pytest.mark.parametrize(("mechanism", "seed"), mechanisms(), indirect=["mechanism"])
def test_coriolis_matrix_sums_the_christoffel_symbols(mechanism: cf.Mechanism, seed: int) -> None:
    state = exact_state(mechanism, seed)
    qd = np.array([state[f"qd{i + 1}"] for i in range(mechanism.nv)], dtype=object)
    symbols = values_of(mechanism, state, "composite_body", "coriolis", "numeric")
    matrix = values_of(mechanism, state, "composite_body", "coriolis_matrix", "numeric")
    assert (matrix == symbols @ qd).all()


@pytest.mark.parametrize(
    "formulation", [m.name for m in FORMULATIONS.values() if "forward_dynamics" in m.outputs]
)
@pytest.mark.parametrize(("mechanism", "seed"), mechanisms(), indirect=["mechanism"])
def test_forward_dynamics_undoes_inverse_dynamics(
    mechanism: cf.Mechanism, seed: int, formulation: str
) -> None:
    state, is_singular = with_efforts(mechanism, seed)
    if is_singular:
        with pytest.raises(cf.Error):
            values_of(mechanism, state, formulation, "forward_dynamics", "numeric")
        return
    qdd = values_of(mechanism, state, formulation, "forward_dynamics", "numeric")
    assert qdd.tolist() == [state[f"qdd{i + 1}"] for i in range(mechanism.nv)]


@lru_cache(8)
def with_efforts(mechanism: cf.Mechanism, seed: int) -> tuple[dict[str, Any], bool]:
    """Return a state with the efforts that belong to it, and whether no other way leads back."""
    state = exact_state(mechanism, seed)
    tau = values_of(mechanism, state, "newton_euler", "inverse_dynamics", "numeric")
    matrix = values_of(mechanism, state, "closed_form", "mass_matrix", "numeric")
    is_singular = bool(np.linalg.matrix_rank(matrix.astype(float), tol=1e-9) < mechanism.nv)
    return state | {f"tau{i + 1}": value for i, value in enumerate(tau)}, is_singular


def test_gravity_may_be_turned_with_the_base() -> None:
    """A base that stands askew feels gravity from another side, and nothing else changes."""
    upright = random_tree(3)

    turned = replace(
        upright, base=replace(upright.base, rotation=reference("rackovic_2_1").segments[1].rotation)
    )
    state = exact_state(upright, 5)
    for formulation in ("closed_form", "newton_euler", "composite_body"):
        before = values_of(upright, state, formulation, "gravity", "numeric")
        after = values_of(turned, state, formulation, "gravity", "numeric")
        reference_value = values_of(turned, state, "closed_form", "gravity", "numeric")
        assert (after == reference_value).all()
        assert (after != before).any()


@pytest.mark.slow
def test_the_humanoid_agrees_in_what_is_not_cubic() -> None:
    mechanism = reference("humanoid_30")
    state = exact_state(mechanism, 2)
    for output in ("mass_matrix", "gravity"):
        methods = [m.name for m in FORMULATIONS.values() if output in m.outputs]
        first, *others = [values_of(mechanism, state, m, output, "numeric") for m in methods]
        assert all((value == first).all() for value in others), output
