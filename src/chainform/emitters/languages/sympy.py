"""SymPy: exact expressions of real symbols, with intermediate results or without."""

from __future__ import annotations

from fractions import Fraction
from string import Template

from chainform.emitters.definitions import Definitions
from chainform.emitters.infix import Formulas, Syntax, result_names
from chainform.emitters.languages.python_module import (
    KEYWORDS,
    MAKEFILE,
    body_of,
    bracketed,
    check_double,
    check_module_name,
    check_text,
    docstring,
    example_text,
    function_names,
    head,
    statements,
)
from chainform.emitters.package import Function, Package, argument_name

NOTES = (
    "Numbers are exact; symbols are real. The symbols of the inputs are q[0], qd[0], ...",
    "A function returns a matrix of the inputs alone; a vector is a column, a result with three",
    "indices an Array. With the ending _steps it returns intermediate results as sympy.cse does,",
    "[(symbol, expression), ...], and the matrix that is made of them:",
    "    steps, matrix = mass_matrix_steps()",
    "    function = lambdify([q], matrix, cse=lambda _: (steps, matrix))",
)
HELPERS = '''
from sympy import (
    Abs, Array, Integer, Matrix, Rational, Symbol, acos, asin, atan, cos, exp, flatten, log,
    preorder_traversal, sign, sin, sqrt, sympify, tan,
)

LIMIT = 20_000
"""The most symbols and numbers in a result without intermediate results."""


class _Steps(list):
    """Intermediate results in their order: pairs of a symbol and what it stands for."""

    def __call__(self, name, expression):
        """Keep an intermediate result, and return its symbol."""
        self.append((Symbol(name, real=True), sympify(expression)))
        return self[-1][0]


def _of_inputs(steps, result):
    """Return a result without intermediate results; ValueError where it would be too long."""
    sizes, values = {}, {}

    def size(expression):
        parts = preorder_traversal(sympify(expression))
        return sum(sizes.get(part, 1) for part in parts if not part.args)

    for symbol, expression in steps:
        sizes[symbol] = size(expression)
    total = sum(map(size, flatten([result])))
    if total > LIMIT:
        size = f"about 10^{int(0.30103*total.bit_length())}"
        raise ValueError(f"{size} symbols and numbers: call the function with the ending _steps")
    for symbol, expression in steps:
        values[symbol] = expression.xreplace(values)

    def replaced(part):
        if isinstance(part, (Matrix, Array)):
            return part.applyfunc(lambda entry: entry.xreplace(values))
        return sympify(part).xreplace(values)

    return tuple(map(replaced, result)) if isinstance(result, tuple) else replaced(result)
'''
EXAMPLE = '''

def value(function, symbols, numbers):
    """Return what a function gives for numbers, computed with its intermediate results."""
    steps, result = function()
    return lambdify(symbols, result, cse=lambda _: (steps, result))(*numbers)

'''
WAYS = """
def of_numbers(function, steps, result):
    \"""Return a function of numbers that gives the entries of each result.\"""
    groups, _ = FUNCTIONS[function.__name__]
    entries = [flatten([r]) for r in (result if isinstance(result, tuple) else (result,))]
    cse = (lambda _: (steps, entries)) if steps else False
    return lambdify([getattr($name, group) for group in groups], entries, "math", cse=cse)


@cache
def compiled(function):
    \"""Return a function of numbers that computes intermediate results.\"""
    return of_numbers(function, *getattr($name, f"{function.__name__}_steps")())


def computed(function, *arguments):
    \"""Return the entries of each result for one state.\"""
    return [list(map(float, entries)) for entries in compiled(function)(*arguments)]


def of_inputs(function, *arguments):
    \"""Return the results of all states from formulas of the inputs, unless they are too long.\"""
    try:
        result = function()
    except ValueError:
        return []
    made = of_numbers(function, [], result)
    states = [made(*(rows[k] for rows in arguments)) for k in range(CASES)]
    return [[float(x) for row in rows for x in row] for rows in zip(*states)]


WAYS = (one_by_one, of_inputs)
"""


def _number(value: Fraction) -> str:
    top, bottom = value.numerator, value.denominator
    return str(top) if bottom == 1 else f"Rational({top}, {bottom})"


SYNTAX = Syntax(
    KEYWORDS,
    _number,
    {"abs": "Abs({0})", "reciprocal": "Integer(1)/{0}"},
    define='{name} = steps("{name}", {value})',
)


def emit(package: Package) -> dict[str, str]:
    """Return the files of a folder, the source first."""
    check_module_name(package)
    check_double(package, "SymPy computes with exact numbers")
    texts = [head(package, NOTES, HELPERS), _symbols(package)]
    for name, function in zip(function_names(package), package.functions, strict=True):
        texts += ["\n".join(lines) for lines in _functions(package, function, name)]
    ways = Template(WAYS).substitute(name=package.name)
    prepare = "from functools import cache\n\nfrom sympy import flatten, lambdify\n"
    called = "value({0}_steps, [{2}], [{1}])"
    return {
        f"{package.name}.py": "\n\n\n".join(text.rstrip("\n") for text in texts) + "\n",
        "example.py": example_text(package, "from sympy import lambdify", "{0}", called, EXAMPLE),
        "test.py": check_text(package, prepare, ways),
        "Makefile": MAKEFILE,
    }


def _symbols(package: Package) -> str:
    """Return the symbols of the inputs, a tuple for each group."""
    definitions, formulas = Definitions(package.graph), Formulas(package.graph, SYNTAX)
    used = {formulas.name(v) for v in range(len(package.graph)) if v not in definitions.inputs}
    names: dict[tuple[str, int], str] = {}
    for v, given in definitions.inputs.items():
        plain = given.name if given.name not in used else formulas.name(v)
        names[given.group, definitions.place[v]] = plain
    lines: list[str] = []
    for group, length in {
        a.group: a.length for f in package.functions for a in f.signature.arguments
    }.items():
        listed = [names.get((group, k), f"{group}{k + 1}") for k in range(length)]
        start = f"{argument_name(group)} = tuple(Symbol(name, real=True) for name in ["
        lines += bracketed(start, ", ".join(f'"{name}"' for name in listed), "])")
    return "\n".join(lines)


def _functions(package: Package, function: Function, name: str) -> tuple[list[str], list[str]]:
    """Return the function with intermediate results, and the one without."""
    body = body_of(package, function, SYNTAX)
    lines = [f"def {name}_steps():"]
    lines += docstring([f"Return the intermediate results of {name}, and what is made of them."])
    lines += [*statements(body.loads), "    steps = _Steps()", *statements(body.statements)]
    results = result_names(function, SYNTAX)
    shapes = [r.shape for r in function.signature.results]
    for result, shape, entries in zip(results, shapes, body.entries, strict=True):
        listed = ", ".join(entries)
        match shape:
            case ():
                lines.append(f"    {result} = sympify({listed})")
            case (rows,) | (rows, _):
                columns = shape[1] if len(shape) == 2 else 1
                start = f"{result} = Matrix({rows}, {columns}, ["
                lines += bracketed(start, listed, "])", "    ")
            case _:
                lines += bracketed(f"{result} = Array([", listed, f"], {shape})", "    ")
    whole = results[0] if len(results) == 1 else f"({', '.join(results)})"
    alone = [f"def {name}():", *docstring(function.about)]
    alone.append(f"    return _of_inputs(*{name}_steps())")
    return [*lines, f"    return steps, {whole}"], alone
