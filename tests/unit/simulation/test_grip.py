"""Rows of a mechanism at one state, with a mass matrix that may be singular."""

from __future__ import annotations

import numpy as np
import pytest

import chainform as cf
from chainform.simulation import simulate
from chainform.simulation.contact.balance import Balance
from chainform.simulation.contact.grip import Gap, NoResistanceError, Rows, Terms
from chainform.simulation.contact.impacts import Collision


def terms_of(masses: list[float], speeds: list[float]) -> Terms:
    """Three sliders that fall; a loop ties the first two, the last two may meet."""
    n, m = 3, 2
    J = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]])
    qd = np.array(speeds)
    area = [np.diag(masses).ravel(), -10 * np.array(masses), J.ravel(), np.zeros(m)]
    return Terms.of(np.concatenate([*area, np.zeros(m), J @ qd]), n, m, 1)


def test_a_loop_takes_a_body_without_mass_along() -> None:
    """As if the mass were divided between the bodies that are tied together."""
    rows = Rows([0], [Gap(1)], {}, {})
    accelerations = []
    for masses in ([2.0, 0.0, 3.0], [1.0, 1.0, 3.0]):
        terms = terms_of(masses, [0, 0, 0])
        accelerations.append(Balance.of(terms, rows).acceleration)
        blow = Collision(
            terms_of(masses, [-1, -1, 4]), np.array([-1.0, -1.0, 4.0]), [0], [], [Gap(1)]
        )
        np.testing.assert_allclose(blow.run().qd, [2, 2, 2], atol=1e-12)
    np.testing.assert_allclose(accelerations, -10, atol=1e-9)


def test_what_nothing_resists_is_named() -> None:
    with pytest.raises(NoResistanceError) as caught:
        terms_of([1.0, 1.0, 0.0], [0, 0, 0])
    assert caught.value.rate == 2
    with pytest.raises(NoResistanceError) as caught:
        terms_of([0.0, 0.0, 1.0], [0, 0, 0])
    assert caught.value.rate in (0, 1)


def test_values_that_are_none_are_refused() -> None:
    with pytest.raises(NoResistanceError) as caught:
        terms_of([1.0, float("nan"), 1.0], [0, 0, 0])
    assert caught.value.rate == -1


def test_a_foot_without_mass_is_refused_by_name() -> None:
    builder = cf.Mechanism.builder("leg", gravity=(0, 0, -10)).parameter("m", 1)
    for name, parent, mass in ("body", "ground", 1), ("foot", "body", "m"):
        joint = {"name": name, "type": "prismatic"}
        builder.segment(name, parent=parent, joint=joint, axis="z", mass=mass)
    with pytest.raises(cf.Error, match="no mass or inertia") as caught:
        simulate(builder.build(), q0=[1, -1], t=0.5, contacts=["foot"], values={"m": 0})
    assert caught.value.element == "foot"
