"""Hold the answers of a path against the reference: what is wrong, refused or foreign."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from chainform.verification.reference import motions
from chainform.verification.reference.dynamics import BodyState, UnsureError
from chainform.verification.reference.kinematics import BodySystem
from chainform.verification.reference.quantities import StateAnswer
from tools.campaign.answers import answer, with_law
from tools.campaign.edits import bare
from tools.campaign.events import events_of
from tools.campaign.paths import Path
from tools.campaign.paths.statics import Given, Results
from tools.campaign.reasons import is_legitimate, is_lost, product_error, reason_of

TOLERANCES = {"state": 1e-7, "motion": 1e-6, "task": 1e-7}
LOOSER = {
    "coriolis": 100.0,
    "Cm + Cm^T": 100.0,
    "impacts": 1.0,
    "A of small motions": 30.0,
    "B of small motions": 30.0,
    "stiffness at rest": 30.0,
    "forces left at rest": 10.0,
    "forces left along a path": 10.0,
    "same q by the drives": 300.0,
    "same accelerations by differences": 300.0,
    "q none": 100.0,
    "qd none": 100.0,
    "q baumgarte": 100.0,
    "qd baumgarte": 100.0,
    "drift of the balance": 10.0,
    "powers of poles": 30.0,
    "real parts of the response": 30.0,
    "imag parts of the response": 30.0,
    "change of a motion": 100.0,
}
"""By how much the tolerance of some answers is wider."""
LIGHT, SAMPLES = 1e-3, 100
"""The share of a mass matrix below which a motion may be lost, and at how many times it is seen."""
SINGLE = 3e-5
"""The tolerance of float32: some hundred times its rounding error."""
METHODS = {"cvode": 100.0, "ida": 1000.0}
"""By how much it is wider with some methods, which control their error less closely."""


@dataclass(frozen=True)
class Finding:
    """A disagreement: what kind, where, and the two answers."""

    path: str
    kind: str
    """`wrong`, `refused`, `foreign`, `hung` or `died`."""
    key: str
    got: Any = None
    expected: Any = None
    detail: str = ""

    @property
    def label(self) -> tuple[str, str, str]:
        """What must stay the same while a case is made smaller."""
        return self.path, self.kind, self.key if self.kind == "wrong" else self.detail


@dataclass
class Outcome:
    """What one path gave for one case."""

    comparisons: int = 0
    unsure: int = 0
    refusals: list[str] = field(default_factory=list[str])
    findings: list[Finding] = field(default_factory=list[Finding])


def outcome_of(path: Path, given: Given) -> Outcome:
    """Return what a path gives for a case, compared with the reference."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = path.run(given)
    except Exception as error:  # noqa: BLE001
        return _refused(path, given, error)
    return _compared(path, given, results)


def _refused(path: Path, given: Given, error: Exception) -> Outcome:
    """Return a refusal, which is in order if its reason is; anything else is foreign."""
    reason = reason_of(error)
    if not isinstance(error, product_error()):
        detail = f"{type(error).__name__}: {reason}"
        return Outcome(findings=[Finding(path.name, "foreign", "", detail=detail)])
    found = Outcome(refusals=[reason])
    if not is_legitimate(reason, given) and not (is_lost(reason) and _is_unsure(path, given)):
        found.findings.append(Finding(path.name, "refused", "", detail=reason))
    return found


def _is_unsure(path: Path, given: Given) -> bool:
    """Whether the reference, too, comes to no end, or to a pose in which hardly a mass resists."""
    task = {"pushed": True} if path.name.endswith("moved_by_unknowns") else {}
    is_prescribed = path.name.endswith("prescribed.prescribed")
    expected = Expected({**given, "mechanism": with_law(given)} if is_prescribed else given, {})
    try:
        with np.errstate(all="ignore"):
            moved = expected.moved(task)
            return moved.horizon < given["motion"]["times"][-1] or _least_mass(given, moved) < LIGHT
    except (UnsureError, np.linalg.LinAlgError):
        return True


def _least_mass(given: Given, moved: motions.Path) -> float:
    """Return the least share of an eigenvalue of the mass matrix along a motion."""
    system = BodySystem.of(given["mechanism"])
    shares = [1.0]
    for begin, end, dense in moved.pieces:
        for t in np.linspace(begin, end, SAMPLES):
            q, qd = np.split(dense(t)[: system.nq + system.nv], [system.nq])
            values = np.linalg.eigvalsh(BodyState.of(system, q, qd, t).H)
            shares.append(float(values[0] / max(values[-1], 1e-9)) if len(values) else 1.0)
    return min(shares)


