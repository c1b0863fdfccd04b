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
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import chainform as cf
from chainform.emitters import LANGUAGES, Case, package_of
from chainform.files import write_folder
from chainform.model.export import function_name
from chainform.runtime import BINARIES
from robots import example_robot

EXAMPLES = Path(__file__).parents[3] / "examples"
GOLDEN = Path(__file__).parents[2] / "golden" / "languages.tsv"

# --- models ---------------------------------------------------------------------------------------


@cache
def ur5() -> cf.Model:
    """Return a robot with derivatives, a result with three indices, and free masses."""
    outputs = ["tau", "H", "C", "qdd", "d(tau)/d(q)"]
    return cf.derive(example_robot("ur5_robot.urdf"), outputs, parameters=["m_*"])


@cache
def talos() -> cf.Model:
    """Return a humanoid on a floating base, whose functions are long enough to be cut."""
    mechanism = cf.read(example_robot("talos_reduced.urdf"), base="floating")
    return cf.derive(mechanism, ["tau"])


@cache
def biped() -> cf.Model:
    """Return a tree with joints at the same place."""
    return cf.derive(EXAMPLES / "biped.toml", ["tau", "H"])


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
            "directions": "[atan2(y, x), atan2(-y, x), atan2(y, -x)]",
            "angles": "[sin(2*sin(x) + cos(y*cos(t))), sin(3e5*x), cos(1e22*y)]",
            "powers": "[x^7 - 2*x^2*y + y^3/7, 1e300*x*1e-300, 1e-320*x, -x, x, 1/(3 + x)]",
            "numbers": "[5, -1/3, 0]",
            "sum": "x*lambda + Double*float",
            "last": "sqrt(sin(q1 + q2)^2) + q2*qd1",
        }
    )


@cache
def long_formulas() -> cf.Model:
    """Return a sum of many terms, and a product of many factors; all have long names."""
    factors = [f"a_name_that_is_rather_long_{k}" for k in range(230)]
    terms = [f"{k + 1}/8*{name}*x" for k, name in enumerate(factors)]
    outputs = [f"{word}_of_everything{'_there_is' * 9}" for word in ("sum", "product")]
    return cf.read_expressions({outputs[0]: " - ".join(terms), outputs[1]: "*".join(factors)})


@cache
def names() -> cf.Model:
    """Return expressions with names that the texts and programs of languages have themselves."""
    return cf.read_expressions(
        {
            "Q": "q1*H1 + h1",
            "more_": "None + Some*far + sines + turned + library",
            "H": "[x, H_part1, sqrt(tan1)*real_sqrt, qd1]",
            "h": "zeros*single + ans + nan",
            "mass": "mass_part2*sine + cosine + angle",
            "all": "Math + result + Float64Array + arguments + let",
            "all_outputs": "end*found1 + given",
            "mass_part1": "DIGITS + H_ROW_STARTS + sin(wp) + cos(sign_of)*work",
            "parameters": "x + 1",
            "test1": "compare + cases + passed + q1",
        }
    )


MODELS: Mapping[str, Callable[[], cf.Model]] = {
    "ur5": ur5,
    "every_operation": every_operation,
    "floating": floating,
    "biped": biped,
    "talos": talos,
    "elements": elements,
    "long_formulas": long_formulas,
    "names": names,
}

# --- tools ----------------------------------------------------------------------------------------

SINGLE = {"precision": "float32"}
FEW = ("ur5", "floating", "elements")
"""Models for other kinds of numbers."""
BINARY_MODELS = ("ur5", "biped", "talos", "floating", "elements")
"""Models without functions of a C library."""
EIGEN = "EIGEN=-isystem /usr/include/eigen3"
STRICT = "-O0 -Wall -Wextra -Wconversion -Werror -pedantic"
GCC = ("make", "test", "CC=gcc", f"CFLAGS=-std=c99 {STRICT}")
CLANG = ("make", "test", "CC=clang", f"CFLAGS=-std=c99 {STRICT}")
SANITISED = ("make", "test", "CC=gcc", "CFLAGS=-std=c99 -O0 -fsanitize=address,undefined")
GXX = ("make", "test", "CXX=g++", f"CXXFLAGS=-std=c++17 {STRICT}")
CLANGXX = ("make", "test", "CXX=clang++", f"CXXFLAGS=-std=c++17 {STRICT}")
CUDA = ("make", "test-host", "CXX=g++", f"CXXFLAGS=-std=c++17 {STRICT}")
FORTRAN = ("make", "test", "FFLAGS=-std=f2008 -O0 -Wall -Wextra -Werror -pedantic -fcheck=all")
RUST = ("make", "test", "RUSTFLAGS=-C opt-level=0 -C debug-assertions=on -D warnings")
PYTHON = ("make", "test", f"PYTHON={sys.executable}")
JAX = ("env", "XLA_FLAGS=--xla_backend_optimization_level=0", *PYTHON)
STAND_IN = ("env", f"PYTHONPATH={Path(__file__).parents[2] / 'stand_in'}", *PYTHON)
WITH_TORCH = STAND_IN if find_spec("torch") is None else PYTHON
"""With a small torch of our own, on NumPy, where PyTorch is not installed."""


