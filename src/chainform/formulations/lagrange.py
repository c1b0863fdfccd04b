"""Lagrange's equations with Christoffel symbols (Obradović and Marković 1991).

symbol     meaning                                                        there
a_ij       metric tensor of the configuration space: the mass matrix H    Table 1
da_ij/dq_k its derivatives                                                Table 2
[j,k;i]    Christoffel symbols of the first kind, C_i_j_k here            (1)
Pi         potential of gravity and springs                               (3)
Q_i        generalised forces that have no potential                      (1)

    a_ij qdd_j + [j,k;i] qd_j qd_k = - dPi/dq_i + Q_i                     covariant form (1)
    qdd = a^-1 (- [j,k;i] qd_j qd_k - dPi/dq_i + Q_i)                     normal form (2)
    [j,k;i] = (da_ij/dq_k + da_ik/dq_j - da_jk/dq_i) / 2

Drives are part of Q: inverse dynamics solves the covariant form for them, forward dynamics is the
normal form. Springs enter with the other forces (passive.py), so that gravity stays gravity
alone. Inertia of rotors is constant: it enters a_ii and no derivative. The sums of the tables
over the bodies are taken once, for everything beyond a joint, in the axes of its limb; Table 2
is written out in metric.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from chainform.formulations.applied import outer_forces
from chainform.formulations.composite_work import CompositeWork
from chainform.formulations.factorisation import solve
from chainform.formulations.kinematics import Kinematics
from chainform.formulations.metric import metric_derivatives
from chainform.formulations.motion import is_zero
from chainform.formulations.options import AxisChoices, Options
from chainform.formulations.outputs import Key, add_to, declare, label
from chainform.formulations.passive import rotor_inertias
from chainform.formulations.price import build_in_axes
from chainform.formulations.refusals import refuse_quaternions
from chainform.formulations.skeleton import Skeleton
from chainform.graph import Builder, Scalar
from chainform.mechanism import Mechanism


def lagrange(
    builder: Builder, mechanism: Mechanism, outputs: Sequence[str], options: Options
) -> AxisChoices:
    """Build Lagrange's equations, in the cheapest choice of axes; quaternions are refused."""
    refuse_quaternions(mechanism, "Lagrange's method", 'formulation="auto"')
    return build_in_axes(
        builder,
        mechanism,
        ("lagrange", *outputs),
        options,
        lambda trial, shared, given: _build(trial, mechanism, outputs, shared, given),
        runs_only=True,
    )


def _build(
    builder: Builder,
    mechanism: Mechanism,
    outputs: Sequence[str],
    shared: frozenset[int],
    options: Options,
) -> None:
    equations = _Equations(builder, mechanism, shared, options)
    equations.needs_twists = any(output not in ("mass_matrix", "gravity") for output in outputs)
    makers = {
        "mass_matrix": ("H", 2, equations.tensor),
        "metric_derivative": ("dH", 3, equations.derivatives),
        "coriolis": ("C", 3, equations.symbols),
        "coriolis_matrix": ("Cm", 2, equations.symbols_times_rates),
        "gravity": ("hG", 1, equations.gravity),
        "bias": ("h", 1, equations.bias),
        "inverse_dynamics": ("tau", 1, equations.drives),
        "forward_dynamics": ("qdd", 1, equations.accelerations),
    }
    for output in outputs:
        letter, rank, values = makers[output]
        declare(builder, output, letter, (mechanism.nv,) * rank, values())


