"""What a method of integration is: its order, what it needs of the equations, how it starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chainform.display import Displayed
from chainform.errors import RunError
from chainform.graph import Scalar
from chainform.simulation.equations.builder import EquationBuilder, Equations
from chainform.simulation.equations.contact.laws import NO_BARRIERS, Barriers
from chainform.simulation.machine.machine import CompiledLoop, Machine
from chainform.simulation.machine.pauses import Pause

Array = NDArray[np.float64]
Coefficient: TypeAlias = Fraction | float
Coefficients: TypeAlias = dict[int, Coefficient]


@dataclass(frozen=True)
class Tableau:
    """The coefficients of a method; what is not listed is zero. Stages count from 0."""

    name: str
    order: int
    c: tuple[Coefficient, ...]
    a: tuple[Coefficients, ...]
    b: Coefficients
    error: Coefficients | None = None
    second_error: Coefficients | None = None
    """A second estimate, of still lower order, that the method of Dormand and Prince damps with."""

    @property
    def stages(self) -> int:
        """How many evaluations one step takes."""
        return len(self.c)

    def array(self) -> NDArray[np.float64]:
        """Return all coefficients in a row: c, a row by row, b, and both errors."""
        s = self.stages
        rows = [dict(enumerate(self.c)), *self.a, self.b, self.error or {}, self.second_error or {}]
        flat = np.zeros((len(rows), s))
        for place, row in enumerate(rows):
            for stage, number in row.items():
                flat[place, stage] = float(number)
        return flat.ravel()


FEWEST = 10
"""In so many steps a motion is made, if not in more."""


@dataclass(repr=False)
class Statistics(Displayed):
    """What the integration took."""

    steps: int = 0
    rejected: int = 0
    evaluations: int = 0


class ActiveMotion(Protocol):
    """A motion on its way: its time and state, and how to go on with it."""

    machine: Machine
    t: float
    y: Array
    p: Array
    statistics: Statistics

    @property
    def width(self) -> int:
        """The length of a row of output: a state, and efforts that are held."""
        ...

    @property
    def delivered(self) -> Array:
        """The rows of output of the stretch that is under way, or was the last one."""
        ...

    def restart(self, y: Array, t: float | None = None) -> None:
        """Go on from another state at the present time, as after an impact, or at a later one."""
        ...

    def memory(self) -> dict[str, Array]:
        """Return what it takes, besides t, y and p, to go on later as if nothing had happened."""
        ...

    def recall(self, memory: Mapping[str, Array]) -> None:
        """Take up what another motion of the same method remembered."""
        ...

    def jump(self) -> None:
        """Go on with other inputs at the present state."""
        ...

    def advance(
        self, end: float, times: Array, pause: Pause | None = None
    ) -> tuple[Array, tuple[int, ...]]:
        """Integrate to `end`, or to events; return the states at `times`, and the events' numbers.

        Of `times` those after the events are left out. `pause` is called now and then.
        """
        ...


@dataclass(frozen=True, repr=False)
class Solver(Displayed):
    """A method by its name, and how its steps are chosen: `simulate` tells what each means."""

    method: str = "verner65"
    rtol: float = 1e-9
    atol: float | None = None
    step: float | None = None
    largest: float | None = None


@dataclass(frozen=True, repr=False)
class Settings(Displayed):
    """How a motion is integrated: method, tolerances, steps.

    With `step` the step is fixed; otherwise it is controlled, and `first` and `largest` bound it.
    `hold` is the time between samples of efforts that are held (s). `span` is how long the motion
    is to be: where states barely change nothing else tells how soon forces or events may come.
    """

    method: Method
    rtol: float = 1e-9
    atol: float = 1e-12
    step: float | None = None
    first: float | None = None
    largest: float | None = None
    hold: float | None = None
    span: float = inf

    @property
    def longest(self) -> float:
        """The longest step (s)."""
        if self.step is not None:
            return self.largest or inf
        return min(self.largest or inf, self.span / FEWEST)

    @property
    def numbers(self) -> dict[str, float | None]:
        """The settings apart from the method."""
        names = ("rtol", "atol", "step", "first", "largest", "hold")
        return {name: getattr(self, name) for name in names}


class StartMotion(Protocol):
    """Begins a motion."""

    def __call__(
        self,
        machine: Machine,
        settings: Settings,
        t: float,
        y: Array,
        p: Array,
        directions: Sequence[float] = (),
        breaks: Sequence[float] = (),
    ) -> ActiveMotion: ...


CONTROLLED, FIXED = "controlled", "fixed"
"""How the length of steps is chosen: by the method, or by the caller."""


def _nothing(builder: EquationBuilder, tau: Sequence[Scalar]) -> None:
    """Declare nothing besides y' and what events and held efforts need."""


def _any(equations: Equations) -> str | None:
    """Take any system."""


@dataclass(frozen=True)
class Method:
    """A method of integration.

    `steps` are the ways to choose the length of steps, the usual one first. `outputs` are
    quantities of the model that it needs besides forward dynamics, and `declare` puts what it
    computes from them into the graph. `refuses` says why it cannot take a system.
    """

    name: str
    order: int
    start: StartMotion
    steps: tuple[str, ...]
    loop: CompiledLoop
    tableau: Tableau | None = None
    outputs: tuple[str, ...] = ()
    declare: Callable[[EquationBuilder, Sequence[Scalar]], None] = _nothing
    rows: Callable[[Equations], int] | None = None
    """How many states the room for stages holds; that of the tableau without it."""
    refuses: Callable[[Equations], str | None] = _any
    remedy: str = ""
    in_lanes: bool = False
    """Whether its steps decide nothing by the state, so that motions can run in lanes."""
    takes_barriers: bool = False
    """Whether it takes stops, contacts and sticking, and an energy balance with the states."""

    def room(self, equations: Equations) -> int:
        """Return how many states the room for stages holds."""
        if self.rows is not None:
            return self.rows(equations)
        return self.tableau.stages if self.tableau is not None else 0

    def taken(self, barriers: Barriers, *, has_bounds: bool = False) -> Barriers:
        """Return what comes and goes, as far as the method takes it; RunError for what it cannot.

        With a fixed step other methods take dry friction as the sign of a rate; controlled steps
        would become ever shorter where a rate comes to rest. `has_bounds`: bounds of sticking were
        given for this motion.
        """
        if self.takes_barriers:
            return barriers
        if barriers.rigid or barriers.stiff or has_bounds:
            raise RunError(
                f"{self.name} does not take stops, contacts and sticking",
                element="method",
                remedy="choose verner65 or dopri853",
            )
        if barriers.dry and CONTROLLED in self.steps:
            raise RunError(
                f"{self.name} does not know sticking, and {barriers.dry[0].name} has Coulomb "
                "friction",
                element="method",
                remedy="choose verner65 or dopri853, or leave it out with without=['friction']",
            )
        return NO_BARRIERS

    def check(self, equations: Equations) -> None:
        """Raise RunError where the method cannot take a system."""
        reason = self.refuses(equations)
        if reason is not None:
            raise RunError(f"{self.name} {reason}", element="method", remedy=self.remedy)