@dataclass(frozen=True)
class Tool:
    """How the folder of a language is tested: the command, and the options of the export."""

    language: str
    command: Sequence[str] = ("make", "test")
    models: Sequence[str] = tuple(MODELS)
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


TOOLS: Mapping[str, Tool] = {
    "gcc": Tool("c", GCC),
    "clang": Tool("c", CLANG),
    "gcc, sanitised": Tool("c", SANITISED, ("ur5", "every_operation", "talos")),
    "gcc, single precision": Tool("c", GCC, FEW, SINGLE),
    "gcc, sine of the library": Tool("c", GCC, ("ur5", "every_operation"), {"sine": "libm"}),
    "g++": Tool("cpp", (*GXX, "EIGEN=")),
    "g++ with Eigen": Tool("cpp", (*GXX, EIGEN), ("ur5", "floating", "names")),
    "clang++": Tool("cpp", (*CLANGXX, "EIGEN="), ("ur5", "every_operation")),
    "CUDA on the host": Tool("cuda", CUDA),
    "object": Tool("object", models=BINARY_MODELS),
    "shared library": Tool("shared", models=("ur5",)),
    "WebAssembly in Node": Tool("wasm", models=BINARY_MODELS),
    "WebAssembly in Node, single precision": Tool("wasm", models=["floating"], options=SINGLE),
    "gfortran": Tool("fortran", FORTRAN),
    "gfortran, single precision": Tool("fortran", FORTRAN, FEW, SINGLE),
    "node": Tool("javascript"),
    "octave": Tool("matlab"),
    "octave, single precision": Tool("matlab", models=FEW, options=SINGLE),
    "rustc": Tool("rust", RUST),
    "rustc, single precision": Tool("rust", RUST, FEW, SINGLE),
    "rustc, sine of the library": Tool("rust", RUST, ("ur5", "every_operation"), {"sine": "libm"}),
}
"""Tools that get folder by folder."""
IN_PYTHON: Mapping[str, Tool] = {
    "numpy": Tool("numpy", PYTHON),
    "numpy, single precision": Tool("numpy", PYTHON, FEW, SINGLE),
    "casadi": Tool("casadi", PYTHON),
    "sympy": Tool("sympy", PYTHON),
    # XLA compiles Talos for five seconds; benchmarks/languages.py has it.
    "jax": Tool("jax", JAX, [model for model in MODELS if model != "talos"]),
    "jax, single precision": Tool("jax", JAX, ["elements"], SINGLE),
    "torch": Tool("torch", WITH_TORCH),
    "torch, single precision": Tool("torch", WITH_TORCH, ["ur5"], SINGLE),
}
"""Tools that get all their folders in one process, for libraries take long to start."""
ALL_TOOLS = {**TOOLS, **IN_PYTHON}
MAKEFILE = """
.PHONY: test
test: ; $(PYTHON) every.py
"""
EVERY = """
import runpy, sys
codes = []
for folder in {folders}:
    sys.path[0] = folder
    try:
        runpy.run_path(folder + "/test.py")
    except SystemExit as end:
        codes.append(end.code)
raise SystemExit(any(codes))
"""
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
    check_counts(run(chosen.command, folder), [model])


@pytest.mark.slow
@pytest.mark.any_processor
@pytest.mark.parametrize("tool", IN_PYTHON)
def test_folders_test_themselves_in_python(tool: str, tmp_path: Path) -> None:
    chosen, folders = IN_PYTHON[tool], list[str]()
    for model in chosen.models:
        folder = tmp_path / model
        MODELS[model]().export(chosen.language, folder, name=f"{model}_model", **chosen.options)
        folders.append(str(folder))
    (tmp_path / "every.py").write_text(EVERY.format(folders=folders))
    (tmp_path / "Makefile").write_text(MAKEFILE)
    check_counts(run(chosen.command, tmp_path), chosen.models)


