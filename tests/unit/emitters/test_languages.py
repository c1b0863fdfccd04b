"""Languages: what is exported is built and run there, and compared with `evaluate`.

Each folder has a test of its own, with results of `evaluate`; it is run by the tool of the
language. `TOOLS` has a line for each tool, `MODELS` the models that all languages get.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import chainform as cf
from chainform.emitters import LANGUAGES

EXAMPLES = Path(__file__).parents[3] / "examples"
GOLDEN = Path(__file__).parents[2] / "golden" / "languages.tsv"

# --- models ---------------------------------------------------------------------------------------


@cache
def arm() -> cf.Model:
    """Return a six-axis arm with derivatives and free masses."""
    outputs = ["tau", "H", "qdd", "d(tau)/d(q)"]
    return cf.derive(EXAMPLES / "six_axis_arm.toml", outputs, parameters=["m_*"])


@cache
def biped() -> cf.Model:
    """Return a tree whose functions are long enough to be cut."""
    return cf.derive(EXAMPLES / "biped.toml", ["C"])


@cache
def elements() -> cf.Model:
    """Return a model of elements."""
    return cf.derive(EXAMPLES / "stanford_elements.toml", ["tau"])


@cache
def floating() -> cf.Model:
    """Return an arm on a floating base, with a wrench on its last segment."""
    mechanism = cf.read(EXAMPLES / "pick_arm.urdf", base="floating")
    frame = mechanism.segments[-1].name
    return cf.derive(mechanism, ["tau", f"J({frame})"], wrenches=[frame])


@cache
def every_operation() -> cf.Model:
    """Return expressions with every function, sign, power and size of number, and awkward names."""
    return cf.read_expressions(
        {
            "calls": "[sin(x), cos(x), tan(x), asin(x/4), acos(x/4), atan(x), sqrt(x^2), exp(x)]",
            "more": "[log(2 + x^2), abs(x), sign(x), sign(y - x), step(y), min(x, y), max(x, y)]",
            "angles": "[sin(2*sin(x) + cos(y*cos(t))), sin(3e5*x), cos(1e22*y)]",
            "powers": "[x^7 - 2*x^2*y + y^3/7, 1e300*x*1e-300, 1e-320*x, -x, x, 1/(3 + x)]",
            "numbers": "[5, -1/3, 0]",
            "double": "x*lambda + Double*float",
            "end": "sqrt(sin(q1 + q2)^2) + q2*qd1",
        }
    )


MODELS: Mapping[str, Callable[[], cf.Model]] = {
    "arm": arm,
    "every_operation": every_operation,
    "floating": floating,
    "biped": biped,
    "elements": elements,
}

# --- tools ----------------------------------------------------------------------------------------

STRICT = "-Wall -Wextra -Wconversion -Werror -pedantic"
PYTHON = ["make", "test", f"PYTHON={sys.executable}"]
WITH_STAND_IN = ["env", f"PYTHONPATH={Path(__file__).parents[2] / 'stand_in'}", *PYTHON]
"""With a small torch of our own, on NumPy, instead of PyTorch."""


@dataclass(frozen=True)
class Tool:
    """How the folder of a language is tested: the command, and the options of the export."""

    language: str
    command: Sequence[str] = ("make", "test")
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    models: Sequence[str] = tuple(MODELS)


TOOLS: Mapping[str, Tool] = {
    "gcc": Tool("c", ["make", "test", "CC=gcc", f"CFLAGS=-std=c99 -O1 {STRICT}"]),
    "clang": Tool("c", ["make", "test", "CC=clang", f"CFLAGS=-std=c99 -O1 {STRICT}"]),
    "gcc, sanitised": Tool(
        "c",
        ["make", "test", "CC=gcc", "CFLAGS=-std=c99 -O1 -fsanitize=address,undefined"],
        models=("arm", "every_operation", "biped"),
    ),
    "gcc, single precision": Tool(
        "c",
        ["make", "test", "CC=gcc", f"CFLAGS=-std=c99 -O1 {STRICT}"],
        {"precision": "float32"},
        ("arm", "floating", "elements"),
    ),
    "gcc, sine of the library": Tool(
        "c",
        ["make", "test", "CC=gcc", f"CFLAGS=-std=c99 -O1 {STRICT}"],
        {"sine": "libm"},
        ("arm", "every_operation"),
    ),
    "numpy": Tool("numpy", PYTHON),
    "casadi": Tool("casadi", PYTHON),
    "sympy": Tool("sympy", PYTHON),
    "jax": Tool("jax", PYTHON),
    "jax, single precision": Tool("jax", PYTHON, {"precision": "float32"}, ("elements",)),
    "torch, a stand-in": Tool("torch", WITH_STAND_IN),
    "torch, a stand-in, single precision": Tool(
        "torch", WITH_STAND_IN, {"precision": "float32"}, ("arm",)
    ),
    "numpy, single precision": Tool(
        "numpy", PYTHON, {"precision": "float32"}, ("arm", "floating", "elements")
    ),
}
CASES = [(tool, model) for tool, given in TOOLS.items() for model in given.models]


def run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder."""
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.any_processor
@pytest.mark.parametrize(("tool", "model"), CASES)
def test_a_folder_tests_itself(tool: str, model: str, tmp_path: Path) -> None:
    chosen, folder = TOOLS[tool], tmp_path / "exported"
    assert MODELS[model]().export(chosen.language, folder, **chosen.options) == folder
    done = run(chosen.command, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    (line,) = re.findall(r"^(\d+) passed, 0 failed$", done.stdout, re.MULTILINE)
    assert int(line) >= len(MODELS[model]().outputs)


def test_every_language_has_a_tool() -> None:
    assert {tool.language for tool in TOOLS.values()} == set(LANGUAGES)


# --- text -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Text:
    """Where inverse dynamics stands in a source, and what the right sides of statements are."""

    head: str
    end: str
    formula: str
    left_out: str = r"\0"


OF_ARRAYS = Text("inverse_dynamics(q", "return", r"(?m)^    \w+ = (.*)$", r"\n(?= {8})|tau = .*")
TEXTS: Mapping[str, Text] = {
    "c": Text("inverse_dynamics(const", "\n}", r"double \w+ =\s([^;{]*);|\w+ [+]=\s([^;]*);"),
    "numpy": OF_ARRAYS,
    "jax": OF_ARRAYS,
    "torch": OF_ARRAYS,
    "casadi": replace(OF_ARRAYS, head="def inverse_dynamics()"),
    "sympy": replace(OF_ARRAYS, head="inverse_dynamics_steps()", formula=r'steps\("\w+", (.*)\)'),
}


def operations(formulas: str) -> tuple[int, int]:
    """Return multiplications and additions; 2*x is an addition, a sign alone is nothing."""
    plain = re.sub(r"\[[^\]]*\]", "", formulas)
    number = r"(?<![\w.])\d+\.?\d*(?:e[+-]?\d+)?"
    plain = re.sub(number, lambda m: "two" if float(m[0]) == 2 else "n", plain)
    twice = len(re.findall(r"\btwo\*", plain))
    return plain.count("*") - twice, len(re.findall(r"[\w)]\s+[+-]\s", plain)) + twice


@pytest.mark.parametrize("language", LANGUAGES)
def test_counts_of_the_text_are_those_of_the_model(language: str) -> None:
    """The first function of the source is inverse dynamics of one state."""
    model = cf.derive(EXAMPLES / "six_axis_arm.toml", ["inverse_dynamics"])
    text = model.emit(language)
    form = TEXTS[language]
    body = re.sub(form.left_out, "", text[text.index(form.head) :])
    body = body[: body.index(form.end)]
    formulas = "\n".join("".join(m) for m in re.findall(form.formula, body))
    count = model.count()
    assert operations(formulas) == (
        count.multiplications,
        count.additions + count.angle_sums,
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_text_is_the_same_every_time(language: str) -> None:
    package = ["tau", "H"]
    again = cf.derive(EXAMPLES / "pick_arm.urdf", package).emit(language)
    assert cf.derive(EXAMPLES / "pick_arm.urdf", package).emit(language) == again
