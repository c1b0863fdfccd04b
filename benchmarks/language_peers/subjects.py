"""What all languages compute: one function of one model, states, and the results of `evaluate`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from speed_peers.cases import Array, Case, Order, States, case_of
from speed_peers.measure import STATES

import chainform as cf
from chainform.mechanism import with_unit_quaternions
from chainform.model.export import package_for

EXAMPLES = Path(__file__).parents[2] / "examples"
NAME = "robot"
"""What exported functions and files begin with."""
FEW = 16
"""States at which results are compared."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A model with one output, and the robot for CasADi's C, where there is one."""

    title: str
    model: cf.Model
    case: Case | None = None

    @cached_property
    def _function(self) -> tuple[str, dict[str, int], tuple[int, ...]]:
        found = package_for(self.model, self.model.graph, {}, 0).functions[0]
        arguments = {a.group: a.length for a in found.signature.arguments}
        return found.name, arguments, tuple(found.signature.results[0].shape)

    @property
    def function(self) -> str:
        """Return the name of the function."""
        return self._function[0]

    @property
    def arguments(self) -> dict[str, int]:
        """Return what the function takes, with lengths."""
        return self._function[1]

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the result."""
        return self._function[2]

    @property
    def size(self) -> int:
        """Return how many numbers the result has."""
        return int(np.prod(self.shape))

    @property
    def order(self) -> Order:
        """Return the order of coordinates, with matrices by rows."""
        return Order(np.arange(self.model.mechanism.nq), np.arange(self.model.mechanism.nv))

    @property
    def layout(self) -> str:
        """Return a quantity of speed_peers whose results lie as those of this function."""
        return "mass_matrix" if len(self.shape) == 2 else "inverse_dynamics"

    @cached_property
    def states(self) -> States:
        """Return random states, angles between -3 and 3, quaternions of unit length."""
        rng, mechanism = np.random.default_rng(0), self.model.mechanism
        q = rng.uniform(-3, 3, (STATES, mechanism.nq))
        q = np.array([with_unit_quaternions(mechanism, each) for each in q])
        return States(q, *rng.uniform(-1, 1, (5, STATES, mechanism.nv)))

    @cached_property
    def expected(self) -> Array:
        """Return what `evaluate` gives at the first states, a row each."""
        few = self.states.part(slice(FEW))
        rows = [{name: getattr(few, name)[i] for name in self.arguments} for i in range(FEW)]
        found = [next(iter(self.model.evaluate(**row).values())) for row in rows]
        return np.array(found).reshape(FEW, self.size)

    def deviation(self, found: Array) -> float:
        """Return how far results are from `evaluate`, as a share of the largest one."""
        return float(np.abs(found - self.expected).max() / np.abs(self.expected).max())

    def export(self, language: str) -> Path:
        """Return a new folder with the function in a language."""
        folder = Path(tempfile.mkdtemp(prefix="chainform-languages-"))
        return self.model.export(language, folder / language, name=NAME)


def _robot(name: str, output: str = "inverse_dynamics") -> Subject:
    case = case_of(name)
    model = cf.derive(case.mechanism, [output], without=("friction",)).reduce()
    is_peer = output == "inverse_dynamics"
    return Subject(f"{name}, {output}", model, case if is_peer else None)


def _example(name: str, output: str) -> Subject:
    model = cf.derive(EXAMPLES / f"{name}.toml", [output]).reduce()
    return Subject(f"{name}, {output}", model)


SUBJECTS: dict[str, Callable[[], Subject]] = {
    "UR5": lambda: _robot("UR5"),
    "Panda": lambda: _robot("Panda"),
    "biped": lambda: _example("biped", "mass_matrix"),
    "Talos": lambda: _robot("Talos"),
    "elements": lambda: _example("stanford_elements", "bias"),
    "derivative": lambda: _robot("UR5", "d(tau)/d(q)"),
}
