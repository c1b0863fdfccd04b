"""From a file to the first motion: seconds of the processor in a fresh process, step by step."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from simulation_peers.report import Section, seconds

SCRIPT = """
import json, sys
from time import process_time
import chainform as cf
from chainform.simulation import simulate
from chainform.simulation.solvers import SOLVERS
from chainform.simulation.machine.compilation import model_of

file, store = sys.argv[1:3]
code_cache = cf.open_store(store).database.objects if store else None
marks = [process_time()]
mechanism = cf.read(file)
marks.append(process_time())
model_of(mechanism, ("friction",), SOLVERS["dopri853"])
marks.append(process_time())
for q in (0.1, 0.2):
    start = [q] * mechanism.nq
    options = dict(method="dopri853", rtol=1e-8, without=("friction",), energy_balance=False)
    simulate(mechanism, q0=start, t=1.0, t_eval=[1.0], code_cache=code_cache, **options)
    marks.append(process_time())
print(json.dumps([b - a for a, b in zip(marks, marks[1:])]))
"""
HEADER = (
    "mechanism",
    "read",
    "derive",
    "first motion",
    "with machine code kept",
    "next motion",
)


def section(files: dict[str, Path]) -> Section:
    """Run a fresh process for each mechanism, twice with a store that keeps machine code."""
    rows: list[list[str]] = []
    for name, file in files.items():
        with tempfile.TemporaryDirectory() as folder:
            store = str(Path(folder) / "models.db")
            first = _marks(file, "")
            _marks(file, store)
            kept = _marks(file, store)
        read, derived, motion, again = first
        rows.append([name, *map(seconds, (read, derived, motion, kept[2], again))])
    words = (
        "Motions of 1 s, order 8, rtol 1e-8. The first one compiles the equations and, once in a "
        "process, the loop; with a store as code_cache the machine code is there already."
    )
    return Section("From a file to a motion", words, HEADER, rows)


def _marks(file: Path, store: str) -> list[float]:
    command = [sys.executable, "-c", SCRIPT, str(file), store]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])
