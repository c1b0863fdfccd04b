"""Program text of a model against the interpreter of graphs.

Python text is read as a tree and computed here, statement by statement, with arrays for numbers;
nothing is executed. C text is compiled and called where there is a compiler.
"""

from __future__ import annotations

import ast
import ctypes
import re
import shutil
import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np

from chainform.emitters import parameters_of, signature_of
from chainform.errors import Error, RunError
from chainform.model import Model, group_length
from chainform.verification.certificate import Check
from chainform.verification.deviation import Array, check_of, deviations_of
from chainform.verification.state_samples import Sample, sample_of

PYTHON_LAW = "text in Python computes the model"
C_LAW = "text in C computes the model"
SIZE = 60_000
"""Variables of the largest graph whose Python text is read."""
C_SIZE = 6_000
"""Variables of the largest graph whose C text is compiled, which takes seconds."""
SECONDS = 60.0
"""How long a compiler may take."""
UNREADABLE = (Error, SyntaxError, LookupError, ValueError, TypeError, RecursionError)
"""What comes of text that is not what an emitter writes."""
BUILT_IN = ("abs", "float")
"""Functions that text need not import."""
FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "abs": np.abs,
    "float": np.float64,
}
OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
}


def check_text(model: Model, seed: int = 0, states: int = 5) -> Iterator[Check]:
    """Emit all outputs as Python and as C, and compute them at random states."""
    size = len(model.graph)
    if size > SIZE:
        yield Check(PYTHON_LAW, "nothing", f"{size} variables, up to {SIZE} are read", None, 0)
        return
    sample = sample_of(model, states, seed)
    words = "its tree, computed here, and model.evaluate"
    try:
        found = python_values(model.emit("python"), sample)
    except UNREADABLE as problem:
        figure = f"it cannot be computed: {_reason(problem)}"
        yield Check(PYTHON_LAW, words, figure, False, 0)
    else:
        yield check_of(PYTHON_LAW, words, deviations_of(sample, found))
    yield from _check_c(model, sample)


def _reason(problem: BaseException) -> str:
    """Return what is wrong with a text, in a line."""
    words = problem.message if isinstance(problem, Error) else f"{problem}"
    return (words.strip().splitlines() or [""])[0][:200] or type(problem).__name__


# --- Python -----------------------------------------------------------------------------------


def python_values(text: str, sample: Sample) -> dict[str, Array]:
    """Return all outputs (n, ...) that the text of a function computes."""
    main, functions, known = _parts(text)
    reader = TextReader(_arguments(main, sample), functions, known)
    with np.errstate(all="ignore"):
        for statement in main.body:
            match statement:
                case ast.Assign(targets=[ast.Name(name)], value=value):
                    reader.names[name] = reader.value(value)
                case ast.Return(value=ast.Dict(keys=keys, values=values)):
                    pairs = zip(keys, values, strict=True)
                    found = {ast.literal_eval(key): reader.value(v) for key, v in pairs if key}
                    return {str(n): _shaped(sample, str(n), value) for n, value in found.items()}
                case _:
                    raise unknown_text(statement)
    raise RunError("the text returns nothing", element="text")


def _parts(text: str) -> tuple[ast.FunctionDef, dict[str, ast.FunctionDef], set[str]]:
    """Return the function of the model, those it calls, and the names that are imported."""
    functions, known = dict[str, ast.FunctionDef](), {*BUILT_IN}
    for statement in ast.parse(text).body:
        match statement:
            case ast.FunctionDef(name=name):
                functions[name] = statement
            case ast.ImportFrom(module="math", names=names):
                known |= {alias.name for alias in names if alias.asname is None}
            case _:
                raise unknown_text(statement)
    if "model" not in functions:
        raise RunError("there is no function model in the text", element="text")
    return functions.pop("model"), functions, known


def _arguments(main: ast.FunctionDef, sample: Sample) -> dict[str, Any]:
    """Return the arguments by name: entries of groups, then parameters, which may be renamed."""
    graph = sample.model.graph
    used = graph.cone(graph.output_variables(list(graph.outputs)))
    taken = [graph.inputs[v] for v in parameters_of(graph) if used[v]]
    # Those without a value come first.
    parameters = sorted(taken, key=lambda parameter: parameter.default is not None)
    names, groups = [argument.arg for argument in main.args.args], sample.states
    own = [name for name in names if name not in groups]
    values = [float(p.default) for p in parameters if p.default is not None]
    written = [ast.literal_eval(default) for default in main.args.defaults]
    if len(own) != len(parameters) or written != values:
        message = "its parameters, or their values, are not those of the model"
        raise RunError(message, element="text")
    found = {n: groups[n].reshape(len(sample), -1).T for n in names if n in groups}
    return found | {n: sample.values[p.name] for n, p in zip(own, parameters, strict=True)}


def _shaped(sample: Sample, name: str, value: Any) -> Array:
    """Return an output with the states first."""
    block = sample.model.graph.block(name)
    filled = [np.broadcast_to(np.asarray(x, dtype=np.float64), len(sample)) for x in _flat(value)]
    return np.array(filled).reshape(-1, len(sample)).T.reshape(len(sample), *block.shape)


def _flat(value: Any) -> list[Any]:
    entries = cast("list[Any]", value) if isinstance(value, list) else None
    return [value] if entries is None else [x for entry in entries for x in _flat(entry)]


def unknown_text(node: ast.AST) -> RunError:
    """Return the error for text of a kind that no emitted formula has."""
    return RunError(f"a formula cannot be read: {ast.unparse(node)[:60]}", element="text")


