"""One case: draw it, take its paths, make disagreements smaller."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tools.campaign.compare import Finding, outcome_of
from tools.campaign.generate import Table
from tools.campaign.paths import PATHS, Path, applies
from tools.campaign.report import Counts, script_of
from tools.campaign.shrink import shrunk
from tools.campaign.tasks import case_of

PATH_SEED = 7


def paths_of(seed: int, number: int, given: Table) -> Iterator[Path]:
    """Yield the paths that a case takes."""
    rng = np.random.default_rng([seed, number, PATH_SEED])
    for path in PATHS:
        if rng.random() <= path.share and applies(path, given):
            yield path


def features_of(given: Table) -> list[str]:
    """Name what a case has."""
    table = given["mechanism"]
    found = [key for key in table if key not in ("name", "gravity", "segments")]
    found += [
        s["joint"]["type"] + (" euler" if "euler" in s["joint"] else "") for s in table["segments"]
    ]
    found += [f"loop {loop['kind']}" for loop in table.get("loops", ())]
    found += ["massless" for s in table["segments"] if not s.get("mass")][:1]
    found += [
        key
        for s in table["segments"]
        for key in ("mimic", "friction", "rotor_inertia")
        if key in s["joint"]
    ]
    found += [
        f"motion {key}"
        for key in ("stops", "contacts", "controllers", "forces", "events", "hold")
        if given["motion"].get(key)
    ]
    found += ["feedback"] if "feedback" in (given["motion"].get("controllers") or {}) else []
    return [*found, *(["singular"] if given["singular"] else [])]


def label_of(finding: Finding) -> str:
    """Return a line that is the same for disagreements of one kind."""
    return f"{finding.path}: {finding.kind} {finding.key or finding.detail}"


def round_of(
    seed: int, number: int, seconds: float = 60.0, known: frozenset[str] = frozenset()
) -> Counts:
    """Take all paths of one case; disagreements that are not `known` yet are made smaller."""
    counts = Counts()
    given = case_of(seed, number)
    counts.cases = 1
    counts.features.update(set(features_of(given)))
    for path in paths_of(seed, number, given):
        outcome = outcome_of(path, given)
        counts.taken[path.name] += 1
        counts.comparisons[path.name] += outcome.comparisons
        counts.unsure[path.name] += outcome.unsure
        counts.refusals.update(outcome.refusals)
        labels = [label_of(finding) for finding in outcome.findings]
        counts.disagreements.update(labels)
        # What else is wrong on the same path of the same case mostly has the same cause.
        new = [f for f, label in zip(outcome.findings, labels, strict=True) if label not in known]
        if new and not set(labels) & known:
            smaller, same = shrunk(path, given, new[0], seconds)
            counts.scripts[labels[0]] = script_of(path, smaller, same)
    return counts
