"""chainform's side of the comparison.

Only this file knows how chainform compiles; the tables ask `Ours` for addresses and callables and
show a dash where it raises NotImplementedError.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from speed_peers.casadi_c import Batch
from speed_peers.cases import Array, Case, States
from speed_peers.measure import Competitor

TITLE = "chainform"


class Ours:
    """The compiled program of one robot, all four quantities, states in chainform's order."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def competitor(self, quantity: str) -> Competitor:
        """Return the C function of one state.

        `Competitor(TITLE, "", address, self.case.own_order, arguments=3, keep=program)`, with the
        address from `program.address(quantity)`, a function (q, qd, qdd or tau, out), matrices by
        rows. With `arguments=1` or `2` it is called as (q, out) or (q, qd, out).
        """
        raise NotImplementedError

    def batch(self, states: States, layout: str, threads: int = 1) -> Batch:
        """Return inverse dynamics of a whole batch.

        Layout `natural`: q is (count, nq), as in `states`. `components`: q is (nq, count), each
        coordinate on its own; prepare such copies here, outside `Batch.run`. `Batch.result` has
        the shape (count, nv) either way (a transposed view will do).
        """
        raise NotImplementedError

    def python_call(self, quantity: str) -> Callable[[Array, Array, Array], object]:
        """Return what a user calls from Python with one state: q, qd, qdd or tau."""
        raise NotImplementedError

    def start_script(self, *, stored: bool) -> str:
        """Return a Python program whose end is the first result of inverse dynamics.

        It begins with the import of chainform and `self.case.path`, or with a store that was
        prepared here. A fresh interpreter runs it, with nothing cached between runs.
        """
        raise NotImplementedError


@cache
def ours_of(case: Case) -> Ours:
    """Return our side of a robot, prepared once."""
    return Ours(case)
