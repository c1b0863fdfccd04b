"""The intermediate quantities of the authors' methods, by the names they gave them: exactly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.graph import EXACT, evaluate
from sliding_chains import CHAINS, sliding_chain
from zoo import exact_state, random_tree, reference


def values(model: cf.Model, state: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Return intermediate quantities as arrays of fractions."""
    graph = model.graph
    blocks = {name: graph.quantities[name] for name in names}
    return evaluate(replace(graph, outputs=blocks), state, EXACT)


def rates(mechanism: cf.Mechanism, state: dict[str, Any], group: str) -> Any:
    return np.array([state[f"{group}{k + 1}"] for k in range(mechanism.nv)], dtype=object)


TREES = ["rackovic_2_1", "puma560", "stanford_toolbox", 3, 6, 11]


@pytest.mark.parametrize("which", TREES)
def test_turek_splits_accelerations(which: str | int) -> None:
    """eps_j = sum alpha_jk qdd_k + theta_j, a_j = sum beta_jk qdd_k + eta_j (II.21)."""
    tree = reference(which) if isinstance(which, str) else random_tree(which)
    for j, segment in enumerate(tree.segments):
        tree = tree.with_frame(f"c{j + 1}", segment.name, segment.body.com)
    state = exact_state(tree, 5)
    mass = cf.derive(tree, ["mass_matrix"], formulation="kinetostatic")
    bias = cf.derive(tree, ["bias"], formulation="kinetostatic")
    qdd = rates(tree, state, "qdd")
    for j, segment in enumerate(tree.segments):
        if segment.body.is_massless or f"theta_{j + 1}" not in bias.quantities:
            assert segment.body.is_massless
            continue
        frame = cf.derive(tree, [f"acceleration(c{j + 1})", f"jacobian(c{j + 1})"])
        a, J = evaluate(frame.graph, state, EXACT).values()
        rest = values(bias, state, [f"theta_{j + 1}", f"eta_{j + 1}"])
        theta, eta = rest.values()
        assert (a - J @ qdd == np.array([*eta, *theta], dtype=object)).all()
        for k in tree.path_to(j):
            rate = tree.segments[k].rate
            if rate is not None:
                names = [f"beta_{j + 1}_{k + 1}", f"alpha_{j + 1}_{k + 1}", f"R_{j + 1}_{k + 1}"]
                beta, alpha, _ = values(mass, state, names).values()
                assert (np.array([*beta, *alpha], dtype=object) == J[:, rate]).all()


@pytest.mark.parametrize("which", TREES)
def test_turek_shares_of_bodies_add_up_to_the_mass_matrix(which: str | int) -> None:
    """H_ik = sum_j H_ikj (V.1), and H_ikj = H_kij is one quantity (V.3)."""
    tree = reference(which) if isinstance(which, str) else random_tree(which)
    state = exact_state(tree, 4)
    model = cf.derive(tree, ["mass_matrix"], formulation="kinetostatic")
    H = evaluate(model.graph, state, EXACT)["mass_matrix"]
    shares = [name for name in model.quantities if name.startswith("H_")]
    total = np.zeros((tree.nv, tree.nv), dtype=object)
    for name, value in values(model, state, shares).items():
        i, k, _ = (int(part) - 1 for part in name.split("_")[1:])
        first, second = tree.segments[i].rate, tree.segments[k].rate
        assert first is not None
        assert second is not None
        total[first, second] += value[()]
        if i != k:
            total[second, first] += value[()]
    assert (total == H).all()


@pytest.mark.parametrize("kind", CHAINS[:3])
def test_names_of_korayem_and_shafei(kind: str) -> None:
    """B0 and B3 are the integrals over [l - L, l], and the sweep gives Re = tau - z . chi."""
    chain = sliding_chain(3, kind)
    state = exact_state(chain, 2)
    mass = cf.derive(chain, ["mass_matrix"], formulation="gibbs_appell")
    bias = cf.derive(chain, ["bias"], formulation="gibbs_appell")
    h = evaluate(bias.graph, state, EXACT)["bias"]
    bodies = [j for j, s in enumerate(chain.segments) if not s.body.is_massless]
    beyond = 0
    for j in reversed(bodies):
        slide, number = chain.segments[j], j + 1
        assert slide.coordinate is not None
        l = state[f"q{slide.coordinate + 1}"]
        words = [f"{word}_{number}" for word in ("B0", "B3", "lambda", "sigma", "psi", "U", "xi")]
        B0, B3, lambda_, *_ = values(mass, state, words).values()
        assert B0[()] == 2
        # The integral of mu eta over [l - 1, l], with mu = 2.
        assert sorted(abs(part) for part in B3) == sorted([0, 0, abs(l**2 - (l - 1) ** 2)])
        assert lambda_[()] == beyond
        beyond += 2
        parts = values(
            bias, state, [f"{word}_{number}" for word in ("S", "T", "phi", "chi", "omega")]
        )
        S, T, phi, chi, _ = parts.values()
        assert (values(bias, state, [f"dSdr_{number}"]).popitem()[1] == S).all()
        assert (values(bias, state, [f"dSdw_{number}"]).popitem()[1] == T).all()
        turn = chain.segments[slide.parent]
        assert turn.rate is not None
        assert slide.rate is not None
        assert abs(h[turn.rate]) in [abs(part) for part in chi]
        assert abs(h[slide.rate]) in [abs(part) for part in S + phi]
