"""The result of a simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from os import PathLike
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chainform.display import Displayed, Records
from chainform.errors import Error
from chainform.given import argument, counted
from chainform.mechanism import Mechanism
from chainform.model import Model, StoredRun, output_of
from chainform.pipeline import derive
from chainform.readers import native_text
from chainform.simulation.equations.contact.laws import NO_BARRIERS, Barriers
from chainform.simulation.equations.energy_balance import LOSSES, WORK, no_balance, stiff_energy
from chainform.simulation.equations.events import EventRecord, StateChange
from chainform.simulation.equations.initial import whole_states
from chainform.simulation.files.about import EARLIER, END, About
from chainform.simulation.files.formats import form_of, made_of_file, write_record
from chainform.simulation.files.record import LONGEST_NAME, ResultRecord, texts_in
from chainform.simulation.files.run_record import (
    FIELDS,
    PUSHES,
    RUN_SCHEMA,
    STATES,
    event_data,
    event_record,
    forces_in,
    known_run,
    mechanism_in,
    pushes_in,
    state_arrays,
    statistics_in,
)
from chainform.simulation.machine.method import Statistics
from chainform.simulation.quantities import (
    OF_RUN,
    ConstrainedStates,
    evaluated,
    friction_along,
    loads_along,
    motion_forces_along,
    output_errors,
    outputs_along,
    pushes_along,
    wrenches_along,
)
from chainform.version import VERSION

Array = NDArray[np.float64]
USUAL = ("energy", "x")
"""What is written with the states in any case, as far as it can be computed."""


@dataclass(frozen=True, eq=False, repr=False)
class Run(Displayed):
    """A motion: states at times, from which accelerations, energy and reactions follow when read.

    The shapes: `t` (m,), `q` (m, nq), `qd` (m, nv), `tau` (m, nv): efforts by laws and functions.
    """

    mechanism: Mechanism
    t: Array
    q: Array
    qd: Array
    tau: Array
    events: tuple[EventRecord, ...] = ()
    statistics: Statistics = field(default_factory=Statistics)
    method: str = ""
    barriers: Barriers = NO_BARRIERS
    energy_balance: Array | None = None
    """Work and losses added up, (m, 2), or (m, 0) where there is nothing to add."""
    modes: Array | None = None
    """What held when: the mask of all rows, then directions of sliding and places held, (m, k)."""
    constrained: ConstrainedStates | None = None
    extra_states: Array | None = None
    """States of actuators besides q and qd, then integrals of controllers, (m, k)."""
    u: Array | None = None
    """The signals of actuators, (m, nu)."""
    report: tuple[str, ...] = ()
    """Remarks on loops and constraints: redundant equations, singular positions."""
    equations: Model | None = field(default=None, repr=False)
    """The equations that were integrated; a run from a file has none."""
    about: About = About()
    computed: Mapping[str, Array] = field(default_factory=dict[str, Array], repr=False)
    """What was computed along the motion already, by name: a run from a file brings it along."""
    changes: tuple[StateChange, ...] = field(default=(), repr=False)
    """The moments between smooth stretches; a run from a file has none."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", Records(self.events))

    def __reduce__(self) -> tuple[Any, ...]:
        """Be pickled as plain data: machine code stays where it is."""
        record = self.record()
        return Run.from_record, (dict(record.arrays), record.outputs, dict(record.about))

    def __repr__(self) -> str:
        first, last = (self.t[0], self.t[-1]) if len(self.t) else self.about.span
        events = f", {counted(len(self.events), 'event')}" if self.events else ""
        span = f"{len(self.t)} times from {first:g} to {last:g} s"
        ending = "" if self.about.ending == END else f", ended by {self.about.ending}"
        return f"<Run of {self.mechanism.name}: {span} by {self.method}{events}{ending}>"

    @cached_property
    def model(self) -> Model:
        """The equations of motion, with the values of this one."""
        if self.equations is not None:
            values = self._values_in(self.equations)
            return self.equations.bind(values, keep_free=True) if values else self.equations
        return derive(self.mechanism, ["forward_dynamics"], without=self.about.without)

    @cached_property
    def qdd(self) -> Array:
        """The accelerations, (m, nv)."""
        if "qdd" in self.computed:
            return self.computed["qdd"]
        if self.constrained is not None:
            return self.constrained.qdd
        model = self.model if self.equations is None else self.equations
        states, values = {**self._states, "tau": self.tau}, self._values_in(model)
        return evaluated(model, states, values, ["forward_dynamics"])["forward_dynamics"]

    def _values_in(self, model: Model) -> dict[str, float]:
        """Return the values that were given to free parameters of a model."""
        free = model.free_parameters
        return {name: value for name, value in self.about.values.items() if name in free}

    @property
    def multipliers(self) -> Array:
        """The forces of loops, of constraints and of motions that signals prescribe, (m, rows).

        Rows are in this order; of rows that depend on each other some are zero.
        """
        if self.constrained is None:
            return self.computed.get("multipliers", np.zeros((len(self.t), 0)))
        count = self.constrained.machine.equations.row_counts.always
        return self.constrained.multipliers[:, :count]

    @property
    def sigma(self) -> Array:
        """The forces of loops, as they enter inverse dynamics, (m, equations of all loops).

        Forces (N), then moments (N m), on the closing body at the closing point, along the
        directions of the rows: world axes for points and frames. Loops that close by contact are
        not among them.
        """
        if self.constrained is None and "sigma" in self.computed:
            return self.computed["sigma"]
        constrained = self if self.constrained is None else self.constrained.machine.equations
        return self.multipliers[:, : sum(loop.equations for loop in constrained.mechanism.loops)]

    @property
    def x(self) -> Array:
        """The states of all actuators in the order of `mechanism.states`, (m, n of x)."""
        if self.extra_states is None:
            return np.zeros((len(self.t), 0))
        return whole_states(self.mechanism, self.q, self.qd, self.extra_states)

    @property
    def drives(self) -> Array:
        """What actuators put on their joints, and tau where there are none, (m, nv)."""
        if not self.mechanism.actuators or self.constrained is None:
            return self.computed.get("drives", self.tau)
        return self.constrained.drives

    @cached_property
    def energy(self) -> Array:
        """The sum of kinetic and potential energy, that of stiff contacts with it, (m,)."""
        if "energy" in self.computed:
            return self.computed["energy"]
        contacts = stiff_energy(self.mechanism, self.barriers.stiff, self.t, self.q)
        return self.kinetic_energy + self.potential_energy + contacts

    @property
    def work(self) -> Array:
        """What drives, forces and moving constraints have put in since the start, J, (m,)."""
        return self._book(WORK)

    @property
    def losses(self) -> Array:
        """What friction, dampers and impacts have taken since the start, J, (m,)."""
        return self._book(LOSSES)

    @property
    def balance(self) -> Array:
        """Energy and losses less work, J, (m,).

        It must not change, but where an event changes the state and puts energy in.
        """
        return self.energy + self.losses - self.work

    def _book(self, place: int) -> Array:
        if self.energy_balance is None:
            raise no_balance(self.mechanism)
        columns = self.energy_balance.T
        return columns[place] if len(columns) else np.zeros(len(self.t))

    @property
    def contact_forces(self) -> dict[str, Array]:
        """The push of every stop and contact by name, N or N m, (m,) each."""
        if self.constrained is None:
            return pushes_in(self.computed, "contact_force")
        return pushes_along(self.mechanism, self.barriers, self.constrained, self._states)

    @property
    def _states(self) -> dict[str, Array]:
        return {"t": self.t, "q": self.q, "qd": self.qd}

    @cached_property
    def contact_loads(self) -> dict[str, Array]:
        """The whole force of the ground on every point by name, with friction, world axes, (m, 3).

        Stops of joints are not among them.
        """
        if self.constrained is None:
            return pushes_in(self.computed, "contact_load")
        row_counts = self.constrained.machine.equations.row_counts
        modes = np.zeros((len(self.t), 0)) if self.modes is None else self.modes
        forces, modes = self.constrained.multipliers, modes[:, row_counts.rows :]
        return loads_along(self.mechanism, self.barriers, row_counts, self._states, forces, modes)

    @cached_property
    def contact_wrenches(self) -> dict[str, Array]:
        """Force and moment of the ground on every segment that touches it, by name, (m, 6).

        The moment is that about the origin of the segment; world axes.
        """
        if self.constrained is None:
            return pushes_in(self.computed, "contact_wrench")
        return wrenches_along(self.mechanism, self.barriers, self._states, self.contact_loads)

    @property
    def friction_forces(self) -> dict[str, Array]:
        """The dry friction of joints by name, N or N m, (m,) each."""
        if self.constrained is None or self.modes is None:
            return pushes_in(self.computed, "friction_force")
        return friction_along(self.barriers, self.constrained, self.modes)

    @property
    def motion_forces(self) -> dict[str, Array]:
        """The force that each prescribed motion takes, by coordinate, N or N m, (m,) each."""
        if self.constrained is None:
            return pushes_in(self.computed, "motion_force")
        return motion_forces_along(self.constrained)

    def beyond_states(self) -> dict[str, Array]:
        """Return what states and efforts alone do not tell: the forces of all that constrains."""
        names = () if self.constrained is None else ("qdd", "multipliers", "sigma", "drives")
        return {n: getattr(self, n) for n in names} | (self._pushes if names else {})

    @property
    def _pushes(self) -> dict[str, Array]:
        tables = {
            "contact_force": self.contact_forces,
            "contact_load": self.contact_loads,
            "contact_wrench": self.contact_wrenches,
            "friction_force": self.friction_forces,
            "motion_force": self.motion_forces,
        }
        return {f"{kind}({n})": a for kind, table in tables.items() for n, a in table.items()}

    @cached_property
    def _energies(self) -> dict[str, Array]:
        return self._outputs(["kinetic_energy", "potential_energy"])

    @property
    def kinetic_energy(self) -> Array:
        """The kinetic energy, (m,)."""
        return self._energies["kinetic_energy"]

    @property
    def potential_energy(self) -> Array:
        """The potential energy of gravity and springs, (m,)."""
        return self._energies["potential_energy"]

    @cached_property
    def reactions(self) -> Array:
        """Force and moment of the parent on each segment, at its joint, in its axes, (m, n, 6)."""
        return self._outputs(["reactions"])["reactions"]

    # --- outputs, files, pictures -----------------------------------------------------------

    def output(self, name: str) -> Array:
        """Return any quantity along the motion, (m, ...): "pose(tool)", "momentum", "energy"."""
        name = argument("outputs", name).text('write "pose(tool)", "momentum"')
        if name in self.computed:
            return self.computed[name]
        name = "qdd" if name == "forward_dynamics" else name  # What constrains a motion is in it.
        if name in OF_RUN:
            return np.zeros((len(self.t), 0)) if (own := getattr(self, name)) is None else own
        if name.partition("(")[0] in PUSHES:
            return self._pushes[argument("outputs", name).choice(tuple(self._pushes), "force")]
        with output_errors(self.mechanism, name):
            output = output_of(name)
            return self._outputs([output])[output]

    def _outputs(self, names: Sequence[str]) -> dict[str, Array]:
        """Return outputs of the equations at all times, each (m, ...)."""

        def states(group: str) -> Array | None:
            forces = forces_in(self.computed, self.mechanism.unknowns)
            value: Array | None = forces if group == "force" else getattr(self, group, None)
            return None if value is None or len(value) != len(self.t) else value

        return outputs_along(self.mechanism, self.about, names, states, self.contact_wrenches)

    def record(self, outputs: Sequence[str] | None = None) -> ResultRecord:
        """Return the run as plain data: its arrays, those it was read with, what is known of it."""
        computed = dict(self.computed)
        for name in USUAL:
            with suppress(Error):
                computed[name] = self.output(name)
        computed |= self.beyond_states()
        known = {*computed, *STATES}
        computed |= {name: self.output(name) for name in (outputs or ()) if name not in known}
        computed = {name: array for name, array in computed.items() if np.prod(array.shape[1:])}
        about = {
            "schema": RUN_SCHEMA,
            "version": VERSION,
            "name": self.mechanism.name,
            "mechanism": native_text(self.mechanism),
            "method": self.method,
            "statistics": asdict(self.statistics),
            "events": [event_data(event) for event in self.events],
            "report": list(self.report),
            "rows": len(self.t),
            **self.about.as_dict(),
        }
        states = state_arrays({n: getattr(self, FIELDS.get(n, n)) for n in STATES})
        return ResultRecord({**states, **computed}, tuple(computed), about)

    @staticmethod
    def from_record(
        arrays: Mapping[str, Array], outputs: Sequence[str], about: Mapping[str, Any]
    ) -> Run:
        """Return the run of plain data; ReadError where they are not those of a run."""
        arrays = {EARLIER.get(name, name): array for name, array in arrays.items()}
        table = known_run(arrays, outputs, about)
        mechanism = mechanism_in(table["mechanism"])
        states: dict[str, Any] = {FIELDS.get(n, n): arrays[n] for n in STATES if n in arrays}
        return Run(
            mechanism=mechanism,
            events=tuple(event_record(one, mechanism) for one in table["events"].entries()),
            statistics=statistics_in(table["statistics"]),
            method=table["method"].name(LONGEST_NAME),
            report=texts_in(table["report"]),
            about=About.from_dict(about),
            computed={name: arrays[name] for name in outputs},
            **states,
        )

    def save(self, path: str | PathLike[str], outputs: Sequence[str] | None = None) -> None:
        """Write states, efforts, energy and `outputs` to a file: .parquet, .csv or .npz."""
        write_record(form_of(path), self.record(outputs), self.mechanism, path)

    @staticmethod
    def load(source: str | PathLike[str] | StoredRun) -> Run:
        """Return the run in a file that `save` wrote, or one of a store: `store.run(...)`."""
        if isinstance(source, StoredRun):
            return Run.from_record(source.arrays, source.outputs, source.about)
        return made_of_file(source, lambda r: Run.from_record(r.arrays, r.outputs, r.about))

    def plot(
        self,
        what: str | Sequence[str] | None = None,
        file: str | PathLike[str] | None = None,
        **options: Any,
    ) -> Any:
        """Return a figure of the motion over time, and write it to a file (.svg, .png, .pdf)."""
        from chainform.pictures import plot

        return plot(cast("Any", self), what, file, **options)

    def animate(self, file: str | PathLike[str] | None = None, **options: Any) -> Any:
        """Return or write a moving picture: a page (.html) to turn about, or a film."""
        from chainform.pictures import animate

        return animate(self, file, **options)

    def picture(self, file: str | PathLike[str] | None = None, **options: Any) -> Any:
        """Return a picture of the mechanism along the motion, and write it to a file (.png)."""
        from chainform.pictures import picture

        return picture(self, file, **options)
