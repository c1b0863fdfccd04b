"""The outputs of a model against other programs: Pinocchio and MuJoCo, where they are installed.

Both programs get the mechanism joint by joint, in doubles, and share no line with the equations of
a model. They use doubles and algorithms of few operations for each body, and agree with each
other to 1e-15 or 1e-13 of the largest entry; so does a model, whatever its formulation. The
deviation that is allowed, 1e-9, is far above that, and far below what a wrong number, sign or axis
does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainform.errors import Error
from chainform.formulations import parse_request
from chainform.mechanism import (
    ZERO,
    Frame,
    Mechanism,
    float_of,
    float_vector,
    in_base,
    known_values,
    with_unit_quaternions,
)
from chainform.model import Model
from chainform.pipeline import derive
from chainform.verification.certificate import Check
from chainform.verification.peers.mujoco_peer import MujocoPeer
from chainform.verification.peers.peer_tree import Peer, TreeNumbers, matrix_of
from chainform.verification.peers.peer_values import (
    BY_RESIDUAL,
    OF_FRAMES,
    OF_MECHANISM,
    OF_RATES,
    GivenState,
    PeerValues,
)
from chainform.verification.peers.pinocchio_peer import PinocchioPeer

Array = NDArray[np.float64]

ALLOWED = 1e-9
"""The largest deviation, relative to the largest entry."""
LOADS = ("springs", "forces")
"""What no other program computes here: it is derived anew, alone, and added to its efforts."""
TAKE_LOADS = ("inverse_dynamics", "forward_dynamics")
"""The outputs with friction, springs and forces in them."""
PEERS: dict[str, tuple[type[Peer], str, frozenset[str]]] = {
    "pinocchio": (PinocchioPeer, "pip install pin", frozenset()),
    "mujoco": (MujocoPeer, "pip install mujoco", OF_RATES),
}
"""By the name of the module: how to build it, how to install it, what it does not give."""


def check_peers(model: Model, seed: int = 0, states: int = 3) -> Iterator[Check]:
    """Yield a check of each output of a model against each program, at random states.

    Parameters that are free have their default values in the first state and up to a tenth more or
    less in the others; those without one are drawn. The forces in loops are zero.
    """
    for name in PEERS:
        yield from _checks(model, name, seed, states)


def _checks(model: Model, name: str, seed: int, states: int) -> Iterator[Check]:
    build, remedy, without = PEERS[name]
    law = f"{build.title} gives the same"
    try:
        title = f"{build.title} {import_module(name).__version__}"
    except ImportError:
        yield Check(law, "nothing", f"it is not installed: {remedy}", None)
        return
    reason = _refusal(model.mechanism)
    given = (*BY_RESIDUAL, *OF_FRAMES, *OF_MECHANISM)
    known = [o for o in model.outputs if parse_request(o).name in given and o not in model.defined]
    known = [o for o in known if o not in without]
    if reason is None and not known:
        reason = f"it gives no {', '.join(model.outputs)}"
    if reason is not None:
        yield Check(law, "nothing", reason, None)
        return
    try:
        yield from _compared(model, build, title, known, (seed, states))
    except Error as problem:
        yield Check(law, "nothing", problem.message, None)
        return
    left = [output for output in model.outputs if output not in known]
    if left:
        yield Check(law, "nothing", f"it gives no {', '.join(left)}", None)


def _refusal(mechanism: Mechanism) -> str | None:
    """Return why no other program takes a mechanism."""
    if mechanism.elements or not mechanism.segments:
        return "it has segments only, no elements and no expressions"
    if not mechanism.nv:
        return "nothing moves"
    if mechanism.base.is_moving:
        return "the base moves as prescribed, which it does not know"
    if any(entry != ZERO for segment in mechanism.segments for entry in segment.body.moment):
        return "it has no bodies with a first moment besides that of their mass"
    return None


def _compared(
    model: Model, build: type[Peer], title: str, outputs: list[str], draws: tuple[int, int]
) -> Iterator[Check]:
    """Yield a check of each output that a program knows."""
    seed, states = draws
    random = np.random.default_rng(seed)
    worst: dict[str, float] = {}
    counted: dict[str, int] = dict.fromkeys(outputs, 0)
    source = _States(model)
    for number in range(states):
        values = source.values(random, is_first=number == 0)
        numbers = TreeNumbers.of(source.mechanism, values, rotors="rotors" not in model.without)
        if np.any(numbers.masses < 0.0):
            raise Error("it takes no negative mass", element="peers", remedy="")
        given, state = source.draw(random, values, numbers)
        peer = PeerValues(build(numbers), given)
        with np.errstate(all="ignore"):
            found = model.evaluate(**state, outputs=outputs)
        for output in outputs:
            deviation = _deviation(peer, output, found[output])
            if deviation is not None:
                counted[output] += 1
                worst[output] = max(deviation, worst.get(output, 0.0))
    for output in outputs:
        law = f"{build.title} gives the same {output}"
        if not counted[output]:
            yield Check(
                law,
                "nothing",
                "no finite value of it, or a singular mass matrix, in all states",
                None,
            )
            continue
        where = f"{counted[output]} random state{'s' * (counted[output] != 1)}"
        compared = f"all entries, {where}, {title}{source.remark(output)}"
        figure = f"deviation {worst[output]:.1e} of the largest entry"
        figure = figure if worst[output] else "no difference"
        holds = worst[output] <= ALLOWED
        yield Check(law, compared, figure, holds, counted[output], worst[output], ALLOWED)


def _deviation(peer: PeerValues, output: str, got: Array) -> float | None:
    """Return how far an output is from that of a program; None where neither can tell."""
    if not np.isfinite(got).all():
        return None if parse_request(output).name in BY_RESIDUAL else np.inf
    mine, expected, scale = peer.pair(output, np.asarray(got, dtype=np.float64))
    if not np.isfinite(expected).all():
        # Such as the mass centre of bodies without mass.
        return None
    gap = float(np.abs(mine - expected).max(initial=0.0))
    return gap / scale if scale > 0.0 else gap


class _States:
    """Random states of a model, and what acts in them that other programs do not know."""

    def __init__(self, model: Model) -> None:
        self.model = model
        # Base parameters are free in groups: the mechanism is compared with its own values.
        is_grouped = in_base(model.mechanism, model.parameters)
        self.mechanism: Mechanism = model.mechanism if is_grouped else model.settled
        self.free = {} if is_grouped else model.free_parameters
        self.has_loads = _has_loads(self.mechanism, model.without)
        self.loads = self._loads() if self.has_loads else ()
        self.groups = {item.group for item in model.graph.inputs.values()}

    def _loads(self) -> tuple[Model, Model]:
        """Return models with the loads and without them: their difference is what the loads do."""
        model, outputs = self.model, ["inverse_dynamics", "potential_energy"]
        options: dict[str, Any] = {"parameters": model.parameters}
        bare = sorted({*model.without, *LOADS})
        return (
            derive(model.mechanism, outputs, without=model.without, **options),
            derive(model.mechanism, outputs, without=bare, **options),
        )

    def remark(self, output: str) -> str:
        """Return what of an output is not compared."""
        name, parts = parse_request(output).name, list[str]()
        if self.has_loads and name in (*TAKE_LOADS, "potential_energy"):
            parts.append("springs and laws of forces are those of chainform")
        rubs = any(segment.joint.friction is not None for segment in self.mechanism.segments)
        if rubs and "friction" not in self.model.without and name in TAKE_LOADS:
            parts.append("friction is added by its law")
        if "sigma" in self.groups and name == "inverse_dynamics":
            parts.append("the forces in loops are zero")
        return "".join(f"; {part}" for part in parts)

    def values(self, random: np.random.Generator, *, is_first: bool) -> dict[str, Fraction]:
        """Return values of the free parameters."""
        found: dict[str, Fraction] = {}
        for name, default in self.free.items():
            factor = Fraction(float(random.uniform(0.9, 1.1))).limit_denominator(10**6)
            if default is None:
                found[name] = factor
            else:
                found[name] = default if is_first else default * factor
        return found

    def draw(
        self, random: np.random.Generator, values: Mapping[str, Fraction], numbers: TreeNumbers
    ) -> tuple[GivenState, dict[str, Any]]:
        """Return a state for a program, and the same as arguments of `Model.evaluate`."""
        mechanism = self.mechanism
        q = with_unit_quaternions(mechanism, random.uniform(-1.0, 1.0, mechanism.nq))
        qd, qdd, tau = random.uniform(-1.0, 1.0, (3, mechanism.nv))
        wrench = random.uniform(-1.0, 1.0, (len(self.model.wrenches), 6))
        lengths = {"x": len(mechanism.states), "u": len(mechanism.signals)}
        lengths["sigma"] = sum(loop.equations for loop in mechanism.loops)
        state: dict[str, Any] = {"q": q, "qd": qd, "qdd": qdd, "tau": tau, "t": 0.5}
        state |= {name: np.zeros(count) for name, count in lengths.items() if name in self.groups}
        state["values"] = {name: float(value) for name, value in values.items()}
        loads, energy = self._loads_at(state, mechanism.nv)
        if "wrench" in self.groups:
            state["wrench"] = wrench.ravel()
        acting = dict(zip(self.model.wrenches, wrench, strict=True))
        size = numbers.length + float(np.abs(q).sum())
        points = _points(mechanism, values)
        friction = np.zeros(mechanism.nv)
        if "friction" not in self.model.without:
            friction += _friction(mechanism, values, qd)
        return GivenState(q, qd, qdd, tau, loads, energy, friction, acting, points, size), state

    def _loads_at(self, state: Mapping[str, Any], nv: int) -> tuple[Array, float]:
        found: list[dict[str, Array]] = []
        for model in self.loads:
            groups = {item.group for item in model.graph.inputs.values()}
            chosen = {n: a for n, a in state.items() if n in groups or n in ("q", "qd", "qdd", "t")}
            free = model.free_parameters
            values = {n: x for n, x in state["values"].items() if n in free}
            if "sigma" in groups:
                chosen["sigma"] = np.zeros(sum(loop.equations for loop in self.mechanism.loops))
            found.append(model.evaluate(**chosen, values=values))
        if not found:
            return np.zeros(nv), 0.0
        whole, bare = found
        loads = whole["inverse_dynamics"] - bare["inverse_dynamics"]
        return loads, float(whole["potential_energy"] - bare["potential_energy"])


def _has_loads(mechanism: Mechanism, without: tuple[str, ...]) -> bool:
    parts = {"springs": mechanism.springs, "forces": mechanism.forces}
    return any(bool(there) and part not in without for part, there in parts.items())


def _friction(mechanism: Mechanism, values: Mapping[str, Fraction], qd: Array) -> Array:
    """Return what the joints take, d v + r sign(v) each, for the rates of their coordinates."""
    known, result = known_values(mechanism, values), np.zeros(mechanism.nv)
    for segment in mechanism.segments:
        friction, rate = segment.joint.friction, segment.rate
        if friction is not None and rate is not None:
            v = float(segment.ratio) * qd[rate]
            effort = float_of(friction.viscous, known) * v
            effort += float_of(friction.coulomb, known) * float(np.sign(v))
            result[rate] += float(segment.ratio) * effort
    return result


def _points(
    mechanism: Mechanism, values: Mapping[str, Fraction]
) -> dict[str, tuple[int, Array, Array]]:
    """Return segment, point and rotation of all frames by name."""
    known = known_values(mechanism, values)

    def numbers(frame: Frame) -> tuple[int, Array, Array]:
        return frame.segment, float_vector(frame.point, known), matrix_of(frame.rotation)

    return {name: numbers(mechanism.frame(name)) for name in mechanism.frame_names}
