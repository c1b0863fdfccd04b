"""The energy balance: what drives put in, and what is lost.

    E + losses - work = constant

E is kinetic and potential energy, that of stiff contacts with it. Two states more are integrated
besides q and qd:

    work'     sum of tau qd, and what constraints that move with time put in
    losses'   viscous and dry friction, dampers, damping of stiff contacts

An impact adds what it takes to the losses at once. What a base that moves puts in is not known, nor
what is lost in elements and actuators; then there is no energy balance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from chainform.errors import RunError
from chainform.formulations import Options, generalised_forces, passive_forces
from chainform.graph import Builder, Scalar
from chainform.mechanism import ZERO, Mechanism
from chainform.model import evaluate_states
from chainform.simulation.equations.contact.laws import Barrier, GapContext

Array = NDArray[np.float64]

WORK, LOSSES = 0, 1
"""Indices of the energy balance, behind all other states."""


def parts_without_balance(mechanism: Mechanism) -> str:
    """Return the parts whose work and losses are not known; empty where all are."""
    parts = {
        "a base that moves": mechanism.base.is_moving,
        "elements": bool(mechanism.elements),
        "actuators": bool(mechanism.actuators),
    }
    return " and ".join(name for name, is_there in parts.items() if is_there)


def no_balance(mechanism: Mechanism) -> RunError:
    """Return the error that a motion has no energy balance, with its reason."""
    parts = parts_without_balance(mechanism)
    message = "work and losses were not added up in this motion"
    remedy = "take energy_balance=True and a method such as verner65"
    if parts:
        message, remedy = f"of {parts} work and losses are not known", "run.energy is known"
    return RunError(message, element="energy_balance", remedy=remedy)


def powers(
    builder: Builder, mechanism: Mechanism, tau: Sequence[Scalar], without: Sequence[str] = ()
) -> tuple[Scalar, Scalar]:
    """Return the power of efforts and forces, and the power that dampers and viscous friction take.

    Dry friction is booked where its direction is known.
    """
    options = Options(without=frozenset(without))
    springs = [
        replace(s, stiffness=ZERO, rest=ZERO, preload=ZERO)
        for s in mechanism.springs
        if s.damping != 0
    ]
    forces = generalised_forces(builder, mechanism, options)
    taken = passive_forces(builder, replace(mechanism, springs=tuple(springs)), options)
    work, loss = builder.number(0), builder.number(0)
    for i, effort in enumerate(tau):
        rate = builder.input(f"qd{i + 1}", "qd", i)
        work = work + (effort + forces[i] if i in forces else effort) * rate
        loss = loss + taken[i] * rate if i in taken else loss
    return work, loss


def stiff_energy(mechanism: Mechanism, stiff: Sequence[Barrier], t: Array, q: Array) -> Array:
    """Return the energy that stiff contacts store, k d^2 / 2, at times and positions."""
    total = np.zeros(len(t))
    if not stiff or not len(t):
        return total
    builder = Builder()
    context = GapContext(builder, mechanism)
    values = [barrier.residuals(context)[0] for barrier in stiff]
    builder.output("gaps", (len(values),), [(f"gap_{i}", v) for i, v in enumerate(values, 1)])
    graph = builder.finish()
    given = {"q": q, "t": t}
    groups = {item.group for item in graph.inputs.values()}
    states = {group: given[group] for group in groups & given.keys()}
    gaps = evaluate_states(graph, mechanism, states, {}, None)["gaps"]
    for i, barrier in enumerate(stiff):
        total += (barrier.contact_law.stiffness or 0.0) * np.minimum(gaps[:, i], 0.0) ** 2 / 2
    return total