def _compared(path: Path, given: Given, results: Results) -> Outcome:
    outcome = Outcome()
    expected = Expected(given, results)
    for key, got in results.items():
        if key.startswith("refusal of "):
            part = _refused(path, given, got)
            outcome.refusals += part.refusals
            outcome.findings += part.findings
            continue
        if key.startswith("spread of ") or key in ("tau", "x", "u", "sigma"):
            continue
        try:
            with np.errstate(all="ignore"):
                wanted = expected.of(path.kind, key)
        except (UnsureError, ZeroDivisionError, np.linalg.LinAlgError):
            outcome.unsure += 1
            continue
        if wanted is None:
            continue
        value = got[0] if key.startswith("same ") else got
        outcome.comparisons += 1
        allowed = _allowed(path, given, results, key)
        has_horizon = path.kind == "motion" and "events" not in key
        if not agree(value, wanted, allowed, has_horizon) and not (
            path.kind == "motion" and _is_touchy(expected, key, value, wanted, allowed)
        ):
            outcome.findings.append(Finding(path.name, "wrong", key, value, wanted))
    return outcome


def _allowed(path: Path, given: Given, results: Results, key: str) -> float:
    allowed = TOLERANCES[path.kind] * LOOSER.get(key, 1.0)
    if path.name == "statics.single_precision":
        allowed = max(allowed, SINGLE)
    if path.name == "motions.by_method":
        allowed *= METHODS.get(given["motion"]["method"], 1.0)
    spread = results.get(f"spread of {key}")
    if spread is not None and np.size(spread):
        # Where steps are too long for a motion they say nothing about it, least of all where the
        # longer ones fail.
        if np.any(np.isnan(spread)):
            return np.inf
        largest = float(np.max(np.abs(spread)))
        allowed += 6 * largest + 30 * largest**2
    return allowed


