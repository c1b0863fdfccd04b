"""Functions that are sent to other processes, and what they say of themselves."""

from __future__ import annotations

import copy
import inspect
import multiprocessing
import pickle
import pydoc
from functools import partial

import numpy as np
import pytest

from chainform.runtime import Program, kernel
from unit.runtime.programs import arm, close, graph_of, refuse, same_bits, small, sum_of

pytestmark = pytest.mark.any_processor

Q = np.linspace(-1, 1, 33).reshape(11, 3)

LINES = (
    *("input q 0 q1", "input parameter 0 late", "input parameter 1 early = 2"),
    *("a = early*q1", "b = late*a"),
    *(
        "output bind []: a",
        "output jacobian(a.b) [1]: a",
        "output __own []: a",
        "output late_ []: b",
    ),
)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_functions_come_back(protocol: int, monkeypatch: pytest.MonkeyPatch) -> None:
    function = Program(small()).o
    expected = function(Q), function(Q[3])
    data = pickle.dumps(function, protocol)
    monkeypatch.setattr(kernel, "compiled", refuse)
    again = pickle.loads(data)  # noqa: S301
    assert type(again) is type(len)
    same_bits(again(Q), expected[0])
    same_bits(again(Q[3]), expected[1])


@pytest.mark.parametrize("name", ["bind", "jacobian(a.b)", "__own"])
def test_any_name_will_do(name: str) -> None:
    program = Program(graph_of(*LINES)).bind({"early": 5})
    function = program[name]
    again = pickle.loads(pickle.dumps(function))  # noqa: S301
    assert again([2.0]).tolist() == function([2.0]).tolist()
    assert again.__name__ == name
    both = pickle.loads(pickle.dumps(program.function(name, "late_")))  # noqa: S301
    assert both([2.0], values={"late": 3})[1] == 30.0
    late = pickle.loads(pickle.dumps(program.late_))  # noqa: S301
    assert late([2.0], values={"late": 3}) == 30.0


def test_the_same_function_comes_as_one() -> None:
    """Every task may bring it along; it is unpacked and loaded once."""
    function = Program(small()).o
    function(Q)
    data = pickle.dumps(function)
    assert pickle.loads(data) is pickle.loads(data)  # noqa: S301
    assert copy.copy(function) is copy.deepcopy(function) is function


@pytest.mark.parametrize(
    "start", [way for way in multiprocessing.get_all_start_methods() if way != "forkserver"]
)
@pytest.mark.filterwarnings("ignore:.*fork")
def test_pools_of_processes(start: str) -> None:
    """An exception in a worker that unpacks its task would leave the pool waiting."""
    program = Program(small())
    tasks = {"one": program.o, "several": program.function("o", "o")}
    with multiprocessing.get_context(start).Pool(1) as pool:
        found = pool.map_async(tasks["one"], list(Q)).get(100)
        close(np.array(found), program.o(Q), 1e-14)
        for function in tasks.values():
            sums = pool.map_async(partial(sum_of, function), [Q, Q[0]]).get(100)
            assert sums == pytest.approx([sum_of(function, Q), sum_of(function, Q[0])])


# --- signatures -----------------------------------------------------------------------------


def test_signatures() -> None:
    program = arm().compile()
    expected = "(q, qd, qdd, *, out=None, values=None)"
    assert str(inspect.signature(program.inverse_dynamics)) == expected
    both = program.function("gravity", "inverse_dynamics")
    assert str(inspect.signature(both)) == expected
    bound = inspect.signature(program.gravity).bind([0, 0], values={})
    assert bound.arguments == {"q": [0, 0], "values": {}}
    others = Program(graph_of(*LINES))
    for name in others.outputs:
        function = others.bind({"late": 1})[name]
        assert str(inspect.signature(function)) == "(q, *, out=None, values=None)"
        assert function.__name__ == name


HELP = """\
Return gravity, (..., 2), compiled. One state or a batch; leading dimensions broadcast.

    q       (..., 2)
    out     an array for the result, (..., 2)
    values  parameters by name: m_1, com_1_z, I_1_xx, I_1_yy, I_1_zz, d_2_z, m_2, com_2_x, """


def test_help() -> None:
    program = arm().compile()
    assert (program.gravity.__doc__ or "").startswith(HELP)
    shown = pydoc.plain(pydoc.render_doc(program.gravity))
    assert "gravity(q, *, out=None, values=None)" in shown
    assert "q       (..., 2)" in shown
    both = program.function("gravity", "inverse_dynamics")
    assert both.__name__ == "gravity, inverse_dynamics"
    shown = pydoc.plain(pydoc.render_doc(both))
    assert "Return a tuple, compiled: gravity (..., 2), inverse_dynamics (..., 2)." in shown
    assert "no parameters are free" in (Program(small()).o.__doc__ or "")
