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

import numpy as np
import pytest
import wasmtime

import chainform as cf
from chainform.emitters import LANGUAGES, Case, package_of, parameters_of
from chainform.files import write_folder
from chainform.runtime import BINARIES, PLATFORMS

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
    "arm": arm,
    "every_operation": every_operation,
    "floating": floating,
    "biped": biped,
    "elements": elements,
    "long_formulas": long_formulas,
    "names": names,
}

# --- tools ----------------------------------------------------------------------------------------

SINGLE = {"precision": "float32"}
BINARY_MODELS = ("arm", "biped", "floating", "elements")
"""Models without functions of a C library."""
EIGEN = "EIGEN=-isystem /usr/include/eigen3"
STRICT = "-Wall -Wextra -Wconversion -Werror -pedantic"
FORTRAN = "FFLAGS=-std=f2008 -O1 -Wall -Wextra -Werror -pedantic -fcheck=all"
RUST = "RUSTFLAGS=-C opt-level=1 -C debug-assertions=on -D warnings"
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
        SINGLE,
        ("arm", "floating", "elements"),
    ),
    "gcc, sine of the library": Tool(
        "c",
        ["make", "test", "CC=gcc", f"CFLAGS=-std=c99 -O1 {STRICT}"],
        {"sine": "libm"},
        ("arm", "every_operation"),
    ),
    "g++": Tool("cpp", ["make", "test", "CXX=g++", f"CXXFLAGS=-std=c++17 -O0 {STRICT}", EIGEN]),
    "clang++": Tool(
        "cpp",
        ["make", "test", "CXX=clang++", f"CXXFLAGS=-std=c++17 -O0 {STRICT}", EIGEN],
        models=("arm", "every_operation"),
    ),
    "CUDA on the host": Tool(
        "cuda", ["make", "test-host", "CXX=g++", f"CXXFLAGS=-std=c++17 -O0 {STRICT}"]
    ),
    "object": Tool("object", models=BINARY_MODELS),
    "shared library": Tool("shared", models=("arm",)),
    "WebAssembly in Node": Tool("wasm", models=("arm", "biped")),
    "WebAssembly in Node, single precision": Tool("wasm", options=SINGLE, models=("floating",)),
    "gfortran": Tool("fortran", ["make", "test", FORTRAN]),
    "gfortran, single precision": Tool(
        "fortran",
        ["make", "test", FORTRAN],
        {"precision": "float32"},
        ("arm", "floating", "elements"),
    ),
    "node": Tool("javascript"),
    "octave": Tool("matlab"),
    "octave, single precision": Tool(
        "matlab", options={"precision": "float32"}, models=("arm", "floating", "elements")
    ),
    "rustc": Tool("rust", ["make", "test", RUST]),
    "rustc, single precision": Tool(
        "rust", ["make", "test", RUST], {"precision": "float32"}, ("arm", "floating", "elements")
    ),
    "rustc, sine of the library": Tool(
        "rust", ["make", "test", RUST], {"sine": "libm"}, ("arm", "every_operation")
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


@pytest.mark.gpu
@pytest.mark.parametrize("model", MODELS)
def test_kernels_on_a_gpu(model: str, tmp_path: Path) -> None:
    MODELS[model]().export("cuda", tmp_path / "exported")
    done = run(["make", "test"], tmp_path / "exported")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\d+ passed, 0 failed$", done.stdout, re.MULTILINE)


FEWEST = [
    *("gcc", "g++", "CUDA on the host", "object", "WebAssembly in Node", "gfortran", "node"),
    *("octave", "rustc", "numpy", "casadi", "jax", "torch, a stand-in"),
]
"""Tools that run each kind of test that folders have."""


@pytest.mark.slow
@pytest.mark.any_processor
@pytest.mark.parametrize("tool", FEWEST)
def test_a_folder_finds_what_is_wrong(tool: str, tmp_path: Path) -> None:
    """The first entry is not a number, the others are right, and no result passes for another."""
    chosen, graph = TOOLS[tool], cf.read_expressions({"y": "[sqrt(x), x, 2*x]"}).graph
    case = Case({"parameter": [-1.0]}, {"y": [1.0, -1.0, -2.0]})
    package = replace(package_of(graph, ["y"], "wrong"), cases=(case,))
    of_binary = BINARIES.get(chosen.language)
    files = of_binary(package, "native") if of_binary else LANGUAGES[chosen.language](package)
    done = run(chosen.command, write_folder(tmp_path / "wrong", files))
    assert done.returncode != 0
    assert re.search(r"^0 passed, [1-9]\d* failed$", done.stdout, re.MULTILINE), done


def test_every_language_has_a_tool() -> None:
    assert {tool.language for tool in TOOLS.values()} == {*LANGUAGES, *BINARIES}


# --- machine code ---------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("target", [name for name in PLATFORMS if name != "wasm"])
def test_objects_need_no_library(target: str, precision: str, tmp_path: Path) -> None:
    model, folder = arm(), tmp_path / "exported"
    model.export("object", folder, ["tau"], target=target, precision=precision)
    found = run(["llvm-nm", "six_axis_arm.o"], folder)
    assert found.returncode == 0, found.stderr
    kinds = {line.split()[-1]: line.split()[-2] for line in found.stdout.splitlines()}
    assert kinds["six_axis_arm_inverse_dynamics"] == "T"
    assert "U" not in kinds.values()


def test_machine_code_that_needs_a_library_is_refused(tmp_path: Path) -> None:
    model = cf.read_expressions({"a": "asin(x) + exp(y)"})
    for language in BINARIES:
        with pytest.raises(cf.Error, match="would need asin, exp of a C library"):
            model.export(language, tmp_path / "a")
    assert not list(tmp_path.iterdir())


def test_a_missing_linker_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chainform.runtime.binaries.find_spec", lambda _: None)
    with pytest.raises(cf.Error, match="a linker is needed") as caught:
        arm().export("wasm", tmp_path / "a", ["H"])
    assert "chainform[link]" in (caught.value.remedy or "")


def test_targets_are_those_of_objects(tmp_path: Path) -> None:
    with pytest.raises(cf.Error, match="c has no target"):
        arm().export("c", tmp_path / "a", ["H"], target="arm")
    with pytest.raises(cf.Error, match="no target 'z80'"):
        arm().export("object", tmp_path / "a", ["H"], target="z80")


def called_in_wasmtime(module: Path, function: str, given: Any, count: int) -> Any:
    """Return so many results of a function of one array, or of arrays of the same length."""
    engine = wasmtime.Engine()
    loaded = wasmtime.Module.from_file(engine, str(module))
    assert not loaded.imports
    store = wasmtime.Store(engine)
    exports: Any = wasmtime.Instance(store, loaded, []).exports(store)
    base, (arrays, length) = exports["__heap_base"].value(store), given.shape
    exports["memory"].write(store, given.tobytes(), base)
    places = [base + 8 * length * k for k in range(arrays + 1)]
    exports[function](store, *places)
    return np.frombuffer(exports["memory"].read(store, places[-1], places[-1] + 8 * count))


def test_the_module_runs_in_wasmtime(tmp_path: Path) -> None:
    """It imports nothing, and computes what `evaluate` does."""
    model = cf.derive(EXAMPLES / "pick_arm.urdf", ["tau"])
    model.export("wasm", tmp_path / "a", name="arm")
    nv = model.mechanism.nv
    given = np.linspace(-1, 1, 3 * nv).reshape(3, nv)
    found = called_in_wasmtime(tmp_path / "a" / "arm.wasm", "arm_inverse_dynamics", given, nv)
    q, qd, qdd = given
    (expected,) = model.evaluate(q, qd, qdd).values()
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_far_angles_in_the_module(tmp_path: Path) -> None:
    """Their products have 128 bits, which WebAssembly has not."""
    names = [f"x{k}" for k in range(40)]
    model = cf.read_expressions({"s": f"[{', '.join(f'sin({name})' for name in names)}]"})
    model.export("wasm", tmp_path / "a", name="far")
    random = np.random.default_rng(5)
    angles = random.choice([-1, 1], 40) * 2.0 ** random.uniform(17, 1020, 40)
    angles[0] = 6381956970095103 * 2.0**797  # the double that is nearest to a multiple of pi/2
    order = [names.index(model.graph.inputs[v].name) for v in parameters_of(model.graph)]
    found = called_in_wasmtime(tmp_path / "a" / "far.wasm", "far_s", angles[None, order], 40)
    np.testing.assert_allclose(found, np.sin(angles), rtol=4e-16)


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
        arm().export("cpp", tmp_path / "a", ["H"], name="namespace")
    assert not list(tmp_path.iterdir())
    model.export("c", tmp_path / "c")
    assert "void expressions_double(" in (tmp_path / "c" / "expressions.h").read_text("utf-8")


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