def agree(got: Any, expected: Any, allowed: float, has_horizon: bool = False) -> bool:
    """Whether two answers agree, relative to the size of the expected one where that exceeds 1."""
    a, b = np.asarray(got, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    if has_horizon and not b.size:
        return True
    if has_horizon and a.ndim == b.ndim and a.ndim and len(a) > len(b):
        a = a[: len(b)]
    if a.shape != b.shape:
        return False
    if not b.size:
        return True
    return bool(np.all(np.abs(a - b) <= allowed * (1 + np.abs(b).max())))


def _is_touchy(expected: Expected, key: str, got: Any, wanted: Any, allowed: float) -> bool:
    """Whether so small a change at the start as errors of a step moves the motion as much."""
    if not key.startswith(("q", "impacts", "rates after", "events")) or key.endswith("along"):
        return False
    try:
        magnified = expected.sensitivity(key.partition(" of lane ")[2])
        return agree(got, wanted, allowed + 3e-8 * magnified, "events" not in key)
    except UnsureError:
        return True


@dataclass(frozen=True)
class Expected:
    """The answers of the reference for a case."""

    given: Given
    results: Results

    def of(self, kind: str, key: str) -> Any:
        """Return the answer for a key of the results, None where there is none."""
        if key.startswith("same "):
            return self.results[key][1]
        if key.startswith("taken: "):
            return 0.0
        if key.endswith(" of a batch"):
            return np.array([self.at(lane).value(key[:-11]) for lane in self.given["batch"]])
        if key.endswith(" left out"):
            return StateAnswer(bare(self.given["mechanism"]), {**self.given, "values": None}).value(
                key[:-9]
            )
        if key.endswith(" under a wrench"):
            return self.wrenched(key[:-15])
        if kind == "task" or key.endswith(" as prescribed"):
            return answer(self.given, self.results, key)
        if kind == "state":
            return self.at({}).value(key.partition(" expanded ")[0])
        return self.of_motion(key)

    def at(self, state: dict[str, Any]) -> StateAnswer:
        """Return the reference at the state of the case, or at another one."""
        return StateAnswer(self.given["mechanism"], {**self.given, "values": None, **state})

    def wrenched(self, output: str) -> Any:
        """Return inverse or forward dynamics under the wrench of that path."""
        answer = self.at({})
        name = self.given["mechanism"]["segments"][-1]["name"]
        effort = answer.of_frame("jacobian", name, "world").T @ [1.0, -2.0, 3.0, 0.5, -0.4, 0.3]
        if output == "inverse_dynamics":
            return answer.value(output) - effort
        return self.at({"tau": np.array(self.given["tau"]) + effort}).value(output)

    # --- motions ----------------------------------------------------------------------------

    def of_motion(self, key: str) -> Any:
        """Return the answer for a key of a motion."""
        if key == "t":
            return np.array(self.given["motion"]["times"])
        if key.startswith(("drift of", "depth in", "pull of")):
            return 0.0
        if key.endswith(" along"):
            return self.along(key[:-6])
        if key.endswith(" under pushes"):
            return getattr(self.moved({"pushed": True}), key[:-13])
        if key.endswith("events"):
            return self.events(("events", "q at events", "qd at events").index(key))
        if " of lane " in key:
            name, _, lane = key.partition(" of lane ")
            moved = self.moved(self.start_of(lane))
            if name == "impacts":
                return np.array([impact.t for impact in moved.impacts])
            return getattr(moved, name)
        if key in ("impacts", "rates after impacts"):
            name = "t" if key == "impacts" else "qd_after"
            return np.array([getattr(impact, name) for impact in self.path.impacts])
        return getattr(self.path, key.split(maxsplit=1)[0])

    def events(self, field: int) -> Any:
        """Return times or states of events; beyond the horizon they are the product's own."""
        event = self.given["motion"]["events"]["mark"]
        certain = self.path.horizon - 1e-6
        system = BodySystem.of(self.given["mechanism"])
        found = [e for e in events_of(system, self.path, event) if e[0] < certain]
        if event.get("stop"):
            found = found[:1]
        keys = ("events", "q at events", "qd at events")
        rest = [
            e
            for e in zip(*(self.results[key] for key in keys), strict=True)
            if e[0] >= certain and not (found and event.get("stop"))
        ]
        return np.array([e[field] for e in (*found, *rest)])

    @cached_property
    def path(self) -> motions.Path:
        """The motion by the reference."""
        return self.moved({})

    def moved(self, start: dict[str, Any]) -> motions.Path:
        """Return the motion from the state of the case, or from another one."""
        return _moved(json.dumps([self.given["mechanism"], {**self.given["motion"], **start}]))

    def sensitivity(self, lane: str = "") -> float:
        """How much a change of the rates at the start is magnified."""
        start = self.start_of(lane) if lane else {"qd0": self.given["motion"]["qd0"]}
        rates = np.array(start["qd0"])
        step = 1e-6 * np.cos(np.arange(1, 1 + len(rates)))
        if self.given["mechanism"].get("loops") or self.given["mechanism"].get("constraints"):
            step = 1e-6 * rates
        own, other = (self.moved({**start, "qd0": (rates + d).tolist()}) for d in (0 * step, step))
        size = min(len(other.t), len(own.t))
        change = max(
            np.abs(getattr(other, n)[:size] - getattr(own, n)[:size]).max() for n in ("q", "qd")
        )
        return float(change / max(np.abs(step).max(), 1e-9))

    def start_of(self, lane: str) -> dict[str, Any]:
        """Return the state at the start of a motion of a batch; with stops all have one pose."""
        motion, state = self.given["motion"], self.given["batch"][int(lane)]
        is_open = motion.get("stops") or motion.get("contacts")
        return {"q0": motion["q0"] if is_open else state["q"], "qd0": state["qd"]}

    def along(self, name: str) -> Any:
        """Return a quantity at the very states that the product gave."""
        switched = self.given["motion"].get("stops") or self.given["motion"].get("contacts")
        rubs = any(body.coulomb for body in BodySystem.of(self.given["mechanism"]).bodies)
        if (switched or rubs) and name in ("qdd", "reactions", "multipliers", "drives"):
            return None
        return np.array(list(map(_certain(name), self.states())))

    def states(self) -> Iterator[StateAnswer]:
        """Yield the reference at each state of the product, with its drives and accelerations."""
        for i in range(len(self.results["t"])):
            state = {name: self.results[name][i] for name in ("t", "q", "qd", "tau")}
            state |= {n: self.results[n][i] for n in ("x", "u", "sigma") if n in self.results}
            if "qdd along" in self.results:
                state["qdd"] = self.results["qdd along"][i]
            yield self.at(state)


@lru_cache(maxsize=32)
def _path(text: str) -> motions.Path | str:
    table, task = json.loads(text)
    try:
        return motions.Mover(BodySystem.of(table), task).run()
    except UnsureError as error:
        return str(error)


def _moved(text: str) -> motions.Path:
    """Return the motion of the reference; several paths of a case have the same."""
    found = _path(text)
    if isinstance(found, str):
        raise UnsureError(found)
    return found


def _certain(name: str) -> Callable[[StateAnswer], Any]:
    def value(answer: StateAnswer) -> Any:
        found = answer.along(name)
        if found is None:
            raise UnsureError(f"{name} is not unique")
        return found

    return value
