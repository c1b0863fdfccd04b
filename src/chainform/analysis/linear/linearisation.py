"""Linear equations of small motions about a state: z' = A z + B w, y = C z + D w.

How they follow from the equations of motion is in small_motion.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.acting_laws import ActingLaws, acting_laws
from chainform.analysis.linear.implicit_equations import ImplicitEquations, implicit_equations
from chainform.analysis.linear.linear_variables import (
    ACTING,
    LinearOptions,
    StateOptions,
    operating_point,
)
from chainform.analysis.linear.small_motion import SmallMotion
from chainform.display import Displayed
from chainform.errors import RunError
from chainform.given import argument, counted
from chainform.mechanism import Mechanism
from chainform.pipeline import names_in
from chainform.readers import read
from chainform.runtime import Key, LruCache
from chainform.simulation import check_known, parameters_of

Array = NDArray[np.float64]
EQUATIONS: LruCache[ImplicitEquations] = LruCache(8)
MOST_NAMES = 4


@dataclass(frozen=True, eq=False)
class Linearisation(Displayed):
    """z' = A z + B w, y = C z + D w about a state.

    `states`, `inputs` and `outputs` name the entries of z, w and y; `independent` are the
    coordinates that were chosen. `point` has q, qd, qdd, x, u, tau, force, wrench, t, the
    multipliers `sigma` and the drives of the state, `drift` z' there, which is zero at an
    equilibrium, and `values` the outputs there. `notes` tell what one should know.
    """

    mechanism: Mechanism
    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    independent: tuple[str, ...]
    point: Mapping[str, Array]
    drift: Array
    values: Array
    tolerance: float
    notes: tuple[str, ...] = ()

    @property
    def residual(self) -> float:
        """The largest entry of the drift."""
        return float(np.max(np.abs(self.drift), initial=0.0))

    @property
    def is_equilibrium(self) -> bool:
        """Whether the mechanism stays in the state."""
        return self.residual <= self.tolerance

    @property
    def poles(self) -> NDArray[np.complex128]:
        """The eigenvalues of A (1/s), those that grow fastest first.

        One that is multiple may be off by a root of rounding; `modes` has zeros exactly.
        """
        found = np.asarray(np.linalg.eigvals(self.A), dtype=np.complex128)
        return found[np.lexsort((found.imag, -found.real))]

    def to_scipy(self) -> Any:
        """Return a scipy.signal.StateSpace; RunError where scipy is not installed."""
        try:
            signal: Any = import_module("scipy.signal")
        except ImportError:
            remedy = "pip install scipy, or take A, B, C and D"
            raise RunError("scipy is not installed", element="to_scipy", remedy=remedy) from None
        return signal.StateSpace(self.A, self.B, self.C, self.D)

    def __repr__(self) -> str:
        sizes = (
            f"{counted(len(names), word)} ({_short(names)})"
            for names, word in (
                (self.states, "state"),
                (self.inputs, "input"),
                (self.outputs, "output"),
            )
        )
        is_still = "an equilibrium" if self.is_equilibrium else f"drift {self.residual:.3g}"
        return f"<Linearisation of {self.mechanism.name}: {', '.join(sizes)}; {is_still}>"


def _short(names: Sequence[str]) -> str:
    more = f", and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


@dataclass(frozen=True)
class ActingValues:
    """What acts on a mechanism, as it was given: laws, controllers, parameters, frames."""

    values: Any = None
    forces: Any = None
    signals: Any = None
    controllers: Any = None
    wrenches: Any = ()

    @staticmethod
    def of(options: LinearOptions, wrenches: Sequence[str] = ()) -> ActingValues:
        """Return what acts of the options of a task."""
        acting: dict[str, Any] = {name: options.get(name) for name in ACTING}
        return ActingValues(**acting, wrenches=wrenches)

    def equations(self, mechanism: Mechanism | str | PathLike[str]) -> ImplicitEquations:
        """Return the equations of a mechanism with it."""
        source = mechanism if isinstance(mechanism, Mechanism) else read(mechanism)
        moving = parameters_of(source, self.values).mechanism
        laws = acting_laws(moving, self.forces, self.signals, self.controllers)
        equations = equations_of(moving, names_in("wrenches", self.wrenches), laws)
        check_known(equations.graph)
        return equations


def linearise(
    mechanism: Mechanism | str | PathLike[str],
    state: Mapping[str, Any] | None = None,
    *,
    outputs: Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
    independent: Sequence[str] | None = None,
    wrenches: Sequence[str] = (),
    **options: Unpack[LinearOptions],
) -> Linearisation:
    """Return the linear equations of small motions about a state.

    `state` has q, qd, x, u, tau, force, wrench and t, each an array or a table by names, zero where
    it is not given; they may be arguments of their own. `outputs` are texts as in `derive`, names
    of coordinates, rates (`der(crank)`) and states of actuators, or q, qd, qdd, x, drives; by
    default the states. `inputs` are names of joints (their tau), signals, unknown forces and
    entries of wrenches, or tau, u, force, wrench; by default the signals of actuators, then the
    unknown forces, and tau of all joints where there is neither, and always the wrenches on the
    frames in `wrenches`. `independent` names coordinates that shall be independent where loops or
    constraints bind some. `values` are those of parameters.

    `forces`, `signals` and `controllers` are laws as in `simulate`: tau and u come on top of them,
    loops are closed through controllers, and the integral of a `pid` is a state, integral(NAME).

    The state must fit loops and constraints. It need not be an equilibrium: then the equations are
    those of small deviations from the motion through it, at this instant.
    """
    equations = ActingValues.of(options, wrenches).equations(mechanism)
    point = operating_point(equations, whole_state(state, options))
    motion = SmallMotion(equations, point, inputs, independent)
    wanted, n = motion.outputs(outputs), len(motion.states)
    return Linearisation(
        equations.mechanism,
        motion.rates[:, :n],
        motion.rates[:, n:],
        wanted.rows[:, :n],
        wanted.rows[:, n:],
        motion.states,
        tuple(name for _, _, name in motion.inputs),
        wanted.names,
        motion.independent.names,
        motion.whole_point,
        motion.drift,
        wanted.values,
        motion.tolerance,
        motion.notes(),
    )


def equations_of(
    mechanism: Mechanism, frames: tuple[str, ...] = (), laws: ActingLaws | None = None
) -> ImplicitEquations:
    """Return the equations of a mechanism; those of recent ones are in a cache."""
    laws = ActingLaws() if laws is None else laws
    try:
        key = Key((mechanism.name, mechanism.nv, frames, laws.key), (mechanism,))
    except TypeError:
        return implicit_equations(mechanism, frames, laws)
    return EQUATIONS.get(key, lambda: implicit_equations(mechanism, frames, laws))


def whole_state(state: object, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a state that is given as a table, by its parts among options, or both."""
    parts = {name: part for name, part in options.items() if name not in ACTING}
    given = argument("state", {} if state is None else state)
    table = given.table(StateOptions.__annotations__, 'write {"q": [...], "qd": [...]}').value
    for name in table.keys() & parts.keys():
        raise given.error(f"{name} is given twice", "give it in the table or as an argument")
    return {**table, **parts}
