"""The interface to C: addresses of functions, called as their prototypes say."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from chainform.errors import RunError
from chainform.runtime import Program
from unit.runtime.programs import Array, arm, close, given, graph_of, model, state_of

TYPES: dict[str, Any] = {"int": ctypes.c_int, "int64_t": ctypes.c_int64, "double": ctypes.c_double}


def function_of(program: Program, output: str | list[str], kind: str) -> Callable[..., Any]:
    """Return the function at an address, with the types that its prototype declares."""
    text = program.prototype(output, kind)
    match = re.fullmatch(r"(void|int|double) ([A-Za-z_][A-Za-z_0-9]*)\((.*)\);", text)
    assert match is not None
    types: list[Any] = []
    names: set[str] = set()
    for parameter in match[3].split(", "):
        kinds, star, name = re.fullmatch(r"(.*) (\*?)(\w+)", parameter).groups()  # type: ignore[union-attr]
        if star:
            element = {"double": np.float64, "float": np.float32, "int64_t": np.int64}
            pointed = element[kinds.removeprefix("const ")]
            flags: Any = ["ALIGNED"] if kinds.startswith("const ") else ["ALIGNED", "WRITEABLE"]
            types.append(np.ctypeslib.ndpointer(pointed, flags=flags))
        else:
            types.append(TYPES[kinds])
        names.add(name)
    assert len(names) == len(types)
    result = None if match[1] == "void" else TYPES[match[1]]
    return ctypes.CFUNCTYPE(result, *types)(program.address(output, kind))


def with_distances(*arrays: Array) -> list[Any]:
    """Return arrays of states as the functions for batches take them."""
    return [part for array in arrays for part in (array, *array.strides)]


PRECISIONS = [("float64", 1e-12), ("float32", 1e-4)]


@pytest.mark.parametrize(("precision", "tolerance"), PRECISIONS)
@pytest.mark.parametrize("name", ["loops", "wrenches", "floating"])
def test_states(name: str, precision: str, tolerance: float) -> None:
    some = model(name)
    program = some.compile(precision=precision)
    state = state_of(some, 2, 11)
    expected = some.evaluate(**state)["inverse_dynamics"]
    arrays = [x.astype(precision) for x in given(program, ["inverse_dynamics"], state)]
    out = np.zeros(some.mechanism.nv, precision)
    function_of(program, "inverse_dynamics", "single")(*[x[7] for x in arrays], out)
    close(out, expected[7], tolerance)
    entry = function_of(program, "inverse_dynamics", "packed")
    joined = np.concatenate([x[7] for x in arrays])
    found = [entry(len(joined), joined, np.array([k])) for k in range(len(out))]
    assert found == out.tolist()
    rows = np.zeros((11, len(out)), precision)
    batch = function_of(program, "inverse_dynamics", "batch")
    assert batch(11, *with_distances(*arrays, rows)) == 0
    close(rows, expected, tolerance)


def test_layouts_of_batches() -> None:
    """Distances are in bytes, of either sign, or zero for what all states share."""
    some = arm()
    program = some.compile()
    state = state_of(some, 3, 9)
    q, qd, qdd = np.asfortranarray(state["q"]), state["qd"][::-1], state["qdd"][:1]
    values = np.array(list(program.parameters.values()))
    several = np.tile(values, (9, 1))
    several[:, 0] = np.linspace(1, 2, 9)
    batch = function_of(program, "inverse_dynamics", "batch")
    for given_values, values_at in ((values[None], {}), (several, {"m_1": several[:, 0]})):
        out = np.full((9, 4), 7.0)
        shared = (qdd, 0, 8, given_values, given_values.strides[0] * (given_values is several), 8)
        batch(9, *with_distances(q, qd), *shared, *with_distances(out[:, 1:3]))
        expected = some.evaluate(q=q, qd=qd, qdd=qdd, values=values_at)["inverse_dynamics"]
        close(out[:, 1:3], expected)
        assert (out[:, [0, 3]] == 7).all()
    untouched = np.full((9, 2), 7.0)
    batch(0, *with_distances(q, qd, state["qdd"], several, untouched))
    assert (untouched == 7).all()


def test_parameters_come_last() -> None:
    graph = graph_of(
        *("input parameter 9 b", "input q 1 q2", "input parameter 4 a = 3", "input tau 0 t"),
        *("x = a*q2 - b*t", "output o [2]: x b"),
    )
    program = Program(graph, lengths={"q": 2, "qd": 3})
    assert program.prototype("o") == (
        "void o(const double *q, const double *qd, const double *tau, "
        "const double *parameter, double *out);"
    )
    out = np.zeros(2)
    q, qd, tau, values = np.array([0, 2.0]), np.zeros(3), np.array([5.0]), np.array([10.0, 7.0])
    function_of(program, "o", "single")(q, qd, tau, values, out)
    assert out.tolist() == [10 * 2 - 7 * 5, 7]
    packed = function_of(program, "o", "packed")
    joined = np.concatenate([q, qd, tau, values])
    assert packed(8, joined, np.array([0])) == -15
    assert program.o(q, qd, tau, values={"a": 10, "b": 7}).tolist() == out.tolist()


def test_prototypes() -> None:
    program = Program(graph_of("input q 0 q1", "output jacobian(my tool) []: a:q1"))
    name = "jacobian(my tool)"
    assert program.prototype(name) == "void jacobian_my_tool_(const double *q, double *out);"
    assert program.prototype(name, "batch") == (
        "int jacobian_my_tool_(int64_t count, const double *q, int64_t q_state, "
        "int64_t q_entry, double *out, int64_t out_state, int64_t out_entry);"
    )
    single = Program(program.graph, precision="float32")
    assert single.prototype(name, "packed") == (
        "double jacobian_my_tool_(int count, const float *arguments, const int64_t *entry);"
    )
    third = np.array([1 / 3], np.float32)
    assert function_of(single, name, "packed")(1, third, np.array([0])) == third[0]


def test_several_results() -> None:
    """One function, and an array for each result, by the name of its output."""
    some = arm()
    program = some.compile()
    outputs = ["gravity", "inverse_dynamics"]
    text = (
        "const double *q, const double *qd, const double *qdd, const double *parameter, "
        "double *gravity, double *inverse_dynamics"
    )
    assert program.prototype(outputs) == f"void gravity_and_inverse_dynamics({text});"
    assert program.prototype(("hG", "tau")) == program.prototype(outputs)
    state = state_of(some, 4, 9)
    arrays = given(program, outputs, state)
    values = np.array(list(program.parameters.values()))
    expected = some.evaluate(**state)
    outs = [np.zeros(2), np.zeros(2)]
    function_of(program, outputs, "single")(*[x[5] for x in arrays], values, *outs)
    for output, out in zip(outputs, outs, strict=True):
        close(out, expected[output][5])
    rows = [np.zeros((9, 2)), np.zeros((9, 2))]
    batch = function_of(program, outputs, "batch")
    shared = (values, 0, 8)
    assert batch(9, *with_distances(*arrays), *shared, *with_distances(*rows)) == 0
    for output, out in zip(outputs, rows, strict=True):
        close(out, expected[output])
    joined = np.concatenate([*(x[5] for x in arrays), values])
    entry = function_of(program, outputs, "packed")
    found = [entry(len(joined), joined, np.array([k])) for k in range(4)]
    assert found == [*outs[0], *outs[1]]


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_packed_functions_check_what_they_can(precision: str) -> None:
    """A wrong number of arguments, or of an entry, gives no number rather than any number."""
    program = Program(
        graph_of("input q 0 a", "input q 1 b", "output o [2]: b a"), precision=precision
    )
    call = function_of(program, "o", "packed")
    x = np.array([3.0, 4.0, 5.0], precision)
    assert [call(2, x, np.array([k])) for k in (0, 1)] == [4.0, 3.0]
    for count, entry in ((1, 0), (3, 0), (0, 0), (-1, 0), (2, 2), (2, -1), (2, 2**62)):
        assert np.isnan(call(count, x, np.array([entry])))
    kinds = (ctypes.c_double, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    plain = ctypes.CFUNCTYPE(*kinds)(program.address("o", "packed"))
    assert plain(2, x.ctypes.data, None) == 4.0
    assert np.isnan(plain(0, None, None))


def test_batches_say_when_there_is_no_memory(no_memory: None) -> None:
    program = Program(graph_of("input q 0 q1", "output o [1]: q1"))
    q, out = np.ones((9, 1)), np.zeros((9, 1))
    assert function_of(program, "o", "batch")(9, *with_distances(q, out)) == 1
    assert not out.any()


def test_addresses_stay() -> None:
    program = Program(graph_of("input q 0 q1", "output o []: a:q1", "output p [1]: b:q1"))
    places = [program.address(o, k) for o in "op" for k in ("single", "batch", "packed")]
    assert len(set(places)) == 6
    assert places[0] == program.address("o") == program.bind({}).address("o", kind="single")
    assert program.o([4.0]) == 4.0
    assert program.address("o") == places[0]


def test_addresses_that_do_not_exist() -> None:
    program = Program(graph_of("input q 0 q1", "output o []: a:q1"))
    for task in (program.address, program.prototype):
        with pytest.raises(RunError, match="there is no kind 'double'") as e:
            task("o", "double")
        assert e.value.remedy == "choices are single, batch, packed"
    with pytest.raises(RunError, match="x is not an output") as e:
        program.address("x")
    assert e.value.remedy == "choose from o"
