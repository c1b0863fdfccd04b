"""What is given of a linearisation: the state and inputs by name, and names of displacements.

A joint with a quaternion has other coordinates than rates. Its displacements are those along its
rates, in its own axes: `displacement(base_wx)` is a small turn about its x axis.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from chainform.analysis.linear.implicit_equations import ImplicitEquations
from chainform.analysis.results.displacement import has_quaternion
from chainform.errors import RunError
from chainform.given import argument, finite_array, listed
from chainform.mechanism import Mechanism, with_unit_quaternions
from chainform.model import entry_names, place_of
from chainform.simulation import assemble, consistent_rates, initial_rest, initial_state

Array = NDArray[np.float64]
Changes = dict[str, Array]
"""How inputs of equations change, by group: a column for each entry of z, then of w."""

GROUPS = ("u", "force", "tau", "wrench")
"""What acts from outside."""
WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
SHORTEST = 1e-4
"""How far a quaternion may be from the length 1, as in `evaluate`."""


class StateOptions(TypedDict, total=False):
    """The state about which a mechanism moves; whatever is not given is zero.

    q (nq), qd (nv), x of actuators, u, tau (nv), force (unknown forces), wrench (6 for each frame)
    are arrays or tables by names; t is the time (s). Where loops or constraints bind coordinates, a
    table may name independent ones: the others follow.
    """

    q: Any
    qd: Any
    x: Any
    u: Any
    tau: Any
    force: Any
    wrench: Any
    t: float


class LinearOptions(StateOptions, total=False):
    """What small motions are about: the parts of a state, and what acts.

    `values` are those of parameters; `forces`, `signals` and `controllers` are as in `simulate`.
    """

    values: Mapping[str, Any] | None
    forces: Mapping[str, Any] | None
    signals: Mapping[str, Any] | None
    controllers: Mapping[str, Any] | None


class RowOptions(LinearOptions, total=False):
    """What poles are about; `row` chooses one of several states of a result, from 1."""

    row: int | None


class SteadyOptions(RowOptions, total=False):
    """What modes are about; with `search` the equilibrium or steady motion near the state."""

    search: bool


ACTING = ("values", "forces", "signals", "controllers")


def operating_point(equations: ImplicitEquations, state: Mapping[str, Any]) -> dict[str, Array]:
    """Return all inputs of the equations but qdd and multipliers, by group; x without q and qd."""
    _check_names(state)
    mechanism = equations.mechanism
    t = _time(state.get("t"))
    with own_words():
        start = initial_state(mechanism, state.get("q"), state.get("qd"))
        q, qd = _unit(mechanism, start[: mechanism.nq]), start[mechanism.nq :]
        if equations.held:
            q, qd = _completed(mechanism, q, qd, state, float(t[0]))
        x = _rest(equations, q, qd, state.get("x"))
    point = {"q": q, "qd": qd, "x": x, "t": t}
    for group in ("tau", "u", "force", "wrench"):
        point[group] = _filled(equations, group, state.get(group))
    return point


def _check_names(state: Mapping[str, Any]) -> None:
    """Refuse a part that no state has, as Python refuses an argument."""
    known = tuple(LinearOptions.__annotations__)
    for name in state:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(known)}"
            raise TypeError(f"a state has no {name!r}{hint}")


@contextmanager
def own_words() -> Generator[None]:
    """Name the arguments as they are here: q for q0."""
    try:
        yield
    except RunError as error:
        message, element, remedy = (
            re.sub(r"\b(q|qd|x)0\b", r"\1", text or "")
            for text in (error.message, error.element, error.remedy)
        )
        if "simulate_batch" in remedy:
            remedy = "give one state; call linearise for each of several"
        raise RunError(message, file=error.file, element=element, remedy=remedy) from None


def _rest(equations: ImplicitEquations, q: Array, qd: Array, given: Any) -> Array:
    """Return the states of actuators besides q and qd, then those of controllers."""
    mechanism, own = equations.mechanism, equations.control_states
    more = np.zeros(len(own))
    if isinstance(given, Mapping):
        table = dict(cast("Mapping[str, Any]", given))
        for k, name in enumerate(own):
            more[k] = argument(f"x, {name}", table.pop(name, 0.0)).number()
        given = table
    elif given is not None and own:
        whole, count = finite_array("x", given), len(mechanism.states)
        if whole.shape == (count + len(own),):
            given, more = whole[:count], whole[count:]
    return np.concatenate([initial_rest(mechanism, q, qd, given), more])


def _completed(
    mechanism: Mechanism, q: Array, qd: Array, state: Mapping[str, Any], t: float
) -> tuple[Array, Array]:
    """Return coordinates and rates of which a table may name some; the others follow from these.

    An array has all of them, and is checked later.
    """
    names = {g: _table_names(state.get(g)) for g in ("q", "qd")}
    if names["q"] is not None:
        q = assemble(mechanism, q, names["q"], t=t)
    if names["qd"] is not None:
        qd = consistent_rates(mechanism, q, qd, names["qd"], t=t)
    return q, qd


def _table_names(given: Any) -> list[str] | None:
    if given is None:
        return []
    return [str(n) for n in cast("Mapping[str, Any]", given)] if _is_table(given) else None


def _is_table(given: Any) -> bool:
    return isinstance(given, Mapping)


def _unit(mechanism: Mechanism, q: Array) -> Array:
    unit = with_unit_quaternions(mechanism, q)
    if np.max(np.abs(unit - q), initial=0.0) > SHORTEST:
        raise RunError(
            "a quaternion does not have the length 1",
            element="q",
            remedy="divide its four entries (x y z w) by their length",
        )
    return unit


def _time(given: Any) -> Array:
    t = finite_array("t", 0.0 if given is None else given)
    if t.ndim:
        raise RunError(f"t has the shape {t.shape}", element="t", remedy="give one time: t=0.5")
    return t.reshape(1)


def _filled(equations: ImplicitEquations, group: str, given: Any) -> Array:
    """Return the numbers of a group, zero for what is not given."""
    numbers = np.zeros(equations.sizes[group])
    if given is None:
        return numbers
    if isinstance(given, Mapping):
        table = cast("Mapping[str, Any]", given)
        places = [_place(equations, group, str(name)) for name in table]
        for place, (name, value) in zip(places, table.items(), strict=True):
            if places.count(place) > 1:
                remedy = "give each entry once"
                raise RunError(f"{name} is given twice", element=group, remedy=remedy)
            numbers[place] = argument(f"{group}, {name}", value).number()
        return numbers
    array = finite_array(group, given)
    if array.shape != numbers.shape:
        names = input_names(equations)[group]
        raise RunError(
            f"{group} has the shape {array.shape}, and it must be {numbers.shape}",
            element=group,
            remedy=f"the order is {', '.join(names)}" if names else "leave it out",
        )
    return array


def _place(equations: ImplicitEquations, group: str, name: str) -> int:
    names = input_names(equations)[group]
    if name in names:
        return names.index(name)
    if group == "wrench":
        remedy = f"the names are {', '.join(names)}" if names else "name frames in wrenches"
        raise argument(group, name).unknown("entry", names, remedy)
    return place_of(equations.mechanism, group, name)


# --- names ------------------------------------------------------------------------------------


def input_names(equations: ImplicitEquations) -> dict[str, tuple[str, ...]]:
    """Return the names of what acts from outside, by group."""
    mechanism = equations.mechanism
    return {
        "u": entry_names(mechanism, "u"),
        "force": entry_names(mechanism, "force"),
        "tau": tuple(f"tau({name})" for name in mechanism.rates),
        "wrench": tuple(f"{frame}.{c}" for frame in equations.wrenches for c in WRENCH),
    }


def chosen_inputs(
    equations: ImplicitEquations, texts: Sequence[str] | None
) -> list[tuple[str, int, str]]:
    """Return group, place and name of each input: all of a group, or one by its name."""
    names = input_names(equations)
    every = [(g, k, name) for g, own in names.items() for k, name in enumerate(own)]
    if texts is None:
        first = next(g for g in ("u", "force", "tau") if names[g] or g == "tau")
        more = ("force",) if first == "u" else ()
        return [each for each in every if each[0] in (first, *more, "wrench")]
    chosen: list[tuple[str, int, str]] = []
    for text in argument("inputs", texts).texts('write inputs=["tau"]'):
        chosen += [each for each in every if text in (each[0], each[2])] or [
            _named(equations, every, text)
        ]
    return list(dict.fromkeys(chosen))


def _named(
    equations: ImplicitEquations, every: list[tuple[str, int, str]], text: str
) -> tuple[str, int, str]:
    """Return the input that a joint or an actuator has."""
    mechanism = equations.mechanism
    actuators = [actuator.name for actuator in mechanism.actuators]
    known = {
        **{name: ("tau", k) for k, name in enumerate(mechanism.rates)},
        **{name: ("u", k) for k, name in enumerate(actuators)},
    }
    if text not in known:
        words = [group for group, size in equations.sizes.items() if size and group in GROUPS]
        names = [*words, *known, *(each[2] for each in every)]
        more = "; name frames in wrenches for wrench" if text == "wrench" else ""
        raise argument("inputs", text).unknown(
            "input",
            names,
            f"inputs are {', '.join(words)}, or one of them by its name: {listed(known)}{more}",
        )
    return next(each for each in every if each[:2] == known[text])


def displacement_names(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the names of displacements along the rates."""
    rates = enumerate(mechanism.rates)
    return tuple(f"displacement({n})" if has_quaternion(mechanism, k) else n for k, n in rates)


def rate_names(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the names of rates as laws write them."""
    rates = enumerate(mechanism.rates)
    return tuple(n if has_quaternion(mechanism, k) else f"der({n})" for k, n in rates)
