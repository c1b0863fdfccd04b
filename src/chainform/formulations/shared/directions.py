"""What a derivative is taken by: a group of inputs, or one input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from chainform.errors import DeriveError
from chainform.formulations.shared.constraints import ConstraintLaws
from chainform.formulations.shared.outputs import Key
from chainform.formulations.shared.scope import has_quaternions
from chainform.given import near
from chainform.graph import GROUPS, Builder, Direction, Scalar, Tangents, is_zero
from chainform.mechanism import JointKind, Mechanism

WORDS = {"time": "t", "parameter": "parameters"}
"""Other words for inputs."""


def _free(word: str) -> str:
    return f'; a parameter has to be free: parameters=["{word[:60]}"]'


@dataclass(frozen=True)
class Directions:
    """How inputs change, in one direction for each entry of a group, or for a single input."""

    word: str
    each: Mapping[str, Direction]
    is_group: bool = True
    commute: bool = True
    """Whether the order of two derivatives in these directions does not matter."""


class InputGroups:
    """The inputs of a builder by which derivatives are taken."""

    def __init__(self, builder: Builder, mechanism: Mechanism) -> None:
        self.builder = builder
        self.mechanism = mechanism

    @property
    def groups(self) -> list[str]:
        """The groups that there are, in the words of a user."""
        present = {given.group for given in self.builder.inputs.values()}
        return ["parameters" if g == "parameter" else g for g in GROUPS if g in present]

    def directions(self, word: str) -> Directions:
        """Return the directions of a group of inputs, or that of one input."""
        if self._is_parameter(word):
            return Directions(word, {word: self._alone(word)}, is_group=False)
        if self._is_joint(word):
            return self._one(word)
        word = WORDS.get(word, word)
        if word == "q":
            return self._coordinates
        group = "parameter" if word == "parameters" else word
        return self._group(word, group) if group in GROUPS else self._one(word)

    def _one(self, word: str) -> Directions:
        """Return the direction in which one input changes, given by a name."""
        name = self._input_name(word)
        self._refuse_quaternion(word, name)
        return Directions(word, {name: self._alone(name)}, is_group=False)

    def _is_parameter(self, word: str) -> bool:
        """Whether a word that may name a group is a parameter; refused where it could be both."""
        inputs = self.builder.inputs.values()
        if not any(given.group == "parameter" and given.name == word for given in inputs):
            return False
        group = WORDS.get(word, word)
        if group in self.groups:
            raise DeriveError(
                f"{word} may mean the parameter {word} or all inputs {group}",
                element=word,
                remedy="give the parameter another name",
            )
        return group in GROUPS or group == "parameters"

    def _is_joint(self, word: str) -> bool:
        """Whether a word that may name a group is a joint: where the equations have no such group.

        A joint may be called x, and so are the states of actuators.
        """
        if word not in (*self.mechanism.coordinates, *self.mechanism.rates):
            return False
        group = WORDS.get(word, word)
        if group == "t" and group in self.groups:
            raise DeriveError(
                f"{word} may mean the joint {word} or the time",
                element=word,
                remedy="rename the joint, or take a column of the derivative by q",
            )
        return group not in (*self.groups, "q", "qd", "qdd", "tau")

    def _alone(self, name: str) -> Direction:
        """Return the direction in which one input changes; no change if there is no such input."""
        variable = self._numbers.get(name)
        return {} if variable is None else {variable: self.builder.number(1)}

    @property
    def _numbers(self) -> dict[str, int]:
        return {given.name: v for v, given in self.builder.inputs.items()}

    def _group(self, word: str, group: str) -> Directions:
        given = [item for item in self.builder.inputs.values() if item.group == group]
        names = [item.name for item in sorted(given, key=lambda item: item.index)]
        if group in ("qd", "qdd", "tau"):
            names = [f"{group}{k + 1}" for k in range(self.mechanism.nv)]
        elif group == "t":
            names = ["t"]
        if not names:
            more = {"wrench": ", or name frames in wrenches", "parameters": _free("m_*")}
            groups = ", ".join(self.groups) + more.get(word, "")
            raise DeriveError(
                f"these equations have no input {word}",
                element=word,
                remedy=f"take the derivative by one of {groups}",
            )
        return Directions(word, {n: self._alone(n) for n in names}, is_group=group != "t")

    def _input_name(self, word: str) -> str:
        """Return the input that a word means: its own name, or that of a coordinate or rate."""
        mechanism, names = self.mechanism, self._numbers
        meant = {word} if word in names else set[str]()
        if word in mechanism.coordinates:
            meant.add(f"q{mechanism.coordinates.index(word) + 1}")
        elif word in mechanism.rates:
            meant.add(f"qd{mechanism.rates.index(word) + 1}")
        if len(meant) == 1:
            return meant.pop()
        if any(s.joint.name == word and s.joint.kind.has_quaternion for s in mechanism.segments):
            raise _cannot_change_alone(word)
        known = [*self.groups, *names, *mechanism.coordinates]
        general = f"take the derivative by one of {', '.join(self.groups)}, or by one input"
        raise DeriveError(
            f"{word} may mean {' or '.join(sorted(meant))}"
            if meant
            else f"there is no input {word[:60]}",
            element=word[:60],
            remedy="rename the joint, or take a column of the derivative by q"
            if meant
            else near(word, known, 3).strip() or general + _free(word),
        )

    def _refuse_quaternion(self, word: str, name: str) -> None:
        """Refuse a coordinate that cannot change alone."""
        variable = self._numbers.get(name, -1)
        if any(variable in d and len(d) > 1 for d in self._coordinates.each.values()):
            raise _cannot_change_alone(word)

    @cached_property
    def _coordinates(self) -> Directions:
        """A direction for each rate: how the coordinates change with it."""
        builder, mechanism = self.builder, self.mechanism
        if not has_quaternions(mechanism):
            names = [f"q{k + 1}" for k in range(mechanism.nq)]
            return Directions("q", {name: self._alone(name) for name in names})
        rates = ConstraintLaws(builder, mechanism).coordinate_rates()
        numbers = self._numbers
        each: dict[str, Direction] = {}
        for k in range(mechanism.nv):
            sweep = Tangents(builder, {numbers[f"qd{k + 1}"]: builder.number(1)})
            changes = {numbers[f"q{i + 1}"]: sweep.of(rate) for i, rate in rates.items()}
            each[f"q{k + 1}"] = {v: builder.keep(c) for v, c in changes.items() if not is_zero(c)}
        return Directions("q", each, commute=False)


def _cannot_change_alone(word: str) -> DeriveError:
    return DeriveError(
        f"{word} belongs to a joint with a quaternion and cannot change alone",
        element=word,
        remedy="take the derivative by q: it has a column for each rate of the joint",
    )


# --- joints with quaternions ----------------------------------------------------------------------


def turned_axes(builder: Builder, mechanism: Mechanism) -> dict[Key, Scalar]:
    """Return ad(qd): axes of joints with quaternions turn while they are displaced.

    Displacements change by xi_v' = dv - w x xi_v - v x xi_w and xi_w' = dw - w x xi_w.
    """
    entries: dict[Key, Scalar] = {}
    for segment in mechanism.segments:
        if segment.rate is None or not segment.joint.kind.has_quaternion:
            continue
        free = segment.joint.kind is JointKind.FREE
        move, turn = segment.rate, segment.rate + 3 * free
        entries |= _cross(builder, turn, turn, turn)
        if free:
            entries |= _cross(builder, move, move, turn) | _cross(builder, move, turn, move)
    return entries


def _cross(builder: Builder, row: int, column: int, rate: int) -> dict[Key, Scalar]:
    """Return the matrix of (three rates) x, at a place."""
    x, y, z = (builder.input(f"qd{k + 1}", "qd", k) for k in range(rate, rate + 3))
    signed = {(0, 1): -z, (0, 2): y, (1, 0): z, (1, 2): -x, (2, 0): -y, (2, 1): x}
    return {(row + i, column + k): value for (i, k), value in signed.items()}
