"""Matrices of small motions about a state, as formulas: z' = A z + B w, of open mechanisms.

symbol   meaning
z        displacements along the rates, then changes of the rates; with actuators those of joints
         whose motion no actuator has among its states, then x of all actuators
w        tau; with actuators their signals u
A, B     state_matrix and input_matrix

    A = [ - ad(qd)     1        ]    B = [ 0           ]    without actuators
        [ dqdd/dq      dqdd/dqd ]        [ dqdd/dtau   ]

ad(qd) is there for joints with quaternions, whose axes turn while they are displaced: with v and w
in its own axes, xi_v' = dv - w x xi_v - v x xi_w and xi_w' = dw - w x xi_w.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chainform.errors import DeriveError
from chainform.formulations.shared.drives import Drive, drives_of
from chainform.formulations.shared.options import GraphOf
from chainform.formulations.shared.outputs import Key, declare
from chainform.graph import Builder, Scalar, include
from chainform.mechanism import JointKind, Mechanism

LINEAR = ("state_matrix", "input_matrix")
"""The matrices of small motions."""
LETTER = {"state_matrix": "Az", "input_matrix": "Bz"}


def declare_linear(builder: Builder, mechanism: Mechanism, output: str, graph_of: GraphOf) -> None:
    """Declare one of the matrices."""
    _refuse_bound(mechanism, output)
    matrices = _Matrices(builder, mechanism, graph_of)
    rows = matrices.columns(output)
    entries: dict[Key, Scalar] = {}
    for k, column in enumerate(rows):
        entries |= {(i, k): value for i, value in column.items()}
    declare(builder, output, LETTER[output], (matrices.size, len(rows)), entries)


def _refuse_bound(mechanism: Mechanism, output: str) -> None:
    bound = [c for c in mechanism.constraints if c.kind != "unilateral"]
    if mechanism.loops or bound:
        raise DeriveError(
            f"{output} is that of open mechanisms, and this one has loops or constraints",
            file=mechanism.file,
            element=output,
            remedy="call chainform.linearise at a state: it chooses independent coordinates there",
        )


class _Matrices:
    """The states of a mechanism, and the derivatives of their rates."""

    def __init__(self, builder: Builder, mechanism: Mechanism, graph_of: GraphOf) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.graph_of = graph_of
        self.drives: list[Drive] = drives_of(builder, mechanism) if mechanism.actuators else []
        held = {drive.rate: drive for drive in self.drives}
        rates = range(mechanism.nv)
        self.q = [k for k in rates if k not in held or held[k].position is None]
        self.qd = [k for k in rates if k not in held or held[k].velocity is None]
        self.x = len(mechanism.states)

    @property
    def size(self) -> int:
        """How many states there are."""
        return len(self.q) + len(self.qd) + self.x

    def columns(self, output: str) -> list[dict[int, Scalar]]:
        """Return the columns of a matrix, entries that are not zero by row."""
        if output == "input_matrix":
            group = "u" if self.drives else "tau"
            count = len(self.drives) if self.drives else self.mechanism.nv
            found = self._derivatives([group])
            return [self._moved(found[group], k) for k in range(count)]
        groups = {"q": self.q, "qd": self.qd, "x": list(range(self.x))}
        found = self._derivatives([group for group, own in groups.items() if own])
        columns: list[dict[int, Scalar]] = []
        for group, own in groups.items():
            for k in own:
                column = self._moved(found[group], k)
                columns.append({**self._shifts(group, k), **column})
        return columns

    def _moved(self, slopes: Mapping[str, list[list[Scalar]]], k: int) -> dict[int, Scalar]:
        """Return the derivatives of qdd and x' by one input."""
        first = len(self.q)
        column = {first + i: slopes["qdd"][rate][k] for i, rate in enumerate(self.qd)}
        first += len(self.qd)
        if self.x:
            column |= {first + i: row[k] for i, row in enumerate(slopes["x"])}
        return column

    def _derivatives(self, groups: Sequence[str]) -> dict[str, dict[str, list[list[Scalar]]]]:
        """Return the derivatives of qdd and x' by groups of inputs, a row for each of them."""
        outputs = {"qdd": "forward_dynamics"}
        if self.drives:
            outputs = {"qdd": "complete_acceleration", "x": "complete_model"}
            if not self.x:
                del outputs["x"]
        texts = {
            (group, what): f"derivative({output},{group})"
            for group in groups
            for what, output in outputs.items()
        }
        graph = self.graph_of(list(texts.values()))
        found = include(self.builder, graph, {}, list(texts.values()))
        slopes: dict[str, dict[str, list[list[Scalar]]]] = {group: {} for group in groups}
        for (group, what), text in texts.items():
            values, count = found[text], graph.block(text).shape[-1]
            rows = [list(values[i : i + count]) for i in range(0, len(values), count)]
            slopes[group][what] = rows
        return slopes

    def _shifts(self, group: str, k: int) -> dict[int, Scalar]:
        """Return how the rates of displacements change with one state."""
        one = self.builder.number(1)
        if group == "qd":
            return {self.q.index(k): one} if k in self.q else {}
        if group == "q":
            turned = self._turned().items()
            return {self.q.index(i): -value for (i, column), value in turned if column == k}
        first, column = 0, dict[int, Scalar]()
        for drive in self.drives:
            place = k - first
            first += drive.actuator.order
            if drive.g is not None and drive.rate in self.q and 0 <= place < drive.actuator.order:
                column[self.q.index(drive.rate)] = drive.g[place]
        return column

    def _turned(self) -> dict[Key, Scalar]:
        """Return ad(qd): zero but for joints with quaternions."""
        entries: dict[Key, Scalar] = {}
        for segment in self.mechanism.segments:
            if segment.rate is None or not segment.joint.kind.has_quaternion:
                continue
            free = segment.joint.kind is JointKind.FREE
            move, turn = segment.rate, segment.rate + 3 * free
            entries |= self._cross(turn, turn, turn)
            if free:
                entries |= self._cross(move, move, turn) | self._cross(move, turn, move)
        return entries

    def _cross(self, row: int, column: int, rate: int) -> dict[Key, Scalar]:
        """Return the matrix of (three rates) x, at a place."""
        x, y, z = (self.builder.input(f"qd{rate + k + 1}", "qd", rate + k) for k in range(3))
        signed = {(0, 1): -z, (0, 2): y, (1, 0): z, (1, 2): -x, (2, 0): -y, (2, 1): x}
        return {(row + i, column + k): value for (i, k), value in signed.items()}
