"""Make a case smaller while it shows the same disagreement."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from time import process_time
from typing import Any

from tools.campaign.compare import Finding, outcome_of
from tools.campaign.edits import whole, with_mechanism
from tools.campaign.generate import Table
from tools.campaign.paths import Path, applies
from tools.campaign.reasons import has_quaternion

LISTS = ("actuators", "springs", "forces", "constraints", "loops", "frames")
MOTION = ("forces", "signals", "controllers", "stops", "contacts", "hold", "lanes")
IN_JOINT = ("friction", "rotor_inertia", "gear_ratio", "mimic", "limits")
IN_SEGMENT = {
    "rpy": None,
    "quaternion": None,
    "position": [1, 0, 0],
    "com": [0.5, 0, 0],
    "inertia": [0.1, 0.1, 0.1],
    "mass": 1,
}
"""Fields of a segment that may be left out, or else made simple."""
SMALLER_JOINTS = {
    "free": ("spherical", "prismatic", "revolute", "fixed"),
    "spherical": ("revolute", "fixed"),
    "planar": ("prismatic", "revolute", "fixed"),
    "cylindrical": ("prismatic", "revolute", "fixed"),
    "universal": ("revolute", "fixed"),
    "revolute_prismatic": ("prismatic", "revolute", "fixed"),
    "revolute": ("fixed",),
    "prismatic": ("fixed",),
}


def shrunk(
    path: Path, given: Table, finding: Finding, seconds: float = 60.0
) -> tuple[Table, Finding]:
    """Return a smaller case with the same disagreement, and that disagreement.

    It may compute for so many seconds.
    """
    until = process_time() + seconds
    best, last = given, finding
    moved = True
    while moved and process_time() < until:
        moved = False
        for candidate in candidates(best):
            if process_time() > until:
                break
            if size(candidate) < size(best):
                found = _same(path, candidate, finding)
                if found is not None:
                    best, last, moved = candidate, found, True
                    break
    return best, last


def _same(path: Path, given: Table, finding: Finding) -> Finding | None:
    """Return the disagreement of the same label that a path has for a case."""
    if not applies(path, given):
        return None
    try:
        findings = outcome_of(path, given).findings
    except Exception:  # noqa: BLE001
        return None
    return next((f for f in findings if f.label == finding.label), None)


def size(given: Table) -> tuple[int, int]:
    """Return the number of entries of a case, then of digits."""
    part = {
        key: given[key]
        for key in (
            "mechanism",
            "motion",
            "q",
            "qd",
            "qdd",
            "tau",
            "t",
            "numbers",
            "wrong",
            "batch",
        )
    }
    text = repr(part)
    return text.count(",") + text.count(":"), len(text)


def candidates(given: Table) -> Iterator[Table]:
    """Yield smaller cases, the boldest first; those that cannot be made are left out."""
    for make in (
        _fewer_segments,
        _fewer_features,
        _fewer_in_motion,
        _smaller_joints,
        _plainer,
        _rounder,
    ):
        for change in make(given):
            try:
                yield change()
            except Exception:  # noqa: BLE001
                continue


Change = Callable[[], Table]


def _edited(given: Table, edit: Callable[[Table], Any]) -> Change:
    def change() -> Table:
        table = deepcopy(given["mechanism"])
        edit(table)
        return with_mechanism(given, table)

    return change


def _fewer_segments(given: Table) -> Iterator[Change]:
    segments = given["mechanism"]["segments"]
    parents = {s["parent"] for s in segments}
    for segment in reversed(segments):
        if segment["name"] not in parents and len(segments) > 1:
            name = segment["name"]
            yield _edited(
                given,
                lambda t, name=name: t.update(
                    segments=[s for s in t["segments"] if s["name"] != name]
                ),
            )
    for segment in segments:
        # A segment in the middle goes, and its children move up to its parent.
        if segment["name"] in parents and len(segments) > 1:
            yield _edited(given, lambda t, gone=segment: _bridged(t, gone))


def _bridged(table: Table, gone: Table) -> None:
    table["segments"] = [s for s in table["segments"] if s["name"] != gone["name"]]
    for segment in table["segments"]:
        if segment["parent"] == gone["name"]:
            segment["parent"] = gone["parent"]


def _fewer_features(given: Table) -> Iterator[Change]:
    table = given["mechanism"]
    if "parameters" in table:
        yield _edited(given, with_numbers)
    for name in table.get("parameters", {}):
        yield _edited(given, lambda t, name=name: with_numbers(t, name))
    if "base" in table:
        yield _edited(given, lambda t: t.pop("base"))
    for key in LISTS:
        for place in range(len(table.get(key, ()))):
            yield _edited(given, lambda t, key=key, place=place: t[key].pop(place))
    for i, segment in enumerate(table["segments"]):
        for key in IN_JOINT:
            if key in segment["joint"]:
                yield _edited(given, lambda t, i=i, key=key: t["segments"][i]["joint"].pop(key))
    for place in range(len(given["numbers"])):
        yield lambda place=place: whole(
            {**given, "numbers": [n for i, n in enumerate(given["numbers"]) if i != place]}
        )


def with_numbers(table: Table, only: str | None = None) -> None:
    """Put the values of parameters, or of one, where their names stand."""
    values = table.pop("parameters")
    chosen = values if only is None else {only: values[only]}
    table["parameters"] = {name: value for name, value in values.items() if name not in chosen}

    def put(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: put(value) for key, value in item.items()}  # pyright: ignore[reportUnknownVariableType]
        if isinstance(item, list):
            return [put(value) for value in item]  # pyright: ignore[reportUnknownVariableType]
        if isinstance(item, str) and item.removeprefix("2*") in chosen:
            return chosen[item.removeprefix("2*")] * (2 if item.startswith("2*") else 1)
        return item

    for key in ("segments", "springs", "gravity"):
        if key in table:
            table[key] = put(table[key])


def _fewer_in_motion(given: Table) -> Iterator[Change]:
    motion = given["motion"]
    for key in MOTION:
        if key in motion:
            yield lambda key=key: whole(
                {**given, "motion": {k: v for k, v in motion.items() if k != key}}
            )
    times = motion["times"]
    if len(times) > 2:
        yield lambda: whole({**given, "motion": {**motion, "times": [0.0, times[-1]]}})
        yield lambda: whole({**given, "motion": {**motion, "times": [*times[:1], *times[2:]]}})
    if len(given["batch"]) > 2:
        yield lambda: whole({**given, "batch": given["batch"][:2]})
        yield lambda: whole({**given, "batch": given["batch"][:-1]})


def _smaller_joints(given: Table) -> Iterator[Change]:
    for i, segment in enumerate(given["mechanism"]["segments"]):
        for kind in SMALLER_JOINTS.get(segment["joint"]["type"], ()):
            joint = {"name": segment["joint"]["name"], "type": kind}
            if kind in ("revolute", "prismatic"):
                joint["axis"] = "z"
            yield _edited(
                given, lambda t, i=i, joint=joint: t["segments"][i].update(joint=dict(joint))
            )


def _plainer(given: Table) -> Iterator[Change]:
    for i, segment in enumerate(given["mechanism"]["segments"]):
        for key, simple in IN_SEGMENT.items():
            if key in segment:
                yield _edited(given, lambda t, i=i, key=key: t["segments"][i].pop(key))
                if simple is not None and segment[key] != simple:
                    yield _edited(
                        given,
                        lambda t, i=i, key=key, simple=simple: t["segments"][i].update(
                            {key: deepcopy(simple)}
                        ),
                    )
        axis = segment["joint"].get("axis")
        if axis not in (None, "x", "y", "z"):
            for letter in "zxy":
                yield _edited(
                    given,
                    lambda t, i=i, letter=letter: t["segments"][i]["joint"].update(axis=letter),
                )
    for gravity in ([0, 0, 0], [0, 0, -10]):
        yield _edited(given, lambda t, gravity=gravity: t.update(gravity=list(gravity)))


def _rounder(given: Table) -> Iterator[Change]:
    for name in ("qd", "qdd", "tau", "q"):
        for digits in (None, 0, 1):
            values = [0.0 if digits is None else round(float(x), digits) for x in given[name]]
            if values != given[name] and not (name == "q" and has_quaternion(given)):
                yield lambda name=name, values=values: whole({**given, name: values})
    if given["t"]:
        yield lambda: whole({**given, "t": 0.0})
