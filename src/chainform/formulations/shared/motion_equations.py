"""What the equations of motion have besides inverse dynamics: drives, rows, states of actuators.

symbol   meaning
I, m     inertia of an actuator felt at its joint, and its effort while the joint stands still
J, s     rows of loops, of constraints, then of joints whose signal prescribes qdd; multipliers
x        states of actuators besides q and qd
f        rates of loops and constraints: what must stay zero

    inverse dynamics = efforts,    efforts = m - I qdd + tau + J^T s
    rows    J qdd - gamma = 0
    rates   f(q, qd, t) = 0
    x       x' of those states
    drives  what acts on the joints besides J^T s
    states  all states of actuators
"""

from __future__ import annotations

from collections.abc import Sequence

from chainform.formulations.shared.actuators import Actuated, entry_of
from chainform.formulations.shared.constraints import ConstraintRow
from chainform.formulations.shared.kinematics import Kinematics
from chainform.formulations.shared.loop_rows import rows_of
from chainform.graph import Builder, Scalar
from chainform.mechanism import Mechanism


class MotionEquations:
    """The equations of one mechanism, as scalars of q, qd, qdd, u, tau, sigma and x.

    `places` are those of the states of actuators, besides q and qd, in x. `signals` are those of
    actuators, by default the inputs u.
    """

    def __init__(
        self,
        builder: Builder,
        mechanism: Mechanism,
        tau: Sequence[Scalar],
        places: Sequence[int],
        signals: Sequence[Scalar] | None = None,
    ) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.actuated = Actuated(mechanism, Kinematics(mechanism, builder), places)
        if signals is None:
            signals = [entry_of(builder, "u", k) for k in range(len(mechanism.actuators))]
        self.actuated.give(signals)
        self.held = rows_of(builder, mechanism)
        """The rows of loops, then those of constraints."""
        self.rows = [*self.held, *self.actuated.rows()]
        self.tau = tau
        self.prescribed = {
            drive.rate: drive.actuator.name for drive in self.actuated.drives if drive.is_prescribed
        }
        """The actuators whose signal prescribes an acceleration, by rate; their rows stand last."""

    def parts(self) -> dict[str, list[Scalar]]:
        """Return the parts by name."""
        builder, nv = self.builder, self.mechanism.nv
        sigma = [entry_of(builder, "sigma", k) for k in range(len(self.rows))]
        qdd = [entry_of(builder, "qdd", k) for k in range(nv)]
        x_rates = self.actuated.rates_under(self.rows)
        made, zero = self.actuated.made, builder.number(0)
        drives = [made.get(i, zero) + self.tau[i] for i in range(nv)]
        # The drive of a joint whose motion is prescribed is the multiplier of its row.
        efforts = [self.tau[i] if i in self.prescribed else drives[i] for i in range(nv)]
        for row, multiplier in zip(self.rows, sigma, strict=True):
            for i, entry in row.J.items():
                efforts[i] = efforts[i] + entry * multiplier
        return {
            "efforts": efforts,
            "rows": [self._along(row, qdd) - row.gamma for row in self.rows],
            "rates": [row.rate for row in self.held],
            "x": x_rates,
            "drives": drives,
            "states": [x for states in self.actuated.x for x in states],
        }

    def _along(self, row: ConstraintRow, qdd: Sequence[Scalar]) -> Scalar:
        return sum((entry * qdd[k] for k, entry in row.J.items()), self.builder.number(0))
