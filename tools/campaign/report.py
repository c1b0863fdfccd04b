"""Scripts of disagreements, and counts."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pprint import pformat
from textwrap import indent
from types import FunctionType
from typing import Any

import numpy as np

from tools.campaign.compare import Finding
from tools.campaign.generate import Table
from tools.campaign.paths import Path

HEAD = '''"""{title}

Case {case} of seed {seed}, made smaller. {verdict}
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.linalg import qr

import chainform as cf
from chainform import analysis
from chainform.mechanism import parametrise
from chainform.pipeline import available_outputs
from chainform.readers import native_text, read_text, write_urdf
from chainform.simulation import simulate_batch

Given = Results = dict[str, Any]

given: Given = {given}


'''
FIELDS = (
    "mechanism",
    "q",
    "qd",
    "qdd",
    "fitting",
    "tau",
    "sigma",
    "x",
    "u",
    "t",
    "batch",
    "numbers",
    "wrong",
    "motion",
    "case",
    "singular",
    "loose",
    "massless",
)


def script_of(path: Path, given: Table, finding: Finding) -> str:
    """Return a program of its own that shows a disagreement through the product's interface."""
    kept = {name: given[name] for name in FIELDS if name in given}
    verdict = {
        "wrong": f"{finding.key}: the product and the reference differ.",
        "refused": f"Refused: {finding.detail}.",
        "foreign": f"Not an error of the product: {finding.detail}.",
    }[finding.kind]
    text = HEAD.format(
        title=f"{path.name}: {finding.kind} {finding.key}".strip(),
        case=given.get("case"),
        seed=given.get("seed"),
        verdict=verdict,
        given=pformat(kept, width=100, sort_dicts=False, compact=True),
    )
    text += "\n\n".join(inspect.getsource(f) for f in reversed(_needed(path.run)))
    text += f"\n\nresults = {path.run.__name__}(given)\n"
    if finding.kind == "wrong":
        text += _shown(finding)
    return text


def _shown(finding: Finding) -> str:
    expected = np.array2string(
        np.asarray(finding.expected, dtype=np.float64),
        separator=", ",
        threshold=10_000,
        precision=12,
    )
    literal = indent(expected, " " * 4)
    key = finding.key
    part = f"results[{key!r}][0]" if key.startswith("same ") else f"results[{key!r}]"
    return (
        (
            f"got = np.asarray({part}, dtype=float)\n"
            f"expected = np.array(\n{literal}\n)\n"
            f'print("{key}\\nproduct:", got, "\\nreference:", expected, sep="\\n")\n'
            "if got.shape == expected.shape:\n"
            '    print("largest difference:", np.abs(got - expected).max())\n'
        )
        .replace("nan", "np.nan")
        .replace("inf", "np.inf")
    )


def _needed(run: Callable[..., Any]) -> list[FunctionType]:
    """Return a path and the functions of the paths that it calls, callers first."""
    found: list[FunctionType] = []
    open_ends = [run]
    while open_ends:
        function = open_ends.pop(0)
        if not isinstance(function, FunctionType) or not function.__module__.startswith(
            "tools.campaign.paths"
        ):
            continue
        if function in found:
            found.remove(function)
        found.append(function)
        codes = [function.__code__, *(c for c in function.__code__.co_consts if inspect.iscode(c))]
        names = {name for code in codes for name in code.co_names}
        # A task of the product may have the name of the path that calls it.
        names.discard(function.__name__)
        open_ends += [function.__globals__[n] for n in sorted(names) if n in function.__globals__]
    return found


@dataclass
class Counts:
    """What a campaign did: added up over cases."""

    cases: int = 0
    taken: Counter[str] = field(default_factory=Counter[str])
    comparisons: Counter[str] = field(default_factory=Counter[str])
    unsure: Counter[str] = field(default_factory=Counter[str])
    refusals: Counter[str] = field(default_factory=Counter[str])
    disagreements: Counter[str] = field(default_factory=Counter[str])
    features: Counter[str] = field(default_factory=Counter[str])
    scripts: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, other: Counts) -> None:
        """Add the counts of further cases."""
        self.cases += other.cases
        for name in ("taken", "comparisons", "unsure", "refusals", "disagreements", "features"):
            getattr(self, name).update(getattr(other, name))
        for key, script in other.scripts.items():
            self.scripts.setdefault(key, script)

    def as_table(self) -> dict[str, Any]:
        """Return the counts as JSON can hold them."""
        names = (
            "taken",
            "comparisons",
            "unsure",
            "refusals",
            "disagreements",
            "features",
            "scripts",
        )
        return {"cases": self.cases, **{name: dict(getattr(self, name)) for name in names}}

    def text(self) -> str:
        """Return the counts as a table for people."""
        lines = [f"{self.cases} mechanisms, {sum(self.comparisons.values())} comparisons"]
        lines += ["", "features of mechanisms:"]
        lines += [
            "  " + ", ".join(f"{name} {count}" for name, count in self.features.most_common())
        ]
        lines += ["", f"{'path':36} {'taken':>7} {'compared':>9} {'unsure':>7}"]
        lines += [
            f"{name:36} {count:7} {self.comparisons[name]:9} {self.unsure[name]:7}"
            for name, count in sorted(self.taken.items())
        ]
        lines += ["", "refusals by reason:"]
        lines += [f"{count:7} {reason}" for reason, count in self.refusals.most_common()]
        lines += ["", f"disagreements: {sum(self.disagreements.values())}"]
        lines += [f"{count:7} {label}" for label, count in self.disagreements.most_common()]
        return "\n".join(lines)
