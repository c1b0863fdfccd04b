"""What functions are called: by letters, and in C."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import chainform as cf
from chainform.errors import RunError
from chainform.model.names import output_of
from chainform.runtime import Program
from chainform.runtime.declarations import KEYWORDS, c_name, c_names, letter_of
from unit.runtime.programs import EXAMPLES, arm, graph_of, model, same_bits


def test_letters() -> None:
    program = arm().compile()
    assert program["hG"] is program["gravity"] is program.gravity is program.hG
    assert program["tau"] is program.tau is program.inverse_dynamics
    assert program.function("tau", "gravity") is program.function("inverse_dynamics", "hG")
    assert program.address("tau") == program.address("inverse_dynamics")
    assert program.prototype("hG") == program.prototype("gravity")
    assert program.signature("hG") == program.signature("gravity")
    for name in ("H", "hg", "g", "hG_1", "hG[1]"):
        with pytest.raises(RunError, match="is not an output of the program"):
            _ = program[name]
        assert not hasattr(program, name)


def test_letters_of_frames() -> None:
    arm_with_tool = cf.read(EXAMPLES / "six_axis_arm.toml")
    outputs = ["jacobian(gripper)", "jacobian(gripper,local)", "pose(gripper)", "velocity(gripper)"]
    program = cf.derive(arm_with_tool, outputs).compile()
    for text in ("J(gripper)", "J( gripper )", "jacobian( gripper)", "J(gripper,local)"):
        assert program.signature(text) == program.signature(output_of(text))
    q = [0.1] * 6
    same_bits(program["T(gripper)"](q), program["pose(gripper)"](q))
    with pytest.raises(RunError, match=r"J\(hand\) is not an output"):
        program.signature("J(hand)")


def test_letters_within_outputs_of_outputs() -> None:
    outputs = ["nonzeros(derivative(tau,q,q))", "weights*d(H[1,:])/d(q)", "Dz(T(gripper)[1,4])"]
    outputs += ["d(J(gripper,local))/d(q)*direction", "derivative(qdd,tau)"]
    arm_with_tool = cf.read(EXAMPLES / "six_axis_arm.toml")
    program = cf.derive(arm_with_tool, outputs).compile()
    for text in [*outputs, "product(weights,derivative( H[1,:] , q))", "d(qdd)/d(tau)"]:
        assert program.address(text) == program.address(output_of(text))
    for text in (
        "nonzeros(derivative(H,q,q))",
        "d(tau)/d(q)",
        "Cz(T(gripper)[1,4])",
        "d(",
        "d(tau",
    ):
        with pytest.raises(RunError, match="is not an output of the program"):
            program.address(text)


def test_letters_are_those_of_models() -> None:
    """Whatever a model calls an output, its program does."""
    for name in ("loops", "floating"):
        blocks = model(name).graph.outputs
        letters = {letter_of(block): output for output, block in blocks.items()}
        letters.pop(None, None)
        for letter, output in letters.items():
            assert output_of(letter or "") in (output, letter)
        known = {output_of(letter or "") for letter in letters}
        assert {"mass_matrix", "gravity", "bias", "inverse_dynamics", "kinetic_energy"} <= known


def test_own_names_come_first() -> None:
    lines = ["input q 0 q1", "a = 2*q1", "b = 3*q1", "output b [1]: a_1:a", "output o [1]: b_1:b"]
    program = Program(graph_of(*lines))
    assert program["b"]([1.0]) == [2.0]
    assert program["a"]([1.0]) == [2.0]
    assert program["o"]([1.0]) == [3.0]


# --- in C -----------------------------------------------------------------------------------

NAMES = (
    "o",
    "q",
    "2nd",
    "int",
    "class",
    "größe",
    "λ",
    "a b",
    "a_b",
    "a-b",
    "x(y,z)",
    "-",
    "int64_t",
)


def test_names_in_c() -> None:
    assert [c_name(text) for text in ("gravity", "jacobian(my tool)", "_own")] == [
        *("gravity", "jacobian_my_tool_", "_own")
    ]
    names = c_names(NAMES)
    assert len(set(names)) == len(NAMES)
    for name in names:
        assert re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name, re.ASCII)
        assert name not in KEYWORDS
    assert names[:5] == ["o", "q", "_2nd", "int_", "class_"]
    assert c_name("") == "_"


def declarations() -> list[str]:
    """Return the prototypes of a program whose outputs have awkward names."""
    graph = graph_of("input q 0 q1", "output o []: e:q1")
    block = graph.outputs["o"]
    outputs = {name: replace(block, name=name) for name in NAMES}
    program = Program(replace(graph, outputs=outputs))
    found = [program.prototype(name) for name in NAMES]
    kinds = ("single", "batch", "packed")
    several = [program.prototype(("int", "q", "2nd", "λ"), kind) for kind in kinds]
    return found + [text.replace("_and_", kind) for text, kind in zip(several, kinds, strict=True)]


@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_compilers_take_the_prototypes(compiler: str, tmp_path: Path) -> None:
    found = shutil.which(compiler)
    assert found is not None, "tools/setup.sh installs the compilers"
    suffix = "c" if compiler == "gcc" else "cpp"
    file = tmp_path / f"prototypes.{suffix}"
    file.write_text("#include <stdint.h>\n" + "\n".join(declarations()) + "\n", "utf-8")
    command = [found, "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror", str(file)]
    done: Any = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")
