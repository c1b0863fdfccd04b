"""Programs themselves: their options, and how functions are found."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import RunError
from chainform.runtime import Program, engine, target
from unit.runtime.programs import arm, close, graph_of, plain_target, small

pytestmark = pytest.mark.any_processor


@pytest.fixture(scope="module")
def program() -> Program:
    lines = ["input q 0 q1", "a = q1*q1", "output square []: a", "output bind []: q1"]
    return Program(graph_of(*lines, "output _own []: b:q1"))


# --- finding functions ----------------------------------------------------------------------


def test_functions_by_name(program: Program) -> None:
    assert program.square([3.0]) == program["square"]([3.0]) == 9.0
    assert program.outputs == ("square", "bind", "_own")
    assert {"square", "to_bytes"} <= set(dir(program))
    assert repr(program).startswith("Program(square, bind, _own; float64, ")
    assert [x.item() for x in program.function("bind", "square")([3.0])] == [3.0, 9.0]
    # The names of the program's own come first; an item is always a function.
    assert program["bind"]([3.0]) == 3.0
    assert program["_own"]([3.0]) == 3.0
    assert isinstance(program.bind({}), Program)


def test_functions_that_do_not_exist(program: Program) -> None:
    with pytest.raises(AttributeError, match=r"no function sqare; did you mean 'square'\?"):
        _ = program.sqare
    with pytest.raises(AttributeError, match="it has square, bind"):
        _ = program.xyz
    assert not hasattr(program, "_private")
    for name in ("xyz", "", "c", "q2", 5, None):
        with pytest.raises(RunError, match="is not an output of the program") as e:
            _ = program[name]  # type: ignore[index]
        assert e.value.remedy == "choose from square, bind, _own"
    with pytest.raises(RunError, match="no output was named"):
        program.function()
    for several in (["square"], ("square", "bind"), {"square"}, [["square"]]):
        for task in (program.function, program.__getitem__, program.kernel, program.signature):
            with pytest.raises(RunError, match="is not an output of the program") as e:
                task(several)  # type: ignore[arg-type]
            assert 'program.function("name", "name")' in (e.value.remedy or "")


def test_quantities_are_no_functions() -> None:
    program = Program(graph_of("input q 0 q1", "quantity e []: q1", "output o []: q1"))
    with pytest.raises(RunError, match="e is not an output"):
        program.function("e")


def test_copies_work(program: Program) -> None:
    twin = copy.copy(program)
    assert twin.square([3.0]) == 9.0
    assert twin.parameters == program.parameters


def test_arguments_that_are_taken_in_any_case() -> None:
    """Forces of a gantry do not depend on where it is, yet it has coordinates."""
    builder = cf.Mechanism.builder("gantry")
    builder.segment("x", joint="prismatic", axis="x", mass=1)
    builder.segment("y", parent="x", joint="prismatic", axis="y", mass=2)
    for reduce in ("none", "fast"):
        outputs = ["mass_matrix", "gravity", "inverse_dynamics", "bias"]
        program = cf.derive(builder.build(), outputs, reduce=reduce).compile()
        given = [5.0, 6.0]
        assert program.mass_matrix(given).tolist() == [[3, 0], [0, 2]]
        assert program.mass_matrix([given] * 9)[8].tolist() == [[3, 0], [0, 2]]
        assert program.inverse_dynamics(given, given, given).tolist() == [15, 12]
        assert program.bias(given, given).tolist() == [0, 0]
        assert program.gravity([given] * 3).tolist() == [[0, 0]] * 3
        with pytest.raises(RunError, match="its last dimension must be 2"):
            program.mass_matrix([5.0])


# --- options --------------------------------------------------------------------------------

BAD: dict[str, tuple[Any, ...]] = {
    "precision": ("double", None, 64, float, ["float64"], np.array(["float64"]), np.dtype(int)),
    "lanes": (0, 1, 3, -2, 32, 4.5, "4", True, np.True_, np.array([4]), [4]),
    "threads": (0, -1, 1.5, "2", True, np.True_, np.int64(0), np.array([1, 2]), [2]),
    "lengths": ({"q": 3.5}, {"q": True}, {"q": -1}, {"q": "3"}, {"q": None}, {5: 3}, [3], 3),
}


@pytest.mark.parametrize("option", BAD)
def test_options_that_cannot_be(option: str) -> None:
    def made(**options: Any) -> Program:
        return Program(small(), **options)

    for make in (arm().compile, made) if option != "lengths" else (made,):
        for value in BAD[option]:
            with pytest.raises(RunError) as e:
                make(**{option: value})
            assert str(e.value.element).startswith(option), value
            assert e.value.remedy, value


def test_numbers_of_numpy_as_options() -> None:
    program = Program(
        small(),
        precision=np.dtype("float32"),  # type: ignore[arg-type]
        threads=np.int64(2),  # type: ignore[arg-type]
        lanes=np.uint8(4),  # type: ignore[arg-type]
        lengths={"q": np.int32(5)},  # type: ignore[dict-item]
    )
    assert (program.precision, program.threads, program.lanes) == ("float32", 2, 4)
    kinds = [type(x) for x in (program.precision, program.threads, program.lanes)]
    assert kinds == [str, int, int]
    assert program.lengths == {"q": 5}
    assert Program.from_bytes(program.to_bytes()).lanes == 4


@pytest.mark.parametrize("code_cache", [5, "folder", [], {}, object(), dict[str, bytes]])
def test_code_caches_that_are_none(code_cache: Any) -> None:
    with pytest.raises(RunError, match="a code cache has get") as e:
        Program(small(), code_cache=code_cache)
    assert e.value.element == "code_cache"


def test_options_cannot_be_changed_later() -> None:
    program = arm().compile()
    for mapping in (program.parameters, program.lengths):
        with pytest.raises(TypeError, match="does not support item assignment"):
            mapping["m_1"] = 3  # type: ignore[index]
    with pytest.raises(AttributeError):
        program.parameters = {}  # type: ignore[misc]


def test_lengths_that_are_too_short() -> None:
    with pytest.raises(RunError, match="q has at least 3 entries, not 2") as e:
        Program(small(), lengths={"q": 2}).o([1.0, 2.0])
    assert e.value.element == "q"
    longer = Program(small(), lengths={"q": 5})
    close(longer.o([1, 2, 3, 4, 5]), Program(small()).o([1, 2, 3]))


def test_what_a_program_is_made_for() -> None:
    usual = target.target_for()
    assert Program(small()).lanes == usual.lanes("float64")
    assert Program(small(), precision="float32").lanes == usual.lanes("float32")
    assert Program(small()).target is usual
    assert Program(small(), cpu=plain_target()).target == plain_target()


def test_assembly_can_be_read() -> None:
    kernel = Program(small()).kernel("o")
    text = engine.assembly(kernel._text("single"), kernel.target)
    assert "single:" in text
    assert "python:" in text
