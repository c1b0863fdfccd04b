"""A system of equations and the loop around it, as machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chainform.emitters import NumberType, Signature, signature_of, together
from chainform.errors import RunError
from chainform.graph import Graph
from chainform.mechanism import Mechanism
from chainform.runtime import (
    FLOAT,
    FLOATS,
    INT,
    NONE,
    CodeStorage,
    Library,
    Translation,
    code_of,
    target_for,
)
from chainform.simulation.equations.builder import Equations
from chainform.simulation.equations.efforts import Efforts
from chainform.simulation.machine.adapters import (
    HIDDEN,
    SEEN,
    WITH_STATUS,
    drive_adapter,
    entrance,
    kernel_adapter,
    layout_text,
    lengths_of,
    look_up,
    procedure_adapter,
)
from chainform.simulation.machine.constrained import lasting_change, seldom
from chainform.simulation.machine.contact_modes import switched_rate, switched_state, watched
from chainform.simulation.machine.factors import ILL, add_right, strengthen
from chainform.simulation.machine.failures import failure_of, unresisted
from chainform.simulation.machine.layout import Layout
from chainform.simulation.machine.linear import NOTHING, cholesky
from chainform.simulation.machine.records import (
    NO_NUMBER,
    NO_SOLUTION,
    NOT_SOLVED,
    UNRESISTED,
)

Array = NDArray[np.float64]

KERNELS = {
    "rhs": "rate",
    "settle": "settled",
    "events": "events",
    "sample": "held",
    "lasting": "lasting",
}
"""The functions that a loop calls, and the outputs of the system that they compute; without
constraints all of a change lasts."""

CONSTRAINED = {
    "terms": "terms",
    "moved": "moved",
    "unit": "settled",
    "extra": "extra",
    "free": "rate",
}
"""The same for what is called under constraints."""

WATCHED = {"seen": "events", "gaps": "gaps"}
"""What is called where constraints come and go; `events` is a procedure then."""

ENTRANCES = {"evaluate": "rhs", "project_state": "settle", "watch": "events", "hold": "sample"}
"""Names under which functions of t, y, p and a result are called from outside."""

WITHOUT_FRICTION = {"any_grip": 0, "sliding_rate": 0, "friction_power": 0.0}
"""What stands in the place of procedures where no contact has friction."""

NEARBY = 1e-3
"""How far from the start (m, rad) the usual rank of constraints is looked for."""

C_TYPES: dict[str, Any] = {FLOAT: ctypes.c_double, INT: ctypes.c_int64, NONE: None}
"""Types of numbers; arrays go by their addresses."""

Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
"""A function of Python that is called with the addresses of t, y and p, and sets tau in p."""


Procedure: TypeAlias = Callable[..., Any]


@dataclass(frozen=True)
class CompiledLoop:
    """The machine code around the equations.

    `step`, if there is one, takes the place of the explicit step of Runge-Kutta. `kernels` are
    outputs of the system that the procedures call by their names, besides the usual ones; those in
    `asking` depend on efforts, so that functions of Python are called before them. `eventless` are
    results of procedures that need not be there where nothing is watched.
    """

    procedures: tuple[Procedure, ...] = ()
    step: Procedure | None = None
    kernels: tuple[str, ...] = ()
    asking: tuple[str, ...] = ()
    eventless: tuple[tuple[str, float | None], ...] = ()


class Machine:
    """Machine code of one system; `procedures` run the loop on arrays given by their addresses.

    Functions of Python and long tables among the efforts come from outside, by `drive`: before
    `rhs`, or with `hold` before `sample`, now and then. With `projects` each step ends on the
    constraints.
    """

    lanes = 1

    def __init__(
        self,
        equations: Equations,
        efforts: Efforts | None = None,
        *,
        hold: bool = False,
        loop: CompiledLoop,
        code_cache: CodeStorage | None = None,
        projects: bool = True,
    ) -> None:
        self.equations = equations
        self.target = target_for()
        self.projects = projects
        self.layout = Layout(equations)
        self.efforts = efforts or Efforts()
        self.loop = loop
        self._python = Callback(self._call_python) if self.efforts.has_functions else None
        self._driven: tuple[str, ...] = ()
        if self.efforts.come_from_outside:
            self._driven = ("sample",) if hold else ("rhs", *self.loop.asking)
        self.raised: list[BaseException] = []
        """What a function of Python raised; the loop ends as soon as it sees no number."""
        around = self._around()
        signatures = {n: (around.arguments[n], around.results[n]) for n in around.entries}
        signatures |= {name: ([FLOATS] * 4, INT) for name in self._entrances()}
        # The address of a function of Python is another one in the next process.
        code = code_of(self._text(), self.target, code_cache if self._python is None else None)
        # The loop is the same for all systems: it is compiled once.
        others = [code_of(around.alone(), self.target, code_cache)]
        if equations.rows:
            others.append(code_of(seldom().alone(), self.target, code_cache))
        # The library must live as long as its functions do.
        self._library = Library(code, list(signatures), others)
        self.procedures: dict[str, Callable[..., Any]] = {
            name: function_of(self._library.address(name), *kinds)
            for name, kinds in signatures.items()
        }

    def with_values(self, mechanism: Mechanism) -> Machine:
        """Return the same machine code for a mechanism whose free parameters have other values."""
        known = {parameter.name: parameter.value for parameter in mechanism.parameters}
        graph, other = self.equations.graph, copy(self)
        inputs = {
            v: replace(item, default=known.get(item.name, item.default))
            if item.group == "parameter"
            else item
            for v, item in graph.inputs.items()
        }
        other.equations = replace(
            self.equations, mechanism=mechanism, graph=replace(graph, inputs=inputs)
        )
        other.layout = Layout(other.equations)
        return other

    def rate(self, t: float, y: Array, p: Array) -> Array:
        """Return y' at one state."""
        clock, state, result = np.array([t]), np.ascontiguousarray(y), np.empty(len(y))
        status = self.procedures["evaluate"](*addresses(clock, state, p, result))
        self.raise_pending()
        self.check(status, t, result)
        return result

    def settled(self, t: float, y: Array, p: Array) -> Array:
        """Return a state put where it belongs: unit quaternions, on the active constraints."""
        clock, state, result = np.array([t]), np.ascontiguousarray(y), np.empty(len(y))
        status = self.procedures["project_state"](*addresses(clock, state, p, result))
        self.check(status, t, result)
        return result

    def start_state(self, t: float, y: Array, p: Array) -> Array:
        """Return the state at the start put where it belongs."""
        start = self.settled(t, y, p)
        self.find_redundant(t, start, p)
        return start

    def find_redundant(self, t: float, y: Array, p: Array) -> None:
        """Find the lasting rows that are redundant where they are closed: near a state, then there.

        In a singular position more of them seem to be.
        """
        row_counts, nq = self.equations.row_counts, self.equations.nq
        if not row_counts.always:
            return
        mask, lowest = self.layout.part(p, "mask"), self.layout.part(p, "lowest")
        before = mask.copy(), lowest.copy()
        mask[row_counts.always :] = 0.0
        nearby = y.copy()
        nearby[:nq] += NEARBY * np.sin(1.0 + np.arange(nq))
        for state in (nearby, y):
            with suppress(RunError):
                self.settled(t, state, p)
        mask[:], lowest[:] = before

    def terms(self, t: float, y: Array, p: Array) -> Array:
        """Return the terms of the equations under constraints, one after the other.

        Where H is singular, what stands for it under the rows that always hold is in its place
        (machine/constrained.py), so that whoever reads them can solve with H.
        """
        clock, state = np.array([t]), np.ascontiguousarray(y)
        result = np.empty(self.layout.place("Y") - self.layout.place("H"))
        names = ["put_efforts"] if "rhs" in self._driven else []
        for name in (*names, "read_terms"):
            self.check(self.procedures[name](*addresses(clock, state, p, result)), t, result)
        self.raise_pending()
        return result if self._is_resisted(result) else self._strengthened(result, t)

    def _is_resisted(self, area: Array) -> bool:
        """Tell whether H is positive definite, and not nearly singular."""
        n = self.equations.nv
        H = area[: n * n].reshape(n, n)
        if not np.isfinite(H).all():
            return True
        try:
            pivots = np.diag(np.linalg.cholesky(H)) ** 2
        except np.linalg.LinAlgError:
            return False
        return bool(np.all(pivots > ILL * np.diag(H)))

    def _strengthened(self, area: Array, t: float) -> Array:
        """Return the terms with what stands for H; RunError where nothing resists a coordinate."""
        n, m = self.equations.nv, self.equations.rows
        H = area[: n * n].reshape(n, n)
        lasting = np.zeros(m)
        lasting[: self.equations.row_counts.always] = 1.0
        weights = np.zeros(m)
        strengthen(area, lasting, np.append(np.diag(H), np.zeros(n)), np.ones(m), weights, n, m)
        add_right(area, weights, n, m)
        H[:] = np.tril(H) + np.tril(H, -1).T
        failed = cholesky(H.copy().ravel(), n, NOTHING)
        if failed > 0:
            raise unresisted(self.equations, failed - 1, t)
        return area

    def check(self, status: int, t: float, result: Array) -> None:
        """Read what a function returned: raise where it failed.

        A result that could not be computed, since something is not a number, is none either.
        """
        if status == NO_SOLUTION:
            raise failure_of(NOT_SOLVED, t)
        if status == NO_NUMBER:
            result[:] = np.nan
        if status <= UNRESISTED:
            raise unresisted(self.equations, UNRESISTED - status, t)

    def _call_python(self, t: int, y: int, p: int) -> None:
        """Set tau in p to what the functions of Python give; a fault ends the motion."""
        sizes = self.equations
        clock, state = _array(t, 1), _array(y, sizes.size)
        tau = _array(p + 8 * self.layout.place("tau"), sizes.nv + sizes.nu)
        try:
            q, qd = state[: sizes.nq].copy(), state[sizes.nq : sizes.nq + sizes.nv].copy()
            time, mechanism = float(clock[0]), sizes.mechanism
            tau[: sizes.nv] = self.efforts.values(time, q, qd, sizes.nv)
            tau[sizes.nv :] = self.efforts.signal_values(time, q, qd, mechanism)
        except BaseException as problem:  # noqa: BLE001, raised again as soon as the loop is left
            self.raised.append(problem)
            tau[:] = np.nan

    def raise_pending(self) -> None:
        """Raise what a function of Python raised while machine code was running."""
        if self.raised:
            problem = self.raised[0]
            self.raised.clear()
            raise problem

    def _around(self) -> Translation:
        """Return the loop, which knows the system only by the functions that it calls."""
        step, equations = self.loop.step, self.equations
        instead: dict[str, Procedure | float | None] = {} if step is None else {"trial": step}
        if not equations.row_counts.watched and "events" not in equations.graph.outputs:
            instead |= dict(self.loop.eventless)
        loop = Translation(given_functions(self._called()), instead=instead)
        for procedure in self.loop.procedures:
            loop.add(procedure)
        return loop

    def _called(self) -> list[str]:
        """Return the functions of the system that the loop may call."""
        under_constraints = ["terms", "moved"] if self.equations.rows else []
        return list(dict.fromkeys([*KERNELS, *self.loop.kernels, *under_constraints]))

    def _entrances(self) -> dict[str, str]:
        entrances = {**ENTRANCES, "project_state": self._put}
        entrances |= {"put_efforts": "drive"} if self._driven else {}
        return entrances | ({"read_terms": "terms"} if self.equations.rows else {})

    def _text(self) -> str:
        """Return the module of the system: kernels of the graph, adapters, constraints."""
        graph, target = self.equations.graph, self.target
        lengths = lengths_of(self.layout)
        kernels: list[tuple[Graph, Signature, str]] = []
        adapters: list[str] = []
        names = {**KERNELS, **(CONSTRAINED if self.equations.rows else {})}
        names |= {name: name for name in self.loop.kernels}
        names |= WATCHED if self.equations.row_counts.watched else {}
        made = {"rhs", "lasting", self._put} if self.equations.rows else set[str]()
        made |= {"events"} if self.equations.row_counts.watched else set()
        for name, output in names.items():
            signature = None
            if name in made:
                continue
            if output in graph.outputs:
                signature = signature_of(graph, [output], lengths)
                kernels.append((graph, signature, f"{name}.kernel"))
            linkage = SEEN if name in self._called() else HIDDEN
            driven = name in self._driven
            adapters.append(kernel_adapter(name, signature, self.layout, linkage, driven=driven))
        without = {} if self.equations.row_counts.tangential else WITHOUT_FRICTION
        others = seldom()
        given = {
            name: (others.arguments[name], others.results[name]) for name in sorted(others.entries)
        }
        inner = Translation({**given_functions(names), **given}, instead=without)
        if self._driven:
            inner.include(look_up)
            tables = self.efforts.placed_tables(self.equations.mechanism)
            adapters.append(drive_adapter(self.layout, tables, self._address))
        adapters += self._constrained_adapters(inner)
        adapters += [entrance(outer, called) for outer, called in self._entrances().items()]
        text = together(kernels, NumberType("float64", 1, target.fused), target.lanes("float64"))
        return inner.text("\n".join([text, *adapters, *inner.declarations(others.entries)]))

    def _constrained_adapters(self, inner: Translation) -> list[str]:
        """Return the functions under constraints, and `events` where something is watched."""
        called: dict[str, Procedure] = {}
        if self.equations.rows:
            called = {"rhs": switched_rate, self._put: switched_state, "lasting": lasting_change}
        if self.equations.row_counts.watched:
            called["events"] = watched
        for procedure in called.values():
            inner.include(procedure)
        adapters = [
            procedure_adapter(name, procedure.__name__, driven=name in self._driven)
            for name, procedure in called.items()
        ]
        return [layout_text(self.layout), *adapters] if called else []

    @property
    def _put(self) -> str:
        """What puts a state where it belongs: it need not be called after each step."""
        return "settle" if self.projects or not self.equations.rows else "put"

    @property
    def _address(self) -> int | None:
        """Where the function of Python is that gives efforts."""
        function = self._python
        return None if function is None else ctypes.cast(function, ctypes.c_void_p).value


def _array(address: int, length: int) -> Array:
    """Return the numbers at an address, not a copy."""
    return np.frombuffer(memoryview((ctypes.c_double * length).from_address(address)))


def addresses(*arrays: Array | NDArray[np.int64]) -> list[int]:
    """Return where arrays lie; they must live as long as the addresses are used."""
    return [array.ctypes.data for array in arrays]


def given_functions(names: Iterable[str]) -> dict[str, tuple[list[str], str]]:
    """Return the types of functions of t, y, p and a result, as loops see them."""
    return {name: ([FLOATS] * 4, INT if name in WITH_STATUS else NONE) for name in names}


def function_of(address: int, arguments: list[str], result: str) -> Callable[..., Any]:
    """Return a function in machine code, by its address."""
    kinds = [C_TYPES.get(kind, ctypes.c_void_p) for kind in arguments]
    return ctypes.CFUNCTYPE(C_TYPES[result], *kinds)(address)