class _Equations:
    """The equations of one mechanism, entry by entry in the order of its rates."""

    def __init__(
        self, builder: Builder, mechanism: Mechanism, shared: frozenset[int], options: Options
    ) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.options = options
        skeleton = Skeleton(Kinematics(mechanism, builder))
        skeleton.regroup()
        self.work = CompositeWork(skeleton, shared)
        self.q = skeleton.kinematics.q
        self.needs_twists = True
        self.twists = cache(self.work.twists)
        self.tensor = cache(self._tensor)
        self.derivatives = cache(self._derivatives)
        self.symbols = cache(self._symbols)
        self.gravity = cache(self._gravity)

    def _tensor(self) -> dict[Key, Scalar]:
        """Return a_ij: Table 1, summed over the bodies."""
        work = self.work
        sums = (
            work.mass_matrix_from_twists(self.twists()) if self.needs_twists else work.mass_matrix()
        )
        for i, rotor in rotor_inertias(self.builder, self.mechanism, self.options).items():
            sums.add((i, i), rotor, same_joint=True)
        for key in sorted(sums.values):
            sums.values[key] = self.builder.name(label("H", key), sums.values[key])
        return sums.mirrored()

    def _derivatives(self) -> dict[Key, Scalar]:
        """Return da_ij/dq_k by (i, j, k): Table 2, summed over the bodies."""
        return metric_derivatives(self.work, self.twists())

    def _symbols(self) -> dict[Key, Scalar]:
        """Return [j,k;i] by (i, j, k)."""
        known, zero = self.derivatives(), self.builder.number(0)
        symbols: dict[Key, Scalar] = {}
        # A derivative with indices i, j, k enters symbols with the same indices only.
        for i, j, k in sorted({(p, *sorted(rest)) for key in known for p, *rest in _turns(key)}):
            twice = (
                known.get((i, j, k), zero) + known.get((i, k, j), zero) - known.get((j, k, i), zero)
            )
            if not is_zero(twice):
                name = label("C", (i, k, j))
                symbols[i, j, k] = symbols[i, k, j] = self.builder.name(name, _half(twice))
        return symbols

    def symbols_times_rates(self) -> dict[Key, Scalar]:
        """Return [j,k;i] qd_k by (i, j)."""
        entries: dict[Key, Scalar] = {}
        for (i, j, k), value in sorted(self.symbols().items()):
            add_to(entries, (i, j), value * self.q(k, "qd"))
        return entries

    def _velocity_terms(self) -> dict[Key, Scalar]:
        """Return [j,k;i] qd_j qd_k by (i): for each j the terms k = j, and twice those k < j."""
        before: dict[Key, Scalar] = {}
        own: dict[Key, Scalar] = {}
        for (i, j, k), value in sorted(self.symbols().items()):
            if k <= j:
                add_to(own if k == j else before, (i, j), value * self.q(k, "qd"))
        found: dict[Key, Scalar] = {}
        zero = self.builder.number(0)
        for i, j in sorted({*before, *own}):
            inner = own.get((i, j), zero) + 2 * before.get((i, j), zero)
            add_to(found, (i,), self.builder.keep(inner) * self.q(j, "qd"))
        return found

    def _gravity(self) -> dict[Key, Scalar]:
        """Return dPi/dq_i of gravity."""
        slopes = self.work.gravity()
        return {key: self.builder.name(label("hG", key), slopes[key]) for key in sorted(slopes)}

    def bias(self) -> dict[Key, Scalar]:
        """Return [j,k;i] qd_j qd_k + dPi/dq_i."""
        rows = dict(self.gravity())
        for key, value in self._velocity_terms().items():
            add_to(rows, key, value)
        return rows

    def drives(self) -> dict[Key, Scalar]:
        """Return tau, the covariant form solved for the drives."""
        rows = self.bias()
        for (i, j), value in sorted(self.tensor().items()):
            add_to(rows, (i,), value * self.q(j, "qdd"))
        for i, value in outer_forces(self.builder, self.mechanism, self.options).items():
            add_to(rows, (i,), value)
        return rows

    def accelerations(self) -> dict[Key, Scalar]:
        """Return qdd, the normal form."""
        right = {i: self.q(i, "tau") for i in range(self.mechanism.nv)}
        for (i,), value in self.bias().items():
            right[i] = right[i] - value
        for i, value in outer_forces(self.builder, self.mechanism, self.options).items():
            right[i] = right[i] - value
        return {(i,): value for i, value in solve(self.tensor(), right).items()}


def _turns(key: Key) -> list[Key]:
    """Return three indices turned round, so that each stands first once."""
    i, j, k = key
    return [(i, j, k), (j, k, i), (k, i, j)]


def _half(value: Scalar) -> Scalar:
    """Return half a sum, halved term by term where every coefficient is even."""
    if all(coefficient % 2 == 0 for coefficient in value.terms.values()):
        return Scalar(value.builder, {m: c // 2 for m, c in value.terms.items()})
    return value / 2
