"""The bodies as steps of a recursion: each turns, slides through its joint, or does both at once.

A massless piece that turns and carries nothing but a body that slides in it makes one step with
that body (Korayem and Shafei: a link that turns about z and slides along its own x). The origin O
of the step stays at the joint while the body slides, so the place of its mass centre and its
inertia about O depend on the extension l. With mass m and, at l = 0, first moment h and second
moments P about O (P the integral of r r^T dm), for a slide along the unit vector x

    h(l) = h + m l x,      P(l) = P + l (h x^T + x h(l)^T),

which holds for any body; the paper's integrals over a rod are made of them:

symbol     meaning                                             closed form             eq.
B0         mass                                                m                       (9)
B1         what l'' adds to the force                          m l'' x                 (10)
B2         what l' adds, to be multiplied by w                 m l' [x]                (11)
B3         first moment                                        [h(l)]                  (12)
B4         the square of l''                                   m l''^2                 (13)
B5, B6     first moment with l'' and with l'                   [h(l)] l'' [x]^T, l'    (14), (15)
B7 + B8    inertia about O                                     tr P(l) 1 - P(l)        (16), (17)

[v] is the matrix of the vector product with v. A prismatic joint alone is a step that does not
turn, any other joint one that does not slide through its joint. The origin of a free joint moves
with its body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from chainform.formulations.composites import Composite, joined, kept, turned_back
from chainform.formulations.motion import AxisTurn, MatrixTurn, Turn, is_zero, others
from chainform.formulations.skeleton import Column, Limb, Skeleton
from chainform.graph import Scalar
from chainform.mechanism import GROUND, JointKind
from chainform.spatial import Matrix, Vector, add, apply, column, matrix, scale, unit


@dataclass(frozen=True, slots=True)
class Freedom:
    """A turn about, or a slide along, a unit vector that is constant in the axes of its step.

    The step moves by `ratio` times the rate; for a quaternion the rate is a quasi-velocity.
    """

    rate: int
    is_turn: bool
    ratio: Fraction
    direction: Vector


@dataclass(frozen=True, slots=True)
class Step:
    """One body with the freedoms of its joint, in its own axes; `segment` has the body.

    `reach` leads from the origin of the step before to the origin O, in the axes of the former,
    at its present extension. `leans` and then `turn` lead from those axes to the step's own;
    `turn` is that of a revolute joint. `body` holds the moments about O at the present extension,
    B0, B3 and P(l), and `inertia` is B7 + B8.
    """

    segment: int
    parent: int
    kind: JointKind
    reach: Vector
    leans: tuple[MatrixTurn, ...]
    turn: AxisTurn | None
    turning: tuple[Freedom, ...]
    sliding: tuple[Freedom, ...]
    body: Composite
    inertia: Matrix

    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        """The freedoms of the joint, turns first."""
        return (*self.turning, *self.sliding)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns from the axes of the step before to those of this one."""
        return self.leans if self.turn is None else (*self.leans, self.turn)

    @property
    def axis(self) -> int:
        """The axis of a revolute joint; z for any other."""
        return 2 if self.turn is None else self.turn.axis

    def back(self, v: Vector) -> Vector:
        """Return a vector in the axes of the step before."""
        for turn in reversed(self.turns):
            v = turn.back(v)
        return v


@dataclass(frozen=True, slots=True)
class _Seat:
    """Where a limb sits on its step: the way from O to its origin, and the turn of its axes."""

    step: int
    reach: Vector
    rotation: Matrix | None = None


def steps_of(skeleton: Skeleton) -> list[Step]:
    """Return the steps of a mechanism, those before first."""
    return _Steps(skeleton).steps


