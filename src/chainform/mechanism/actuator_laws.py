"""Actuators given by laws: their states, their effort, and the gear between them and the joint.

    states = { i = "(u - R*i - ke*der(q))/L" },   effort = "kt*i"

symbol   meaning                                                                      unit
u        the signal within its limits; its own name does as well
q, q'    motion of what is driven: the sum of the joints by their weights             rad, m
T        the effort of the laws
N        gear ratio, motion of the actuator over motion of what it drives
n, n'    motion of the actuator, N q or, behind an elastic gear, states of their own
J        inertia of the rotor
k, d, b  stiffness, damping and play of the gear, measured at the joint
y        n/N - q, the twist of the gear; z the part of it that is beyond the play
S        effort of the elastic gear on the joint
eta, w   efficiency of the gear; rate of the joint below which it loses less

A rigid gear has P = N T; an elastic one P = S, J n'' = T - S/N, with

    z = max(y - b/2, 0) + min(y + b/2, 0)
    S = k z + D,     D = d y' within -|k z| and |k z| if there is play, else d y'

so that the gear pushes on one side at a time and never pulls, as `ElastoBacklash` of Modelica does.

A gear takes the share 1 - eta of the power that goes through it, whichever way it goes. With P for
the effort of a gear without losses and v for the rate of the joint (for an elastic gear n'/N),

    r = v / sqrt(v^2 + w^2),   A = 1 - eta,   B = 1/eta - 1
    rigid      N T is replaced by N T - (A+B)/2 |N T| r - (A-B)/2 N T |r|
    elastic    S/N in J n'' is replaced by (S + (A+B)/2 |S| r + (B-A)/2 S |r|) / N

which is eta N T if the actuator drives and N T / eta if the joint does, beyond the rate w. At rest
a gear loses nothing: without a width the effort there would be any of an interval, as in dry
friction, and the equations would not tell which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from chainform.expressions import (
    CONSTANTS,
    FUNCTIONS,
    Apply,
    Binary,
    Expression,
    Identifier,
    format_expression,
    parse,
    parts_of,
    substitute,
    symbols_of,
)
from chainform.given import Given
from chainform.mechanism.components import MOTION_NAMES, SIGNAL_NAME, Actuator, DriveLaws, Row
from chainform.mechanism.data import MechanismData
from chainform.mechanism.joints import gear_ratio_from
from chainform.mechanism.laws import TIME, LawReader, meanings_of
from chainform.mechanism.numbers import expression_of, number_of, symbols_in
from chainform.mechanism.reader import Reader
from chainform.mechanism.records import ONE, ZERO, Number
from chainform.mechanism.tables import GEAR_FIELDS

ANGLE, SPEED = "angle", "speed"
"""The states of the rotor of an elastic gear."""


def is_given_by_laws(table: Given) -> bool:
    """Tell whether an actuator is given by laws, not by matrices."""
    states, effort = table["states"], table["effort"]
    return states.is_table or (isinstance(effort.value, str) and not table.has("A"))


@dataclass(frozen=True, slots=True)
class LawActuatorReader:
    """Reads one actuator that is given by laws."""

    mechanism: MechanismData
    reader: Reader
    table: Given

    def actuator(self, name: str, rate: int) -> Actuator:
        """Return the actuator; what its gear does is in its laws."""
        table, reader = self.table, self.reader
        states = dict(table["states"].items()) if table.has("states") else {}
        for state, law in states.items():
            self.check_state(state, law)
        signal = table["signal"].name() if table.has("signal") else "signal"
        own = self._own_names(states, signal)
        rates = tuple(self._law(law, own) for law in states.values())
        effort = self._law(
            table.required("effort", "give the law of what it puts on the joint"), own
        )
        limit = reader.number(table["limit"], above=0) if table.has("limit") else None
        names, laws = _Gear(self, DriveLaws(rates, effort), tuple(states)).behind()
        for law in laws.laws:
            with table.translate_errors():
                # A file of it must be read again, however long the gear makes the law.
                number_of(law if isinstance(law, Fraction) else format_expression(law))
        return Actuator(
            name, rate, limit=limit, effort=None, states=names, signal=signal, laws=laws
        )

    # --- names --------------------------------------------------------------------------

    def _own_names(self, states: Mapping[str, Given], signal: str) -> dict[str, Expression]:
        """Return what stands for each name that means something here only."""
        names = (SIGNAL_NAME, *MOTION_NAMES, *states)
        own: dict[str, Expression] = {name: Identifier(name) for name in names}
        if self.table.has("signal"):
            if signal in own and signal != SIGNAL_NAME:
                message = f"{signal!r} is the name of a state, or of the motion"
                raise self.table["signal"].error(message, "give the signal another name")
            own[signal] = Identifier(SIGNAL_NAME)
        return own

    def check_state(self, state: str, law: Given) -> None:
        """Refuse a name that laws could not use, or that means something else in them."""
        remedy = "give the state another name"
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", state):
            raise law.error(f"{state!r} cannot stand in a law", remedy + ", of letters and digits")
        taken = {*FUNCTIONS, *CONSTANTS, TIME, SIGNAL_NAME, *MOTION_NAMES}
        if state in taken or self._means_more(state):
            message = f"{state!r} is the name of something else in laws"
            raise law.error(message, remedy)

    def _means_more(self, name: str) -> bool:
        """Whether a name is that of a coordinate, of a rate or of a parameter, too."""
        mechanism = self.mechanism
        meanings = meanings_of(name, mechanism.coordinates, mechanism.rates)
        return bool(meanings) or name in self.reader.values

    def _law(self, given: Given, own: Mapping[str, Expression]) -> Number:
        """Return a law, in which the signal is called u."""
        if isinstance(given.value, str):
            with given.translate_errors():
                written = number_of(parse(given.value))
            for name in sorted(own):
                if name in symbols_in(written) and self._means_more(name):
                    message = f"{name!r} may be that of the actuator, or a joint or parameter"
                    remedy = "rename the joint or the parameter; a signal may have its own name"
                    raise given.error(message, remedy)
        mechanism = self.mechanism
        reader = LawReader(self.reader, mechanism.coordinates, mechanism.rates, further=tuple(own))
        law = reader.law(given)
        return law if isinstance(law, Fraction) else substitute(law, own)


@dataclass(frozen=True, slots=True)
class _Gear:
    """What stands between the laws of an actuator and what it drives."""

    source: LawActuatorReader
    laws: DriveLaws
    states: tuple[str, ...]

    def _number(self, field: str, default: Number | None = ZERO, **bounds: float) -> Number:
        table = self.source.table
        given = table[field] if default is not None else table.required(field)
        return self.source.reader.number(given, default, **bounds)

    def behind(self) -> tuple[tuple[str, ...], DriveLaws]:
        """Return the states and the laws with the gear, in the motion of what is driven."""
        table = self.source.table
        if not any(table.has(field) for field in GEAR_FIELDS):
            return self.states, self.laws
        ratio = gear_ratio_from(table["gear_ratio"], ONE, self.source.reader)
        if table.has("stiffness"):
            return self._elastic(ratio)
        for field in ("damping", "backlash", "rotor_inertia"):
            if table.has(field):
                remedy = "give stiffness as well; the rotor of a rigid gear belongs to the joint, "
                remedy += "as its rotor_inertia and gear_ratio"
                raise table[field].error(f"{field} is that of an elastic gear", remedy)
        moved = {"q": _made("N*q", N=ratio), "der(q)": _made("N*der(q)", N=ratio)}
        laws = self._moved(moved)
        effort = _made("N*T", N=ratio, T=laws.effort)
        lossy = self._with_losses(effort, _made("der(q)"), "P - C*abs(P)*r - D*P*abs(r)")
        return self.states, DriveLaws(laws.rates, number_of(lossy))

    def _moved(self, motion: Mapping[str, Expression]) -> DriveLaws:
        """Return the laws with something else in place of q and der(q)."""

        def changed(law: Number) -> Number:
            return law if isinstance(law, Fraction) else substitute(law, motion)

        return DriveLaws(tuple(map(changed, self.laws.rates)), changed(self.laws.effort))

    def _elastic(self, ratio: Number) -> tuple[tuple[str, ...], DriveLaws]:
        """Return the states and laws with those of the rotor, which goes its own way."""
        taken = {ANGLE, SPEED} & {*self.states}
        for name in sorted(taken):
            message = f"{name!r} is a state of the rotor behind an elastic gear"
            raise self.source.table["states"].error(message, "give the state another name")
        for name in (ANGLE, SPEED):
            self.source.check_state(name, self.source.table["stiffness"])
        inertia = self._number("rotor_inertia", None, above=0)
        laws = self._moved({"q": Identifier(ANGLE), "der(q)": Identifier(SPEED)})
        rate = _made("speed/N", N=ratio)
        force = self._spring(ratio, rate)
        load = self._with_losses(force, rate, "P + C*abs(P)*r - D*P*abs(r)")
        turning = _made("(T - S/N)/J", T=laws.effort, S=load, N=ratio, J=inertia)
        rates: Row = (*laws.rates, number_of(Identifier(SPEED)), number_of(turning))
        return (*self.states, ANGLE, SPEED), DriveLaws(rates, number_of(force))

    def _spring(self, ratio: Number, rate: Expression) -> Expression:
        """Return S."""
        stiffness = self._number("stiffness", None, above=0)
        damping, play = self._number("damping", least=0), self._number("backlash", least=0)
        twist = _made("angle/N - q", N=ratio)
        drag = _made("d*(v - der(q))", d=damping, v=rate)
        if play == ZERO:
            spring = _made("k*y", k=stiffness, y=twist)
            return spring if damping == ZERO else _made("S + D", S=spring, D=drag)
        beyond = "k*(max(y - b/2, 0) + min(y + b/2, 0))"
        spring = _made(beyond, k=stiffness, y=twist, b=play)
        if damping == ZERO:
            return spring
        # |S| is S sign(y): its own zeros, which fill the whole play, are no kinks.
        size = _made("S*sign(y)", S=spring, y=twist)
        return _made("S + (abs(D + A) - abs(D - A))/2", S=spring, D=drag, A=size)

    def _with_losses(self, effort: Expression, rate: Expression, law: str) -> Expression:
        """Return an effort with what the gear loses."""
        table = self.source.table
        share = self._number("efficiency", ONE, above=0, most=1)
        if share == ONE:
            if table.has("efficiency_width"):
                raise table["efficiency_width"].error("the gear loses nothing", "give efficiency")
            return effort
        if not table.has("efficiency_width"):
            remedy = "give efficiency_width, the rate of the joint (rad/s, m/s) below which the "
            remedy += "gear loses less, such as a thousandth of the greatest rate"
            message = "at rest the effort of a gear with losses would be any of an interval"
            raise table["efficiency"].error(message, remedy)
        width = self._number("efficiency_width", None, above=0)
        smooth = _made("v/sqrt(v^2 + w^2)", v=rate, w=width)
        mean, half = "((1 - e) + (1/e - 1))/2", "((1 - e) - (1/e - 1))/2"
        factors = {"C": _made(mean, e=share), "D": _made(half, e=share)}
        return _made(law, P=effort, r=smooth, **factors)


def _made(text: str, **parts: Number) -> Expression:
    """Return an expression with others in place of its names."""
    return substitute(parse(text), {name: expression_of(part) for name, part in parts.items()})


# --- kinks ------------------------------------------------------------------------------------


def kinks_of(actuator: Actuator, mechanism: MechanismData) -> tuple[Expression, ...]:
    """Return the laws whose zeros are kinks or jumps of the laws of an actuator.

    They are the arguments of abs, sign and step, and the differences of those of min and max. Their
    order is the same whatever values parameters get.
    """
    laws = actuator.laws.laws if actuator.laws is not None else ()
    found = (kink for law in laws if not isinstance(law, Fraction) for kink in _kinks(law))
    constant = {parameter.name for parameter in mechanism.parameters}
    return tuple(kink for kink in found if symbols_of(kink) - constant)


def _kinks(law: Expression) -> Iterator[Expression]:
    for part in parts_of(law):
        yield from _kinks(part)
    if not isinstance(law, Apply):
        return
    if law.function in ("abs", "sign", "step"):
        yield law.arguments[0]
    if law.function in ("min", "max"):
        for k, (left, right) in enumerate(pairwise(law.arguments)):
            before = left if k == 0 else Apply(law.function, law.arguments[: k + 1])
            yield Binary("-", before, right)