def check_counts(done: subprocess.CompletedProcess[str], models: Sequence[str]) -> None:
    """Check that every output of the models was compared, and none was wrong."""
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"^(\d+) passed, 0 failed$", done.stdout, re.MULTILINE)
    assert len(found) == len(models), done.stdout
    for count, model in zip(found, models, strict=True):
        assert int(count) >= len(MODELS[model]().outputs)


@pytest.mark.gpu
@pytest.mark.parametrize("model", MODELS)
def test_kernels_on_a_gpu(model: str, tmp_path: Path) -> None:
    MODELS[model]().export("cuda", tmp_path / "exported")
    done = run(["make", "test"], tmp_path / "exported")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\d+ passed, 0 failed$", done.stdout, re.MULTILINE)


FEWEST = [
    *("gcc", "g++", "CUDA on the host", "object", "WebAssembly in Node", "gfortran", "node"),
    *("octave", "rustc", "numpy", "casadi", "jax", "torch"),
]
"""Tools that run each kind of test that folders have."""


@pytest.mark.slow
@pytest.mark.any_processor
@pytest.mark.parametrize("tool", FEWEST)
def test_a_folder_finds_what_is_wrong(tool: str, tmp_path: Path) -> None:
    """The first entry is not a number, the others are right, and no result passes for another."""
    chosen, graph = ALL_TOOLS[tool], cf.read_expressions({"y": "[sqrt(x), x, 2*x]"}).graph
    case = Case({"parameter": [-1.0]}, {"y": [1.0, -1.0, -2.0]})
    package = replace(package_of(graph, ["y"], "wrong"), cases=(case,))
    of_binary = BINARIES.get(chosen.language)
    files = of_binary(package, "native") if of_binary else LANGUAGES[chosen.language](package)
    done = run(chosen.command, write_folder(tmp_path / "wrong", files))
    assert done.returncode != 0
    assert re.search(r"^0 passed, [1-9]\d* failed$", done.stdout, re.MULTILINE), done


def test_every_language_has_a_tool() -> None:
    assert {tool.language for tool in ALL_TOOLS.values()} == {*LANGUAGES, *BINARIES}


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
    "cpp": Text("inverse_dynamics(const", "\n}", r"Scalar \w+ =\s([^;{]*);|\w+ [+]=\s([^;]*);"),
    "cuda": Text("inverse_dynamics(const", "\n}", r"double \w+ =\s([^;{]*);|\w+ [+]=\s([^;]*);"),
    "fortran": Text("inverse_dynamics(q", "end subroutine", r"(?m)^ +\w+ = (.*)$", r"_wp|&\n *"),
    "javascript": Text("inverseDynamics(q", "\n}", r"const \w+ =\s([^;]*);", r"Math\."),
    "matlab": Text("inverse_dynamics(q", "\nend", r"(?m)^ +\w+ = (.*);$", r"\.\.\.\n *"),
    "rust": Text("inverse_dynamics(q", "\n}", r"let \w+ =\s([^;]*);"),
    "numpy": OF_ARRAYS,
    "jax": OF_ARRAYS,
    "torch": OF_ARRAYS,
    "casadi": replace(OF_ARRAYS, head="def inverse_dynamics()"),
    "sympy": replace(OF_ARRAYS, head="inverse_dynamics_steps()", formula=r'steps\("\w+", (.*)\)'),
}


def operations(formulas: str) -> tuple[int, int]:
    """Return multiplications and additions; 2*x is an addition, a sign alone is nothing."""
    plain = re.sub(r"\[[^\]]*\]", "", formulas)
    plain = re.sub(r"Scalar\(([^()]*)\)", r"\1", plain)
    number = r"(?<![\w.])\d+\.?\d*(?:e[+-]?\d+)?"
    plain = re.sub(number, lambda m: "two" if float(m[0]) == 2 else "n", plain)
    twice = len(re.findall(r"\btwo\*", plain))
    return plain.count("*") - twice, len(re.findall(r"[\w)]\s+[+-]\s", plain)) + twice


