"""How quantities along a motion change with deviations from it.

dO = O_q xi + O_qd v + O_qdd dqdd + O_p dp,    dqdd = (qdd by xi, v, x, p) (xi, v, x, dp)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.variations.variational_equations import VariationalEquations
from chainform.errors import RunError
from chainform.formulations import with_derivatives
from chainform.model import output_of
from chainform.pipeline import derive
from chainform.simulation import check_output, values_along

Array = NDArray[np.float64]
OTHERS = (
    *("work", "losses", "balance", "tau", "drives", "u", "multipliers", "sigma"),
    *("t", "q", "qd", "x"),
)
"""What a run has of its own, with other derivatives or none."""
KNOWN = ("q", "qd", "qdd")
PARTS: Mapping[str, tuple[str, ...]] = {"energy": ("kinetic_energy", "potential_energy"), "qdd": ()}
"""Quantities that are sums of others; accelerations are known anyway."""


class OutputSlopes:
    """Quantities of one motion by name, and their derivatives."""

    def __init__(self, equations: VariationalEquations, names: Sequence[str]) -> None:
        self.equations, self.names = equations, tuple(names)
        conditions, mechanism = equations.system.conditions, equations.mechanism
        for name in names:
            check_output(mechanism, name)
            if name in OTHERS:
                raise _unknown(name, "it is no quantity of position, velocity and acceleration")
        if "energy" in names and conditions.barriers.stiff:
            raise _unknown("energy", "stiff contacts store energy, too")
        self.parts = {name: PARTS.get(name, (name,)) for name in names}
        outputs = list(dict.fromkeys(p for parts in self.parts.values() for p in parts))
        free = conditions.given.names(mechanism)
        without = equations.system.problem.without
        self.outputs = {name: output_of(name) for name in outputs}
        wanted = list(self.outputs.values()) or ["com"]
        model = derive(mechanism, wanted, without=without, parameters=free or "numeric")
        self.outputs = dict(zip(outputs, model.outputs, strict=False))
        needed = model.graph.cone(model.graph.output_variables(list(model.outputs)))
        self.groups = {item.group for v, item in model.graph.inputs.items() if needed[v]}
        for group in sorted(self.groups - {*KNOWN, "t", "parameter"}):
            raise _unknown(", ".join(names), f"it depends on {group}")
        if "qdd" in self.groups and conditions.barriers:
            raise _unknown(", ".join(names), "it depends on forces of stops and contacts")
        self.words = [group for group in KNOWN if group in self.groups]
        self.words += ["parameters"] if "parameter" in self.groups else []
        texts = [f"derivative({o},{w})" for o in self.outputs.values() for w in self.words]
        self.graph = with_derivatives(model.graph, texts, mechanism)
        inputs = [i for i in self.graph.inputs.values() if i.group == "parameter"]
        self.free = [i.name for i in sorted(inputs, key=lambda item: item.index)]

    def along(self, t: Array, y: Array, given: Array, Z: Array) -> dict[str, tuple[Array, Array]]:
        """Return each quantity (m, ...), and its derivatives (m, ..., columns).

        `Z` (m, n, columns) are deviations, the last columns those by parameters.
        """
        equations, nv = self.equations, self.equations.graph.nv
        inputs = equations.inputs(t, y, given)
        columns = {"t": t, "q": inputs["q"], "qd": inputs["qd"]}
        changes = {"q": Z[:, :nv], "qd": Z[:, nv : 2 * nv]}
        n, p = Z.shape[1], len(equations.parameters)
        if "qdd" in (*self.groups, *self.names):
            columns["qdd"] = equations.rates(t, y, given)[:, nv : 2 * nv]
            slopes = equations.slopes(t, y, given)[:, :nv]
            changes["qdd"] = slopes[..., :n] @ Z
            changes["qdd"][..., Z.shape[2] - p :] += slopes[..., n:]
        by_p = np.zeros((len(self.free), Z.shape[2]))
        for k, name in enumerate(equations.parameters):
            if name in self.free:
                by_p[self.free.index(name), Z.shape[2] - p + k] = 1.0
        changes["parameters"] = np.broadcast_to(by_p, (len(t), *by_p.shape))
        found = {name: self._one(name, columns, changes) for name in self.outputs}
        result: dict[str, tuple[Array, Array]] = {}
        for name, parts in self.parts.items():
            if name == "qdd":
                result[name] = columns["qdd"], changes["qdd"]
                continue
            value, slopes = found[parts[0]]
            for part in parts[1:]:
                value, slopes = value + found[part][0], slopes + found[part][1]
            result[name] = value, slopes
        return result

    def _one(
        self, name: str, columns: Mapping[str, Array], changes: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        output = self.outputs[name]
        shape, m = self.graph.block(output).shape, len(columns["t"])
        value = values_along(self.graph, output, columns)
        count = value.shape[1]
        total = np.zeros((m, count, changes["q"].shape[2]))
        for word in self.words:
            slopes = values_along(self.graph, f"derivative({output},{word})", columns)
            total += slopes.reshape(m, count, -1) @ changes[word]
        return value.reshape(m, *shape), total.reshape(m, *shape, -1)


def _unknown(name: str, reason: str) -> RunError:
    return RunError(
        f"its derivatives along a motion are not known: {reason}",
        element=f"outputs, {name}",
        remedy="take positions, velocities, accelerations, momenta, energies",
    )
