"""chainform's side of the comparison: only this file knows how chainform compiles."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

import chainform as cf
from speed_peers.casadi_c import Batch
from speed_peers.cases import Array, Case, States
from speed_peers.measure import Competitor

TITLE = "chainform"
ARGUMENTS = {
    "inverse_dynamics": ("q", "qd", "third"),
    "forward_dynamics": ("q", "qd", "third"),
    "mass_matrix": ("q",),
    "coriolis_matrix": ("q", "qd"),
}

COLD = """
import chainform as cf
import numpy as np
mechanism = cf.read({path!r}{base})
program = cf.derive(mechanism, ["inverse_dynamics"], without=("friction",)).compile()
"""
STORED = """
import chainform as cf
import numpy as np
program = cf.open_store({store!r}).load("robot").compile()
"""
LOADED = """
from time import perf_counter
import chainform as cf
import llvmlite.binding
import numpy as np
store = cf.open_store({store!r})
start = perf_counter()
program = store.load("robot").compile()
"""
FIRST = """
q, v = np.full({nq}, 0.5), np.zeros({nv})
program.inverse_dynamics(q, v, v)
"""
TIME = """
print(perf_counter() - start)
"""


class Ours:
    """The compiled program of one robot, all four quantities, states in chainform's order."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self._programs: dict[tuple[str, int], cf.Program] = {}

    def program(self, quantity: str, threads: int = 1) -> cf.Program:
        """Return the program for one quantity, each derived and reduced alone."""
        key = quantity, threads
        if key not in self._programs:
            model = cf.derive(self.case.mechanism, [quantity], without=("friction",))
            self._programs[key] = model.reduce().compile(threads=threads)
        return self._programs[key]

    def competitor(self, quantity: str) -> Competitor:
        """Return the C function of one state."""
        program = self.program(quantity)
        return Competitor(
            TITLE,
            "",
            program.address(quantity),
            self.case.own_order,
            arguments=ARGUMENTS[quantity],
            keep=program,
        )

    def batch(self, states: States, layout: str, threads: int = 1) -> Batch:
        """Return inverse dynamics of a whole batch.

        Layout `natural`: q is (count, nq), as in `states`. `components`: q is (nq, count), each
        coordinate on its own. The result has the shape (count, nv) either way.
        """
        run = self.program("inverse_dynamics", threads).inverse_dynamics
        order = "C" if layout == "natural" else "F"
        q, qd, qdd = (np.array(x, order=order) for x in (states.q, states.qd, states.qdd))
        out = np.zeros(qd.shape, order=order)
        return Batch(lambda: run(q, qd, qdd, out=out), out)

    def python_call(self, quantity: str) -> Callable[[Array, Array, Array], object]:
        """Return what a user calls from Python with one state: q, qd, qdd or tau."""
        run = self.program(quantity).function(quantity)
        match len(ARGUMENTS[quantity]):
            case 1:
                return lambda q, _qd, _third: run(q)
            case 2:
                return lambda q, qd, _third: run(q, qd)
            case _:
                return run

    def start_script(self, *, stored: bool) -> str:
        """Return a Python program whose end is the first result of inverse dynamics."""
        mechanism = self.case.mechanism
        first = FIRST.format(nq=mechanism.nq, nv=mechanism.nv)
        if not stored:
            base = ', base="floating"' if self.case.robot.base == "floating" else ""
            return COLD.format(path=str(self.case.path), base=base) + first
        script = STORED.format(store=str(_stored(self.case))) + first
        exec(compile(script, "first", "exec"), {})  # noqa: S102, so that machine code is kept
        return script

    def load_script(self) -> str:
        """Return a program that prints the seconds from `load` to the first result.

        Everything is imported and the store is open before.
        """
        mechanism = self.case.mechanism
        first = FIRST.format(nq=mechanism.nq, nv=mechanism.nv)
        return LOADED.format(store=str(_stored(self.case))) + first + TIME


@cache
def _stored(case: Case) -> Path:
    """Return a store that holds the model."""
    file = Path(tempfile.mkdtemp(prefix="chainform-speed-")) / "models.db"
    with cf.open_store(str(file)) as store:
        model = cf.derive(case.mechanism, ["inverse_dynamics"], without=("friction",))
        store.save(model.reduce(), "robot")
    return file


@cache
def ours_of(case: Case) -> Ours:
    """Return our side of a robot, prepared once."""
    return Ours(case)
