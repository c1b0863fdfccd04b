"""The equations of motion as a system of first order: y' = f(t, y, p).

    y = (q, qd, x)     coordinates, rates, states of actuators and controllers; energy balance
    p = (parameters, tau, u)     free parameters, then efforts and signals given from outside

The graph has an output for each thing that a loop has to compute:

    rate       y', as long as y
    settled    y put where it belongs: quaternions of length 1
    events     functions whose zeros are events
    held       tau and u, where they are sampled and held
    laws       tau and u, as far as laws and controllers give them; no loop computes this

and under constraints, in place of `rate`, or besides it where constraints come and go,

    terms      H, r, J, gamma, residuals of positions and of rates (machine/constrained.py)
    moved      dq/dt
    extra      dx/dt
    gaps       what tells when constraints come and go (machine/contact_modes.py)

`RowCounts` has the numbers of rows of constraints by kind, in the order in which they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from chainform.formulations import (
    Actuated,
    ConstraintLaws,
    ConstraintRow,
    Kinematics,
    Laws,
    entry_of,
    generalised_forces,
)
from chainform.graph import Builder, Graph, Scalar, include
from chainform.mechanism import Force, Mechanism
from chainform.model import Model


@dataclass(frozen=True)
class RowCounts:
    """Numbers of rows that always hold, of gaps, of contacts with friction, of joints with it.

    The `gripping` contacts are the first gaps; each has two rows more, of its plane. `stiff`
    contacts have no rows, but a gap that is watched.
    """

    always: int = 0
    touching: int = 0
    gripping: int = 0
    sticking: int = 0
    stiff: int = 0

    @property
    def tangential(self) -> int:
        """The number of rows in planes of contact."""
        return 2 * self.gripping

    @property
    def rows(self) -> int:
        """The number of all rows."""
        return self.always + self.touching + self.tangential + self.sticking

    @property
    def watched(self) -> int:
        """How many functions end the present state of affairs when they fall through zero."""
        return self.touching + self.tangential + self.sticking + self.stiff

    @property
    def first_tangential(self) -> int:
        """The first row in a plane of contact."""
        return self.always + self.touching

    @property
    def first_sticking(self) -> int:
        """The first row of a joint that may stick."""
        return self.always + self.touching + self.tangential

    @property
    def given(self) -> int:
        """How many numbers of the present state of affairs enter the equations.

        They are the directions of sliding joints, where contacts are held in their planes, and
        three numbers for each of these that tell its axes (solvers/contact/planes.py).
        """
        return self.sticking + self.tangential + 3 * self.gripping


@dataclass(frozen=True)
class Equations:
    """The graph of a system, and how long its parts are."""

    mechanism: Mechanism
    graph: Graph
    nq: int
    nv: int
    nx: int = 0
    rows: int = 0
    """How many constraints there are, active or not."""
    row_counts: RowCounts = RowCounts()
    """How many of them there are of each sort."""
    balance_states: int = 0
    """How many states at the end of x only add up: nothing depends on them."""
    nu: int = 0
    """How many signals of actuators there are."""
    controls: int = 0
    """How many results of sampled controllers there are; they are the inputs behind the signals."""
    impulses: int = 0
    """How many states before the energy balance add up forces of what comes and goes."""

    @property
    def size(self) -> int:
        """The length of y."""
        return self.nq + self.nv + self.nx

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The free parameters, in the order in which they stand in p."""
        given = sorted(
            (item.index, item.name)
            for item in self.graph.inputs.values()
            if item.group == "parameter"
        )
        return tuple(name for _, name in given)