@pytest.mark.parametrize("language", LANGUAGES)
def test_counts_of_the_text_are_those_of_the_model(language: str, update_golden: bool) -> None:
    """The first function of the source is inverse dynamics of one state."""
    model = cf.derive(EXAMPLES / "six_axis_arm.toml", ["inverse_dynamics"])
    text = model.emit(language)
    form = TEXTS[language]
    body = re.sub(form.left_out, "", text[text.index(form.head) :])
    body = body[: body.index(form.end)]
    formulas = "\n".join("".join(m) for m in re.findall(form.formula, body))
    count = model.count()
    found = operations(formulas)
    assert found == (count.multiplications, count.additions + count.angle_sums)
    rows = dict(line.split("\t", 1) for line in GOLDEN.read_text("utf-8").splitlines()[1:])
    row = "\t".join(map(str, (*found, text.count("\n"))))
    if update_golden:
        lines = [f"{name}\t{each}\n" for name, each in sorted({**rows, language: row}.items())]
        head = "language\tmultiplications\tadditions\tlines\n"
        GOLDEN.write_text(head + "".join(lines), encoding="utf-8")
    else:
        assert rows[language] == row


def test_names_that_are_keywords_are_refused(tmp_path: Path) -> None:
    model = cf.read_expressions({"double": "2*x"})
    with pytest.raises(cf.Error, match="double is a word of C") as caught:
        model.export("cpp", tmp_path / "a")
    assert "rename" in (caught.value.remedy or "")
    with pytest.raises(cf.Error, match="'namespace' cannot be a name in C"):
        elements().export("cpp", tmp_path / "a", name="namespace")
    assert not list(tmp_path.iterdir())
    model.export("c", tmp_path / "c")
    assert "void expressions_double(" in (tmp_path / "c" / "expressions.h").read_text("utf-8")


@pytest.mark.parametrize("name", ["sine", "count", "angle", "q_lanes", "turned"])
def test_outputs_named_like_helpers_of_c_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(cf.Error, match=f"{name} is a name that the text of C has") as caught:
        cf.read_expressions({name: "2*q1"}).export("c", tmp_path / "a")
    assert caught.value.remedy
    model = cf.read_expressions({"Y": "2*q1", "Y_batch": "q1"})
    with pytest.raises(cf.Error, match="Y_batch is a name"):
        model.export("c", tmp_path / "a")


@pytest.mark.parametrize("language", LANGUAGES)
def test_text_is_the_same_every_time(language: str) -> None:
    package = ["tau", "H"]
    again = cf.derive(EXAMPLES / "pick_arm.urdf", package).emit(language)
    assert cf.derive(EXAMPLES / "pick_arm.urdf", package).emit(language) == again


# --- names ----------------------------------------------------------------------------------------


REFUSED: Mapping[str, Sequence[str]] = {
    "c": ["test", "Makefile"],
    "fortran": ["Example", "MODULE", "_3", "n" * 64],
    "javascript": ["class", "test"],
    "matlab": ["end", "n" * 64],
    "rust": ["match", "core"],
}


@pytest.mark.parametrize(
    ("language", "name"), [(k, n) for k, refused in REFUSED.items() for n in refused]
)
def test_a_name_that_the_language_cannot_have_is_refused(
    language: str, name: str, tmp_path: Path
) -> None:
    with pytest.raises(cf.Error, match="name") as caught:
        elements().export(language, tmp_path / "new", name=name)
    assert caught.value.remedy
    assert not (tmp_path / "new").exists()


def test_javascript_has_no_single_precision(tmp_path: Path) -> None:
    with pytest.raises(cf.Error, match="double precision only") as caught:
        elements().export("javascript", tmp_path / "new", precision="float32")
    assert "float64" in str(caught.value.remedy)


@pytest.mark.any_processor
@pytest.mark.parametrize(("language", "source"), [("c", "arm.h"), ("cpp", "arm.hpp")])
def test_entries_have_names(language: str, source: str, tmp_path: Path) -> None:
    """Names are texts of C, in the order of the arguments."""
    text = (EXAMPLES / "pick_arm.urdf").read_text().replace('name="yaw"', "name='the \"first\" ü'")
    (tmp_path / "arm.urdf").write_text(text)
    model = cf.derive(tmp_path / "arm.urdf", ["tau"], parameters=["m_*"])
    folder = model.export(language, tmp_path / "exported", name="arm")
    before = {"c": "arm_", "cpp": "arm::"}[language]
    tables = [(f"{before}{group}_names", 4) for group in ("q", "qd", "parameter")]
    loops = [f"for (k = 0; k < {n}; ++k) puts({table}[k]);" for table, n in tables]
    (folder / "n.c").write_text(
        f'#include "{source}"\n#include <stdio.h>\nint main(void) {{ int k;\n'
        + "\n".join(loops)
        + "\nreturn 0; }\n"
    )
    compiler = {"c": "gcc n.c arm.c", "cpp": "g++ -std=c++17 -x c++ n.c"}[language]
    done = run(["bash", "-c", f"{compiler} -o n && ./n"], folder)
    names = list(model.mechanism.coordinates)
    assert done.stdout.splitlines() == [*names, *names, *(f"m_{k + 1}" for k in range(4))], done