@dataclass(frozen=True)
class TextReader:
    """Values of names, and the functions that the text defines for itself."""

    names: dict[str, Any]
    functions: Mapping[str, ast.FunctionDef]
    known: Collection[str]
    """Names of functions that are imported or built in."""

    def value(self, node: ast.expr) -> Any:
        """Return the value of a formula: an array with an entry for each state, or lists of it."""
        match node:
            case ast.Name(name) if name in self.names:
                return self.names[name]
            case ast.Constant(value=int() | float() as number):
                return number
            case ast.BinOp(left, operator, right) if type(operator) in OPERATORS:
                return OPERATORS[type(operator)](self.value(left), self.value(right))
            case ast.UnaryOp(ast.USub(), operand):
                return -self.value(operand)
            case ast.Call(ast.Name(name), [argument], []):
                return self.call(name, self.value(argument), node)
            case ast.Subscript(ast.Name(name), ast.Constant(value=int() as k)):
                return self.names[name][k]
            case ast.List(entries):
                return [self.value(entry) for entry in entries]
            case ast.Compare(left, [ast.Gt()], [right]):
                return np.greater(self.value(left), self.value(right))
            case ast.Compare(left, [ast.Lt()], [right]):
                return np.less(self.value(left), self.value(right))
            case _:
                raise unknown_text(node)

    def call(self, name: str, given: Any, node: ast.expr) -> Any:
        """Return a function of the standard library, or one that the text defines."""
        match self.functions.get(name):
            case ast.FunctionDef(args=ast.arguments(args=[only]), body=[ast.Return(value=body)]):
                inner = TextReader({only.arg: given}, {}, self.known)
                return None if body is None else inner.value(body)
            case None if name in self.known and name in FUNCTIONS:
                return FUNCTIONS[name](given)
            case _:
                raise unknown_text(node)


# --- C ----------------------------------------------------------------------------------------


def _check_c(model: Model, sample: Sample) -> Iterator[Check]:
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        yield Check(C_LAW, "nothing", "there is no C compiler: cc, gcc or clang", None, 0)
        return
    if len(model.graph) > C_SIZE:
        figure = f"{len(model.graph)} variables, up to {C_SIZE} are compiled"
        yield Check(C_LAW, "nothing", figure, None, 0)
        return
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source = model.export("c", Path(folder) / "text", name="verified")
        try:
            library = _library(compiler, source)
        except OSError as problem:
            yield Check(C_LAW, "nothing", f"{compiler} cannot be used: {problem}", None, 0)
            return
        except subprocess.TimeoutExpired:
            figure = f"{compiler} takes longer than {SECONDS:g} s"
            yield Check(C_LAW, "nothing", figure, None, 0)
            return
        except subprocess.CalledProcessError as problem:
            lines = problem.stderr.decode(errors="replace").strip().splitlines()
            figure = f"{compiler} refuses the text: {''.join(lines[:1])[:200]}"
            yield Check(C_LAW, "the text as it is compiled", figure, False, 0)
            return
        header = (source / "verified.h").read_text(encoding="utf-8")
        try:
            found = _c_values(library, header, sample)
        except (LookupError, AttributeError) as problem:
            figure = f"its functions are not those of the model: {_reason(problem)}"
            yield Check(C_LAW, "the text as it is compiled", figure, False, 0)
            return
    words = f"compiled by {Path(compiler).name}, one state at a time, and model.evaluate"
    yield check_of(C_LAW, words, deviations_of(sample, found))


def _library(compiler: str, folder: Path) -> ctypes.CDLL:
    target = folder / "verified.so"
    # A function that is not declared would end the whole process when it is called.
    strict = "-Werror=implicit-function-declaration"
    command = [compiler, "-O0", strict, "-shared", "-fPIC", "-o", str(target), "verified.c", "-lm"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=SECONDS)
    return ctypes.CDLL(str(target))


def _c_values(library: ctypes.CDLL, header: str, sample: Sample) -> dict[str, Array]:
    """Call the function of all outputs at each state."""
    model, graph = sample.model, sample.model.graph
    groups = {given.group for given in graph.inputs.values()} - {"parameter"}
    lengths = {group: group_length(model.mechanism, graph, group) for group in groups}
    signature = signature_of(graph, list(model.outputs), lengths)
    names = [graph.inputs[v].name for v in parameters_of(graph)]
    functions = re.findall(r"^void (verified_\w+)_batch\(", header, re.MULTILINE)
    # The last one computes all outputs.
    call = getattr(library, functions[-1])
    found: dict[str, list[Array]] = {name: [] for name in model.outputs}
    for k in range(len(sample)):
        given: list[Array] = []
        for argument in signature.arguments:
            if argument.group == "parameter":
                given.append(np.array([sample.values[name][k] for name in names]))
            else:
                # Actuators may have no states.
                rows = sample.states.get(argument.group, np.zeros((len(sample), 0)))
                given.append(np.atleast_1d(rows[k]).astype(np.float64))
        results = [np.full(result.shape, np.nan) for result in signature.results]
        arrays = [np.ascontiguousarray(array) for array in (*given, *results)]
        call(*(array.ctypes.data_as(ctypes.c_void_p) for array in arrays))
        for result, array in zip(signature.results, arrays[len(given) :], strict=True):
            found[result.name].append(array.reshape(graph.block(result.name).shape))
    return {name: np.array(rows) for name, rows in found.items()}
