"""Actuators in the loop: their states, their signals, and what they put on the joints.

symbol   meaning                                                               Turek 1993
x, N     states of an actuator; its signal within the limits                   (III.1), (III.2)
g        the row with qd = g x, where the motion is part of the state          (III.3)
P        drive                                                                 (III.4)
I, m     inertia of an actuator felt at its joint; P while the joint is not accelerated

    (H + diag(I)) qdd = m - h + tau + J^T s,     P = m - I qdd,     x' = A x + b N + e qd + f P

q and qd stand in y already. Of the states of an actuator that holds the motion of its joint, y has
those that remain: position x = q and velocity x = qd give the others. Loops that are closed, and
events that change q and qd, then change the actuators with them.

Where the load does not act back (g f = 0) the signal prescribes qdd = g (A x + b N). Without
constraints such a joint is taken out of the equations; with them it is one more row, qdd = given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chainform.formulations.shared.constraints import ConstraintRow
from chainform.formulations.shared.drives import Drive, coordinate_of
from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.outputs import solve
from chainform.graph import Builder, Scalar, is_zero
from chainform.mechanism import Actuator, Mechanism, Number, reader_of


def entry_of(builder: Builder, group: str, index: int) -> Scalar:
    """Return an entry of q, qd, x, tau or u; under constraints also of qdd and sigma."""
    return builder.input(f"{group}{index + 1}", group, index)


@dataclass(frozen=True)
class Share:
    """How the states of one actuator are divided: `rest` are those that y holds.

    `first` is the place of its states in x of all actuators. `position` and `velocity` are the
    states that follow from q and qd, None where there is none.
    """

    actuator: Actuator
    first: int
    position: int | None
    velocity: int | None

    @property
    def rest(self) -> tuple[int, ...]:
        """The states of the actuator that are not found from q and qd."""
        found = (self.position, self.velocity)
        return tuple(k for k in range(self.actuator.order) if k not in found)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of those states."""
        return tuple(self.actuator.state_names[k] for k in self.rest)


def shares_of(mechanism: Mechanism) -> tuple[Share, ...]:
    """Return the division of the states of all actuators."""
    shares: list[Share] = []
    first = 0
    for actuator in mechanism.actuators:
        shares.append(Share(actuator, first, *_found_states(mechanism, actuator)))
        first += actuator.order
    return tuple(shares)


def rest_places(mechanism: Mechanism) -> list[int]:
    """Return the places of the states besides q and qd among those of all actuators."""
    return [share.first + k for share in shares_of(mechanism) for k in share.rest]


def _found_states(mechanism: Mechanism, actuator: Actuator) -> tuple[int | None, int | None]:
    """Choose the states that are found from q and qd, so that this divides by large numbers."""
    if actuator.velocity is None:
        return None, None
    v = [_size(mechanism, entry) for entry in actuator.velocity]
    if actuator.position is None:
        return None, max(range(len(v)), key=lambda k: abs(v[k]))
    p = [_size(mechanism, entry) for entry in actuator.position]
    pairs = [(i, k) for i in range(len(p)) for k in range(len(p)) if i != k]
    return max(pairs, key=lambda ik: abs(p[ik[0]] * v[ik[1]] - p[ik[1]] * v[ik[0]]))


def _size(mechanism: Mechanism, entry: Number) -> float:
    known = reader_of(mechanism).known(entry)
    return 1.0 if known is None else float(known)