# --- numbers that are none ------------------------------------------------------------------------


@dataclass(frozen=True)
class Program:
    """A program that prints seven results at an angle that is no number."""

    file: str
    text: str
    command: str


PROGRAMS: Mapping[str, Program] = {
    "c": Program(
        "nan.c",
        '#include "arm.h"\n#include <stdio.h>\nint main(void) {\n'
        "double x = 0.0/0.0, y[7]; int k; arm_signs(&x, y);\n"
        'for (k = 0; k < 7; ++k) printf("%s ", y[k] != y[k] ? "NaN" : "number");\nreturn 0; }\n',
        "gcc nan.c arm.c -lm -o nan && ./nan",
    ),
    "fortran": Program(
        "nan.f90",
        "program main\nuse arm\nuse, intrinsic :: ieee_arithmetic\nreal(wp) :: x(1), y(7)\n"
        "x = ieee_value(x, ieee_quiet_nan)\ncall signs(x, y)\nprint '(7(g0, 1x))', y\n"
        "end program\n",
        "gfortran arm.f90 nan.f90 -o nan && ./nan",
    ),
    "javascript": Program(
        "nan.js",
        "import { signs } from './arm.js';\nconsole.log(signs([NaN]).join(' '));\n",
        "node nan.js",
    ),
    "matlab": Program("nan.m", "", "octave-cli --eval 'fprintf(\"%g \", arm.signs(NaN))'"),
    "rust": Program(
        "nan.rs",
        "fn main() {\nlet mut y = [0.0; 7];\narm::signs(&[f64::NAN], &mut y);\n"
        'for v in y { print!("{} ", v); }\n}\n',
        "make libarm.rlib && rustc --edition 2021 --extern arm=libarm.rlib nan.rs && ./nan",
    ),
}


@pytest.mark.slow
@pytest.mark.any_processor
@pytest.mark.parametrize("language", PROGRAMS)
def test_what_is_no_number_gives_none(language: str, tmp_path: Path) -> None:
    text = "[sign(x), abs(x), min(x, 1), max(1, x), step(x), sqrt(x), sin(x)]"
    program, folder = PROGRAMS[language], tmp_path / "exported"
    cf.read_expressions({"signs": text}).export(language, folder, name="arm")
    (folder / program.file).write_text(program.text)
    done = run(["bash", "-c", program.command], folder)
    assert re.findall("nan|number|[0-9]", done.stdout.splitlines()[-1].lower()) == ["nan"] * 7, done


@pytest.mark.any_processor
def test_matlab_gives_no_complex_numbers(tmp_path: Path) -> None:
    model = cf.read_expressions({"roots": "[sqrt(x), log(x), asin(2*x), acos(2*x)]"})
    folder = model.export("matlab", tmp_path / "exported", name="arm")
    asked = "y = arm.roots(-1); fprintf('%d %d', isreal(y), sum(isnan(y)))"
    assert run(["octave-cli", "--eval", asked], folder).stdout == "1 4"


# --- tables ---------------------------------------------------------------------------------------


@pytest.mark.any_processor
def test_places_of_nonzeros_are_those_of_the_whole_output() -> None:
    """`model.sparsity` of Y, derived with nonzeros(Y), is the oracle."""
    wholes = ["d(tau)/d(q)", "H", "J(gripper)", "derivative(tau,q,q)", "d(V)/d(q)", "d(tau)/d(q2)"]
    nonzeros = [f"nonzeros({each})" for each in wholes]
    model = cf.derive(EXAMPLES / "six_axis_arm.toml", [*nonzeros, *wholes])
    source: dict[str, Any] = {}
    exec(model.emit("numpy", model.outputs[: len(wholes)]), source)  # noqa: S102
    for output in model.outputs[len(wholes) :]:
        expected = model.sparsity(output)
        found = source["PATTERNS"][f"{function_name(output)}_nonzeros"]
        assert [list(each) for each in found] == [
            expected.indptr.tolist(),
            expected.indices.tolist(),
        ]