class _Steps:
    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self.builder = skeleton.builder
        zero = self.builder.number(0)
        self.none: Vector = (zero, zero, zero)
        self.nothing = Composite(zero, self.none, (self.none, self.none, self.none))
        self.seats = {GROUND: _Seat(GROUND, self.none)}
        self.steps: list[Step] = []
        for k, limb in enumerate(skeleton.limbs):
            if k not in self.seats:
                self._append(k, limb)

    def _append(self, k: int, limb: Limb) -> None:
        """Add the step that begins with a limb."""
        slider = k if limb.kind == JointKind.PRISMATIC else self._slider(k, limb)
        self.seats[k] = _Seat(len(self.steps), self.none)
        if slider is not None:
            self.steps.append(self._with_slide(limb, slider, is_pair=slider != k))
            return
        body = Composite(limb.mass, limb.moment, limb.second)
        sliding = tuple(_freedom(c) for c in limb.columns if not c.turning)
        self.steps.append(self._step(limb, limb.segment, sliding, body))

    def _with_slide(self, limb: Limb, slider: int, *, is_pair: bool) -> Step:
        """Return the step of a limb that slides, or in which the limb `slider` slides."""
        inner = self.skeleton.limbs[slider]
        start, rotation = (inner.position, inner.rotation) if is_pair else (self.none, None)
        along = unit(inner.axis, 1, 0) if rotation is None else column(rotation, inner.axis)
        slide = self._kept(scale(self.skeleton.displacement(inner), along))
        self.seats[slider] = _Seat(len(self.steps), self._kept(add(start, slide)), rotation)
        body = Composite(inner.mass, inner.moment, inner.second)
        if rotation is not None:
            body = turned_back(MatrixTurn(self.builder, rotation), body)
        body = self._moved(self._moved(body, start), slide)
        return self._step(limb, inner.segment, (_freedom(inner.columns[0], along),), body)

    def _moved(self, body: Composite, way: Vector) -> Composite:
        """Return the moments of a body that was moved, about the point that it left."""
        return joined(self.nothing, kept(self.builder, body), way)

    def _slider(self, k: int, limb: Limb) -> int | None:
        """Return the limb that slides in limb k, where the two make one step."""
        children = self.skeleton.children(k)
        if not limb.is_revolute or len(children) != 1 or not _is_massless(limb):
            return None
        is_sliding = self.skeleton.limbs[children[0]].kind == JointKind.PRISMATIC
        return children[0] if is_sliding else None

    def _step(
        self, limb: Limb, segment: int, sliding: tuple[Freedom, ...], body: Composite
    ) -> Step:
        seat = self.seats[limb.parent]
        place = self.skeleton.reach(limb) if limb.kind == JointKind.FREE else limb.position
        leans = [turn for turn in self.skeleton.turns(limb) if isinstance(turn, MatrixTurn)]
        if seat.rotation is not None:
            place = apply(seat.rotation, place)
            leans.insert(0, MatrixTurn(self.builder, seat.rotation))
        named = self._named(segment, body)
        return Step(
            segment=segment,
            parent=seat.step,
            kind=limb.kind,
            reach=self._kept(add(seat.reach, place)),
            leans=tuple(leans),
            turn=self._turn(limb),
            turning=tuple(_freedom(c) for c in limb.columns if c.turning),
            sliding=sliding,
            body=named,
            inertia=self._inertia(segment, named.second),
        )

    def _turn(self, limb: Limb) -> AxisTurn | None:
        if not limb.is_revolute:
            return None
        angle, call = self.skeleton.displacement(limb), self.builder.call
        return AxisTurn(limb.axis, call("cos", angle), call("sin", angle))

    # --- names --------------------------------------------------------------------------

    def _named(self, j: int, body: Composite) -> Composite:
        kinematics = self.skeleton.kinematics
        return Composite(
            kinematics.named_scalar(f"B0_{j + 1}", body.mass),
            kinematics.named_vector(f"B3_{j + 1}", body.moment),
            kept(self.builder, body).second,
        )

    def _inertia(self, j: int, p: Matrix) -> Matrix:
        """Return tr P 1 - P."""

        def entry(i: int, k: int) -> Scalar:
            x, y = others(i)
            return p[x][x] + p[y][y] if i == k else -p[i][k]

        return self.skeleton.kinematics.named_matrix(f"B78_{j + 1}", matrix(entry))

    def _kept(self, v: Vector) -> Vector:
        keep = self.builder.keep
        return (keep(v[0]), keep(v[1]), keep(v[2]))


def _freedom(freedom: Column, direction: Vector | None = None) -> Freedom:
    along = unit(freedom.axis, 1, 0) if direction is None else direction
    return Freedom(freedom.rate, freedom.turning, freedom.ratio, along)


def _is_massless(limb: Limb) -> bool:
    entries: Sequence[Scalar] = (limb.mass, *limb.moment, *(x for row in limb.second for x in row))
    return all(is_zero(entry) for entry in entries)
