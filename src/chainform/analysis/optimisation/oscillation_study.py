"""Modes and forced oscillations as studies of a design, about equilibria that may move along.

The equations are derived once for all values. Modes of a kind (free motions; poles above the real
axis; real poles) have the rows that they had at first, the k-th slowest of a kind always the same.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.implicit_equations import ImplicitEquations
from chainform.analysis.linear.linear_variables import (
    ACTING,
    RowOptions,
    displacement_names,
    rate_names,
)
from chainform.analysis.linear.linearisation import ActingValues
from chainform.analysis.linear.small_motion import SmallMotion
from chainform.analysis.optimisation.design_parameters import DesignParameters, named
from chainform.analysis.optimisation.graph_slopes import GraphSlopes
from chainform.analysis.optimisation.oscillation_graphs import OscillationSlopes, small_graph
from chainform.analysis.optimisation.oscillation_slopes import Equilibria
from chainform.analysis.optimisation.state_slopes import coordinate_changes, no_derivative
from chainform.analysis.oscillations.frequency_response import (
    given_inputs,
    response_about,
)
from chainform.analysis.oscillations.parameter_motions import free_equations
from chainform.analysis.oscillations.steady_motion import (
    SteadyMotion,
    given_state,
    given_states,
    steady_motion,
)
from chainform.analysis.oscillations.vibration_modes import modes_about
from chainform.analysis.results.result import Result
from chainform.errors import DeriveError, RunError
from chainform.given import argument
from chainform.pipeline import derive, names_in
from chainform.runtime import LruCache

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
OSCILLATIONS = ("modes", "frequency_response")
REFUSED = ("signals", "controllers")
"""Arguments with which there are no exact derivatives."""
MOST_NUMBERS = 4_000_000
"""The most entries of all matrices that are there at once."""
STATE = ("q", "qd", "qdd", "t", "sigma", "force", "wrench", "parameter")
"""Inputs of outputs that are differentiated."""


class OscillationStudy:
    """Modes or forced oscillations for values of parameters, and their exact derivatives."""

    def __init__(
        self, parameters: DesignParameters, task: str, arguments: Mapping[str, Any]
    ) -> None:
        self.parameters, self.task, self.arguments = parameters, task, dict(arguments)
        self._first: tuple[Array, Array, NDArray[np.intp]] | None = None
        # A result and its derivatives are about the same motions.
        self._recent: LruCache[list[SteadyMotion]] = LruCache(1)

    def find(self, values: Array) -> Result:
        """Return the result for values of parameters."""
        motions = self._motions_at(values)
        if self.task == "modes":
            return self._ordered(modes_about(motions))
        outputs = names_in("outputs", self.arguments["outputs"])
        _, weights = given_inputs(self.arguments["inputs"])
        return response_about(motions[0], outputs, weights, self.arguments.get("frequencies"))

    @cached_property
    def _wrenches(self) -> tuple[str, ...]:
        return names_in("wrenches", self.arguments.get("wrenches") or ())

    @cached_property
    def _equations(self) -> ImplicitEquations:
        acting: dict[str, Any] = {name: self.arguments.get(name) for name in ACTING}
        free, names = self.parameters.free(), self.parameters.names
        return free_equations(free, names, ActingValues(**acting), self._wrenches)

    def _motions_at(self, values: Array) -> list[SteadyMotion]:
        return self._recent.get(values.tobytes(), lambda: self._motions(values))

    def _motions(self, values: Array) -> list[SteadyMotion]:
        """Return the small motions about the states, or about what is near them."""
        given, numbers = self.arguments, named(self.parameters.names, values)
        equations = self._equations.with_values(self.parameters.bound(values), numbers)
        mechanism, state = equations.mechanism, given.get("state")
        parts = {name: given[name] for name in RowOptions.__annotations__ if name in given}
        search = argument("search", given.get("search", False)).flag()
        if self.task == "modes":
            names = given.get("independent")
            states = given_states(mechanism, state, parts)
            return [steady_motion(equations, s, independent=names, search=search) for s in states]
        inputs, _ = given_inputs(given["inputs"])
        outputs = names_in("outputs", given["outputs"])
        begin = given_state(mechanism, state, parts)
        return [steady_motion(equations, begin, inputs, None, outputs, search=search)]

    def _ordered(self, found: Result) -> Result:
        """Return modes in the order of the first ones; RunError for other numbers of a kind."""
        poles = _poles(found)
        kinds = np.where(poles.imag > 0, 1, np.where(found["kind"] == 0, 0, 2))
        # From slow to fast; real poles from growth to decay, which leads through zero.
        sizes = np.where(kinds == 2, -poles.real, np.abs(poles))
        places = found.arrays.get("equilibrium", np.ones(len(poles)))
        order = np.lexsort((sizes, kinds, places))
        now = places[order], kinds[order]
        if self._first is None:
            self._first = (*now, order)
        *before, first = self._first
        if not all(np.array_equal(a, b) for a, b in zip(before, now, strict=True)):
            raise RunError(
                f"there are {_counts(kinds)}, and {_counts(before[1])} at the first start",
                file=found.mechanism.file,
                element="modes",
                remedy="give narrower bounds, so that modes are of the same kinds",
            )
        rows = np.empty(len(order), np.intp)
        rows[first] = order
        arrays = {name: array[rows] for name, array in found.arrays.items()}
        facts = {"kinds": [found.facts["kinds"][row] for row in rows]}
        return replace(found, arrays={**arrays, "mode": found["mode"]}, facts=facts)

    # --- derivatives --------------------------------------------------------------------

    @cached_property
    def _slopes(self) -> OscillationSlopes:
        mechanism, given = self.parameters.free(), self.arguments
        for word in REFUSED:
            if given.get(word):
                message = f"{self.task} with {word!r} is not differentiated"
                raise no_derivative(message, mechanism.file)
        if self.task == "frequency_response" and given.get("frequencies") is None:
            message = "frequencies that are not given move with the modes"
            raise no_derivative(message, mechanism.file, "give frequencies")
        acted_on = mechanism.with_forces(given["forces"]) if given.get("forces") else mechanism
        return OscillationSlopes(acted_on, self.parameters.names, self._wrenches)

    def arrays(self, result: Result, values: Array, wanted: Collection[str]) -> dict[str, Array]:
        """Return the derivatives of some arrays of a result, (m, ..., n)."""
        motions = [motion.small for motion in self._motions_at(values)]
        rest = Equilibria(self._slopes, motions, values)
        places = result.arrays.get("equilibrium", np.ones(len(result))).astype(np.intp) - 1

        def state() -> Array:
            q = np.where(rest.open[..., None], np.nan, rest.changes["q"][..., : rest.n])
            return coordinate_changes(result.mechanism, q)[places]

        if self.task == "modes":
            poles, still = _poles(result), ("mode", "equilibrium")
            factors = _of_poles(poles)
            changes = cache(lambda: rest.pole_changes(poles, result["pole_error"], places))
        else:
            still = ("frequency", "angular_frequency")
            factors = _of_answers(result["real"] + 1j * result["imag"])
            changes = cache(lambda: self._answers(rest, motions[0], result))
        found: dict[str, Array] = {}
        for name in wanted:
            if name in still:
                found[name] = np.zeros((*result[name].shape, rest.n))
            elif name == "q":
                found[name] = state()
            elif name in factors:
                found[name] = np.real(factors[name][..., None] * changes())
            else:
                raise no_derivative(f"{name} of {self.task} is not differentiated")
        return found

    def _answers(self, rest: Equilibria, motion: SmallMotion, result: Result) -> Complex:
        """Return derivatives of the answers of outputs, shaped as the arrays of the result."""
        _, weights = given_inputs(self.arguments["inputs"])
        inputs = [(group, place) for group, place, _ in motion.inputs]
        texts = names_in("outputs", self.arguments["outputs"])
        outputs = [output for text in texts for output in self._output(text)]
        speeds, size = result["angular_frequency"], rest.nv + rest.nx + rest.held
        step = max(1, MOST_NUMBERS // (len(inputs) * size**2))
        parts = np.split(speeds, range(step, len(speeds), step))
        found = np.concatenate([rest.answer_changes(part, inputs, outputs) for part in parts])
        return found if weights is None else np.einsum("mijn,j->min", found, weights)

    def _output(self, text: str) -> list[tuple[str, int] | GraphSlopes]:
        """Return an output as an entry of a group, or as a graph of how it changes."""
        slopes = self._slopes
        mechanism = slopes.mechanism
        rates = rate_names(mechanism)
        known = {"q": displacement_names(mechanism), "qd": rates}
        known["qdd"] = tuple(f"der({name})" for name in rates)
        for group, names in known.items():
            if text == group:
                return [(group, k) for k in range(len(names))]
            if text in names:
                return [(group, names.index(text))]
        try:
            model = derive(mechanism, [text], wrenches=slopes.equations.wrenches)
        except DeriveError as error:
            raise no_derivative(f"{text} is not differentiated", mechanism.file) from error
        (output,), graph = model.outputs, model.graph
        cone = graph.cone(graph.output_variables([output]))
        groups = {item.group for v, item in graph.inputs.items() if cone[v]}
        if groups - {*STATE}:
            unknown = ", ".join(sorted(groups - {*STATE}))
            raise no_derivative(f"{text} depends on {unknown}", mechanism.file)
        parts = [(g, g, slice(None)) for g in sorted(groups - {"t", "parameter"})]
        small = small_graph(graph, output, parts, slopes.places, mechanism)
        return [GraphSlopes(small, "small", mechanism, slopes.names)]


def _poles(result: Result) -> Complex:
    return result["pole_real"] + 1j * result["pole_imag"]


def _of_poles(poles: Complex) -> dict[str, Complex]:
    """Return factors with which the real part of a change of poles is that of a column."""
    one = np.ones(len(poles), np.complex128)
    sizes = np.where(poles == 0, 1.0, np.abs(poles))
    return {
        "pole_real": one,
        "growth": one,
        "pole_imag": -1j * one,
        "angular_frequency": -1j * one,
        "frequency": -1j * one / (2 * np.pi),
        # d(-Re s/|s|) = Im s Im(conj(s) ds)/|s|^3
        "damping_ratio": -1j * poles.imag * poles.conj() / sizes**3,
    }


def _of_answers(G: Complex) -> dict[str, Complex]:
    """Return the same for answers; those that are zero have none of size and direction."""
    inverse, one = np.full(G.shape, np.nan + 0j), np.ones(G.shape, np.complex128)
    np.divide(1.0, G, out=inverse, where=G != 0)
    return {
        "real": one,
        "imag": -1j * one,
        "amplitude": np.abs(G) * inverse,
        "phase": -1j * inverse,
    }


def _counts(kinds: Array) -> str:
    words = ("free motions", "oscillations", "decays or growths")
    return ", ".join(f"{np.sum(kinds == k)} {word}" for k, word in enumerate(words))