PLACES: Mapping[str, str] = {
    "c": "arm_inverse_dynamics_by_q_nonzeros_columns[",
    "cpp": "inline constexpr int inverse_dynamics_by_q_nonzeros_columns[",
    "cuda": "inline constexpr int arm_inverse_dynamics_by_q_nonzeros_columns[",
    "object": "static const int arm_inverse_dynamics_by_q_nonzeros_columns[",
    "wasm": 'patterns = {"inverse_dynamics_by_q_nonzeros": {"row_starts": [0, ',
    "fortran": ":: inverse_dynamics_by_q_nonzeros_columns(",
    "rust": "INVERSE_DYNAMICS_BY_Q_NONZEROS_COLUMNS:",
    "javascript": "inverseDynamicsByQNonzerosColumns = [",
    "matlab": "= inverse_dynamics_by_q_nonzeros_entries",
    **dict.fromkeys(
        ("numpy", "jax", "torch", "casadi", "sympy"), '"inverse_dynamics_by_q_nonzeros": ('
    ),
}


@pytest.mark.any_processor
@pytest.mark.parametrize("language", PLACES)
def test_nonzeros_alone_come_with_their_places(language: str, tmp_path: Path) -> None:
    model = cf.derive(EXAMPLES / "six_axis_arm.toml", ["nonzeros(d(tau)/d(q))"])
    folder = model.export(language, tmp_path / "arm", name="arm")
    text = "\n".join(f.read_text("utf-8", "replace") for f in folder.rglob("*.*") if f.is_file())
    assert PLACES[language] in text
    assert "the tables of inverse_dynamics_by_q_nonzeros." in text or language == "wasm"


SIZES = """
#include "arm.h"
int q[ARM_NQ == 8 ? 1 : -1], v[ARM_NV == 8 ? 1 : -1], p[ARM_NPARAMETERS == 1 ? 1 : -1];
"""
CONSTANTS = """
#include "arm.hpp"
static_assert(arm::nq == 8 && arm::nv == 8 && arm::nparameters == 1, "sizes");
static_assert(arm::parameter_values[0] == MASS, "mass");
"""


@pytest.mark.slow
@pytest.mark.any_processor
def test_headers_have_sizes_and_name_joints_that_follow(tmp_path: Path) -> None:
    model = cf.derive(example_robot("panda.urdf"), ["gravity"], parameters=["m_7"])
    mass = float(model.mechanism.segments[6].body.mass)  # type: ignore[arg-type]
    for language, compiler, text in (("c", "gcc", SIZES), ("cpp", "g++", CONSTANTS)):
        folder = model.export(language, tmp_path / language, name="arm")
        (folder / f"sizes.{language}").write_text(text.replace("MASS", repr(mass)))
        done = run([compiler, "-fsyntax-only", f"sizes.{language}"], folder)
        assert done.returncode == 0, done.stderr
        head = next(folder.glob("arm.h*")).read_text("utf-8")
        assert f"[0] m_7 (kg) = {mass!r}, mass of 'panda_link7'" in head
        assert "panda_finger_joint2 follows panda_finger_joint1." in head


@pytest.mark.any_processor
def test_values_of_parameters_are_those_of_the_mechanism() -> None:
    """With them a function of free parameters gives what the model without them does."""
    source: dict[str, Any] = {}
    free = cf.derive(EXAMPLES / "six_axis_arm.toml", ["gravity"], parameters="symbolic")
    exec(free.emit("numpy"), source)  # noqa: S102
    q = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    expected = cf.derive(EXAMPLES / "six_axis_arm.toml", ["gravity"]).evaluate(q)["gravity"]
    assert source["gravity"](q, source["VALUES"]) == pytest.approx(expected)
    assert "arm_parameter_values[" in free.emit("c")
    assert "parameter_values" not in cf.read_expressions({"y": "2*x"}).emit("c")


@pytest.mark.any_processor
def test_javascript_refuses_arrays_of_another_length(tmp_path: Path) -> None:
    folder = elements().export("javascript", tmp_path / "arm", name="arm")
    for call in ("[1]", "[], [], []", "new Float64Array(99), [], []"):
        script = f"import('./arm.js').then((m) => m.inverseDynamics({call}))"
        done = run(["node", "-e", script], folder)
        assert done.returncode != 0
        assert "RangeError: q has" in done.stderr or "RangeError: qd has" in done.stderr