class Actuated:
    """The actuators of one system that is being built.

    `places` are those of their states besides q and qd among the inputs x.
    """

    def __init__(self, mechanism: Mechanism, kinematics: Kinematics, places: Sequence[int]) -> None:
        self.mechanism = mechanism
        self.kinematics = kinematics
        self.builder = kinematics.builder
        self.shares = shares_of(mechanism)
        self.rest = [entry_of(self.builder, "x", place) for place in places]
        values = iter(self.rest)
        self.x = [self._states(share, [next(values) for _ in share.rest]) for share in self.shares]
        self.drives: list[Drive] = []
        self.made: dict[int, Scalar] = {}
        """P by rate, once the motion is known."""
        self._rows: dict[int, ConstraintRow] = {}

    def give(self, u: Sequence[Scalar]) -> None:
        """Let the actuators have their signals."""
        self.drives = [
            Drive(share.actuator, self.kinematics, x, place, u[place])
            for place, (share, x) in enumerate(zip(self.shares, self.x, strict=True))
        ]

    # --- states -------------------------------------------------------------------------

    def _states(self, share: Share, rest: Sequence[Scalar]) -> list[Scalar]:
        """Return all states of an actuator as scalars of q, qd and those that y holds."""
        x = dict(zip(share.rest, rest, strict=True))
        rate = share.actuator.rate
        if share.velocity is not None:
            qd = entry_of(self.builder, "qd", rate)
            v, missing = self._missing(share.actuator.velocity, x, qd)
            if share.position is None:
                x[share.velocity] = self.builder.keep(missing / v[share.velocity])
            else:
                q = entry_of(self.builder, "q", coordinate_of(self.mechanism, rate))
                p, lacking = self._missing(share.actuator.position, x, q)
                i, k = share.position, share.velocity
                keep = self.builder.keep
                det = keep(p[i] * v[k] - p[k] * v[i])
                x[i] = keep(keep(v[k] * lacking - p[k] * missing) / det)
                x[k] = keep(keep(p[i] * missing - v[i] * lacking) / det)
        return [x[k] for k in range(share.actuator.order)]

    def _missing(
        self, row: Sequence[Number] | None, x: dict[int, Scalar], total: Scalar
    ) -> tuple[list[Scalar], Scalar]:
        """Return a row as scalars, and what the states not yet known must add to `total`."""
        entries = [self.kinematics.number(entry) for entry in row or ()]
        for k, value in x.items():
            total = total - entries[k] * value
        return entries, self.builder.keep(total)

    def rates(self, qdd: Sequence[Scalar], demands: Mapping[int, Scalar]) -> list[Scalar]:
        """Return the rates of the states that y holds.

        `demands` are the drives that prescribed motions demand, by rate.
        """
        rates, made = list[Scalar](), dict[int, Scalar]()
        for share, drive in zip(self.shares, self.drives, strict=True):
            acceleration = qdd[drive.rate]
            P = demands[drive.rate] if drive.is_prescribed else self._drive(drive, acceleration)
            for rate, effort in drive.efforts(P).items():
                made[rate] = self.builder.keep(made[rate] + effort) if rate in made else effort
            found = drive.derivatives(drive.N, P, acceleration, free=True)
            rates += [found[k] for k in share.rest]
        self.made = made
        return rates

    def _drive(self, drive: Drive, qdd: Scalar) -> Scalar:
        """Return P of an actuator that the load reaches."""
        effort = drive.effort(drive.N, free=True)
        if drive.inertia is None:
            return effort
        return self.builder.keep(effort - drive.inertia * qdd)

    # --- equations of motion ------------------------------------------------------------

    def load(self, H: list[Scalar], h: list[Scalar]) -> None:
        """Put inertias into H (row by row), and efforts on the other side of h."""
        n = self.mechanism.nv
        for drive in self.drives:
            if drive.is_prescribed:
                continue
            for i, effort in drive.efforts(drive.effort(drive.N, free=True)).items():
                h[i] = self.builder.keep(h[i] - effort)
            i = drive.rate
            if drive.inertia is not None:
                H[i * n + i] = self.builder.keep(H[i * n + i] + drive.inertia)

    def prescribed(self) -> dict[int, Scalar]:
        """Return the accelerations that signals prescribe, by rate."""
        return {
            drive.rate: drive.acceleration(drive.N, free=True)
            for drive in self.drives
            if drive.is_prescribed
        }

    def rows(self) -> list[ConstraintRow]:
        """Return the prescribed accelerations as rows of constraints; multipliers are drives."""
        zero, one = self.builder.number(0), self.builder.number(1)
        self._rows = {
            i: ConstraintRow(zero, zero, {i: one}, a) for i, a in self.prescribed().items()
        }
        return list(self._rows.values())

    def rates_under(self, rows: Sequence[ConstraintRow]) -> list[Scalar]:
        """Return the rates of the states under constraints, those of `rows` among them."""
        qdd = [entry_of(self.builder, "qdd", i) for i in range(self.mechanism.nv)]
        places = {id(row): place for place, row in enumerate(rows)}
        found = {i: places[id(row)] for i, row in self._rows.items()}
        return self.rates(qdd, {i: entry_of(self.builder, "sigma", k) for i, k in found.items()})

    def free_motion(
        self, H: Sequence[Scalar], h: Sequence[Scalar], tau: Sequence[Scalar]
    ) -> tuple[list[Scalar], list[Scalar]]:
        """Return qdd without constraints, H and h being loaded, and the rates of the states."""
        n, known, keep = len(h), self.prescribed(), self.builder.keep
        free = [i for i in range(n) if i not in known]
        matrix = {(i, k): H[i * n + k] for i in free for k in free if not is_zero(H[i * n + k])}
        right: dict[int, Scalar] = {}
        for i in free:
            rest = tau[i] - h[i]
            for k, acceleration in known.items():
                rest = rest - H[i * n + k] * acceleration
            right[i] = keep(rest)
        found = {**known, **solve(matrix, right)}
        qdd = [found[i] for i in range(n)]
        demands: dict[int, Scalar] = {}
        for i in known:
            total = h[i] - tau[i]
            for k, acceleration in enumerate(qdd):
                total = total + H[i * n + k] * acceleration
            demands[i] = keep(total)
        return qdd, self.rates(qdd, demands)