class EquationBuilder:
    """Puts a system together out of the model of a mechanism and the laws of its forces."""

    def __init__(self, mechanism: Mechanism, model: Model) -> None:
        self.mechanism = mechanism
        self.model = model
        self.builder = Builder()
        known = {parameter.name: parameter.value for parameter in mechanism.parameters}
        for item in model.graph.inputs.values():
            if item.group == "parameter":
                value = known.get(item.name, item.default)
                self.builder.parameter(item.name, value)
        self.kinematics = Kinematics(mechanism, self.builder)
        self.laws = Laws(self.kinematics)
        self.rows = 0
        self.row_counts = RowCounts()
        self.extra: list[Scalar] = []
        """The rates of what stands in y behind q and qd."""
        self.balance_states = 0
        self.impulses = 0
        self.controls = 0
        self.actuated: Actuated | None = None
        """The actuators, once they have their signals; their states come first in x."""

    def input(self, group: str, index: int) -> Scalar:
        """Return an entry of q, qd, x, tau or u; under constraints also of qdd and sigma."""
        return entry_of(self.builder, group, index)

    def control_input(self) -> Scalar:
        """Return one more result of a sampled controller, an input behind the signals."""
        self.controls += 1
        place = len(self.mechanism.actuators) + self.controls - 1
        return self.builder.input(f"sampled.{self.controls}", "u", place)

    def accelerations(self, tau: Sequence[Scalar]) -> tuple[Scalar, ...]:
        """Return qdd under given efforts."""
        given = {f"tau{i + 1}": value for i, value in enumerate(tau)}
        return include(self.builder, self.model.graph, given, ["forward_dynamics"])[
            "forward_dynamics"
        ]

    def _absent(self, *groups: str) -> dict[str, Scalar]:
        """Return zeros for groups of inputs."""
        inputs, zero = self.model.graph.inputs.values(), self.builder.number(0)
        return {item.name: zero for item in inputs if item.group in groups}

    def efforts(self, forces: Sequence[Force], count: int | None = None) -> list[Scalar]:
        """Return what laws put on all rates, or on so many signals."""
        acting = replace(self.mechanism, forces=tuple(forces))
        found = generalised_forces(self.builder, acting)
        zero = self.builder.number(0)
        return [found.get(i, zero) for i in range(self.mechanism.nv if count is None else count)]

    def declare_rate(self, tau: Sequence[Scalar]) -> None:
        """Declare y' under given efforts."""
        extra = self.extra
        if self.actuated is None:
            qdd = self.accelerations(tau)
        else:
            qdd, rates = self.actuated.free_motion(*self.mechanics(), tau)
            extra = [*rates, *extra[len(rates) :]]
        self.declare("rate", [*self.coordinate_rates(), *qdd, *extra])

    def coordinate_rates(self) -> list[Scalar]:
        """Return dq/dt: qd itself, but for joints with quaternions."""
        rates = ConstraintLaws(self.builder, self.mechanism).coordinate_rates()
        return [rates[i] for i in range(self.mechanism.nq)]

    def declare_terms(self, tau: Sequence[Scalar], rows: Sequence[ConstraintRow]) -> None:
        """Declare the parts of H qdd = r + J^T s, J qdd = gamma, and dq/dt."""
        n, zero = self.mechanism.nv, self.builder.number(0)
        H, h = self.mechanics()
        rest = [a - b for a, b in zip(tau, h, strict=True)]
        jacobian = [row.J.get(k, zero) for row in rows for k in range(n)]
        lists = [
            [row.gamma for row in rows],
            # A constraint of rates leaves positions free.
            [zero if row.value is row.rate else row.value for row in rows],
            [row.rate for row in rows],
        ]
        flat = [value for values in lists for value in values]
        self.declare("terms", [*H, *rest, *jacobian, *flat])
        self.declare("moved", self.coordinate_rates())
        extra = self._extra_under_constraints(rows)
        if extra:
            self.declare("extra", extra)
        self.rows = len(rows)
        self.row_counts = RowCounts(always=self.rows)

    def mechanics(self) -> tuple[list[Scalar], list[Scalar]]:
        """Return H, row by row, and h with H qdd + h = tau; what actuators do is in both."""
        given = self._absent("qdd", "sigma")
        found = include(self.builder, self.model.graph, given, ["mass_matrix", "inverse_dynamics"])
        H, h = list(found["mass_matrix"]), list(found["inverse_dynamics"])
        if self.actuated is not None:
            self.actuated.load(H, h)
        return H, h

    def declare_drives(self, tau: Sequence[Scalar]) -> None:
        """Declare P of the joints that have actuators, and tau of the others."""
        if self.actuated is not None:
            made = self.actuated.made
            self.declare("drives", [made.get(i, effort) for i, effort in enumerate(tau)])

    def _extra_under_constraints(self, rows: Sequence[ConstraintRow]) -> list[Scalar]:
        if self.actuated is None:
            return self.extra
        rates = self.actuated.rates_under(rows)
        return [*rates, *self.extra[len(rates) :]]

    def add_impulse(self) -> None:
        """Let the forces of what comes and goes be integrated as well; what they are is open.

        A mechanism that stops and friction hold at rest would let steps grow without bounds, over
        whatever happens to the forces that hold it.
        """
        self.extra.append(self.builder.number(0))
        self.impulses = 1

    def add_balance_states(self, rates: Sequence[Scalar]) -> None:
        """Let more states be integrated that nothing depends on, given their rates."""
        self.extra += rates
        self.balance_states += len(rates)

    def declare_settled(self) -> None:
        """Declare y with unit quaternions."""
        values = [self.input("q", i) for i in range(self.mechanism.nq)]
        for part in self.mechanism.quaternions:
            entries = values[part]
            square = self.builder.number(0)
            for entry in entries:
                square = square + entry * entry
            length = self.builder.call("reciprocal", self.builder.call("sqrt", square))
            values[part] = [entry * length for entry in entries]
        values += [self.input("qd", i) for i in range(self.mechanism.nv)]
        values += [self.input("x", i) for i in range(len(self.extra))]
        self.declare("settled", values)

    def finish(self) -> Equations:
        """Return the system."""
        mechanism, graph = self.mechanism, self.builder.finish()
        nq, nv, nx = mechanism.nq, mechanism.nv, len(self.extra)
        nu = len(mechanism.actuators)
        lengths = (nq, nv, nx, self.rows, self.row_counts, self.balance_states, nu)
        return Equations(mechanism, graph, *lengths, self.controls, self.impulses)

    def declare(self, name: str, values: Sequence[Scalar]) -> None:
        """Declare values under a name."""
        entries = [(f"{name}_{i + 1}", value) for i, value in enumerate(values)]
        self.builder.output(name, (len(entries),), entries)
