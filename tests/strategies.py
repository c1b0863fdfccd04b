"""Random programs and graphs, drawn by Hypothesis, and settings that keep them quick.

A program is arithmetic that can be run on any kind of number: on fractions, it says what a graph
must compute; on a builder's scalars, it makes the graph. A drawn graph is made row by row instead,
and so has what no program leaves in it: equal definitions, constants as factors, odd names.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from chainform.graph import GROUPS, Angle, Builder, Graph, Scalar
from chainform.graph.scalar import Terms

SHARE = 1.0
"""How many of the examples are drawn; fewer in a fast run."""


def examples(count: int) -> settings:
    """Return settings for a number of examples that are the same in every run."""
    return settings(max_examples=max(2, round(SHARE * count)), deadline=None, derandomize=True)


numbers = st.fractions(min_value=-4, max_value=4, max_denominator=6)
angles = numbers.map(Angle.from_tangent)
doubles = st.integers(-64, 64).map(lambda numerator: numerator / 32)
coefficients = st.sampled_from(
    [Fraction(k) for k in ("1", "-1", "2", "-2", "3", "-1/2", "2/3", "-22/7", "0.125", "9.81")]
)

# --- programs -------------------------------------------------------------------------------

HIGHEST_DEGREE = 24
"""No value of a program has a higher degree, so that exact numbers stay short."""

ANGLES = ("q1", "q2")
NUMBERS = ("a", "b", "c")


@dataclass(frozen=True)
class Step:
    """One operation on earlier values; each operation uses what it needs of the fields."""

    operation: str
    left: int
    right: int
    number: Fraction
    power: int
    multiples: tuple[int, ...]


@dataclass(frozen=True)
class Program:
    """Steps that start from the values of NUMBERS and ANGLES; each makes one more value."""

    steps: tuple[Step, ...]

    def run(
        self,
        given: Sequence[Any],
        turned: Sequence[Any],
        call: Callable[[str, Any], Any],
        name: Callable[[Any], Any] = lambda value: value,
    ) -> list[Any]:
        """Return the values of all steps; `name` is what happens to a value that gets a name."""
        values = list(given)
        for step in self.steps:
            values.append(_result(step, values, turned, call, name))
        return values[len(given) :]


def _result(
    step: Step,
    values: Sequence[Any],
    turned: Sequence[Any],
    call: Callable[[str, Any], Any],
    name: Callable[[Any], Any],
) -> Any:
    x, y = values[step.left], values[step.right]
    match step.operation:
        case "add":
            return x + y
        case "subtract":
            return x - y
        case "multiply":
            return x * y
        case "divide":
            return x / (y * y + 1)
        case "scale":
            return step.number * x
        case "shift":
            return x + step.number
        case "shift opposite":
            return step.number - x
        case "divide by number":
            return x / step.number
        case "divide number":
            return step.number / (x * x + 1)
        case "negate":
            return -x
        case "power":
            return x**step.power
        case "name":
            return name(x)
        case "abs" | "sign":
            return call(step.operation, x)
        case "root of square":
            return call("sqrt", x * x)
        case _:
            k, l = step.multiples
            return call(step.operation, k * turned[0] + l * turned[1])


POLYNOMIAL = ("add", "subtract", "multiply", "scale", "shift", "negate", "power", "name")
RATIONAL = ("divide", "shift opposite", "divide by number", "divide number")
TRIGONOMETRIC = ("sin", "cos")
EXACT_CALLS = ("abs", "sign", "root of square")
ALL = POLYNOMIAL + RATIONAL + TRIGONOMETRIC + EXACT_CALLS


@st.composite
def programs(draw: st.DrawFn, operations: Sequence[str] = ALL, most_steps: int = 10) -> Program:
    """Draw a program of the given operations."""
    steps: list[Step] = []
    degrees = [1] * len(NUMBERS)
    for _ in range(draw(st.integers(1, most_steps))):
        step = Step(
            draw(st.sampled_from(operations)),
            draw(st.integers(0, len(degrees) - 1)),
            draw(st.integers(0, len(degrees) - 1)),
            draw(coefficients),
            draw(st.integers(0, 4)),
            (draw(st.integers(-2, 2)), draw(st.integers(-2, 2))),
        )
        degree = _degree(step, degrees)
        if degree <= HIGHEST_DEGREE:
            steps.append(step)
            degrees.append(degree)
    return Program(tuple(steps))


def _degree(step: Step, degrees: Sequence[int]) -> int:
    x, y = degrees[step.left], degrees[step.right]
    match step.operation:
        case "add" | "subtract":
            return max(x, y)
        case "multiply":
            return x + y
        case "divide":
            return x + 2 * y
        case "divide number" | "root of square":
            return 2 * x
        case "power":
            return x * step.power
        case "sin" | "cos":
            return sum(map(abs, step.multiples))
        case _:
            return x


def inputs_of(builder: Builder) -> tuple[list[Scalar], list[Scalar]]:
    """Return the inputs of a program in a builder: numbers and angles."""
    given = [builder.input(name, "parameter", i) for i, name in enumerate(NUMBERS)]
    turned = [builder.input(name, "q", i) for i, name in enumerate(ANGLES)]
    return given, turned


def graph_of(program: Program, builder: Builder | None = None) -> Graph:
    """Return the graph of a program; its output `out` holds the value of each step."""
    builder = builder or Builder()
    named = iter(range(len(program.steps)))
    given, turned = inputs_of(builder)
    values = program.run(
        given, turned, builder.call, lambda value: builder.name(f"named_{next(named)}", value)
    )
    entries = [(f"out_{i + 1}", value) for i, value in enumerate(values)]
    builder.output("out", (len(values),), entries)
    return builder.finish()


@dataclass(frozen=True)
class Point:
    """Values for the inputs of a program."""

    numbers: tuple[Fraction, ...]
    angles: tuple[Angle, ...]

    def values(self) -> dict[str, Any]:
        """Return the values by name, as `evaluate` takes them."""
        named = zip((*NUMBERS, *ANGLES), (*self.numbers, *self.angles), strict=True)
        return dict(named)


points = st.builds(
    Point,
    st.tuples(*[numbers for _ in NUMBERS]),
    st.tuples(*[angles for _ in ANGLES]),
)

# --- graphs ---------------------------------------------------------------------------------

AWKWARD_NAMES = (
    *("lambda", "in", "None", "input", "alias", "output", "quantity", "model", "float", "q", "qd"),
    *(
        "zero",
        "one",
        "x_0",
        "x_7",
        "constant_9",
        "a.b",
        "a_b",
        "_",
        "__",
        "a.",
        "Q",
        "sin",
        "sin_a",
    ),
    *("reciprocal", "abs", "hG_2", "theta", "x_", "x__", "parameter", "__debug__", "e1", "E.5"),
)
PLAIN_NAMES = tuple(
    f"{letter}.{i}" if i % 5 else f"{letter}_{i}" for i in range(15) for letter in "wXy"
)


@dataclass
class Drawing:
    """A graph in the making, row by row, in a builder that shares nothing."""

    draw: st.DrawFn
    builder: Builder
    free_names: list[str]

    def name(self) -> str:
        """Return a name that is not in use; the builder names some constants itself."""
        name = self.free_names.pop()
        while name in self.builder.names:
            name = self.free_names.pop()
        return name

    def earlier(self) -> int:
        """Draw a variable."""
        return self.draw(st.integers(0, len(self.builder.names) - 1))

    def sum_of_terms(self) -> int:
        """Draw a definition of up to four terms, each with up to three factors."""
        terms: Terms = {}
        for _ in range(self.draw(st.integers(1, 4))):
            factors = [self.earlier() for _ in range(self.draw(st.integers(0, 3)))]
            power = self.draw(st.integers(1, 3))
            terms[tuple(sorted(factors[:1] * power + factors[1:]))] = self.draw(coefficients)
        return self.builder.define(self.name(), terms)

    def constant(self) -> int:
        """Draw a constant, often zero."""
        value = self.draw(st.sampled_from([0, 0, 1, 2, -3, Fraction(5, 7)]))
        return self.builder.define(self.name(), {(): value} if value else {})

    def call(self, function: str) -> int:
        """Draw a call; where the function is not defined everywhere, of a suitable argument.

        Its slope is at most four wherever it is called, so that errors grow no faster.
        """
        builder, x = self.builder, self.earlier()
        if function in ("sin", "cos", "atan", "abs"):
            return builder.define_call(self.name(), function, x)
        if function == "sign":
            x = self.draw(st.sampled_from(sorted(builder.inputs)))
            return builder.define_call(self.name(), function, x)
        sine = builder.define_call(self.name(), "sin", x)
        if function in ("sqrt", "log", "reciprocal"):
            sine = builder.define(self.name(), {(): Fraction(3, 2), (sine,): 1})
        elif function in ("asin", "acos"):
            sine = builder.define(self.name(), {(sine,): Fraction(1, 2)})
        return builder.define_call(self.name(), function, sine)


EVERYWHERE = ("sin", "cos", "atan", "abs", "sign")
ALL_CALLS = (*EVERYWHERE, "tan", "asin", "acos", "sqrt", "reciprocal", "exp", "log")


@st.composite
def graphs(draw: st.DrawFn, calls: Sequence[str] = ALL_CALLS, most_rows: int = 12) -> Graph:
    """Draw a graph with inputs of every group, constants, sums, calls and other names."""
    free = [*AWKWARD_NAMES, *PLAIN_NAMES]
    random.Random(draw(st.integers(0, 1000))).shuffle(free)
    builder = Builder(share=False)
    drawing = Drawing(draw, builder, free)
    for index in range(draw(st.integers(1, 4))):
        group = draw(st.sampled_from(sorted(GROUPS)))
        default = draw(st.none() | numbers) if group == "parameter" else None
        builder.input(drawing.name(), group, index, default)
    for _ in range(draw(st.integers(1, most_rows))):
        choice = draw(st.sampled_from(["sum", "sum", "constant", *(["call"] if calls else [])]))
        if choice == "sum":
            drawing.sum_of_terms()
        elif choice == "constant":
            drawing.constant()
        else:
            drawing.call(draw(st.sampled_from(calls)))
    for _ in range(draw(st.integers(0, 2))):
        builder.aliases[drawing.name()] = drawing.earlier()
    _declare_blocks(drawing)
    return builder.finish()


def _declare_blocks(drawing: Drawing) -> None:
    """Declare an output of the last row, and arrays of a few shapes."""
    draw, builder = drawing.draw, drawing.builder
    last = builder.scalar(len(builder.names) - 1)
    builder.output("last", (), [(drawing.name(), last)])
    for shape in draw(st.lists(st.sampled_from([(), (3,), (2, 2), (1, 2, 1), (0,)]), max_size=2)):
        size = 1
        for length in shape:
            size *= length
        entries = [(drawing.name(), builder.scalar(drawing.earlier())) for _ in range(size)]
        if draw(st.booleans()):
            builder.output(drawing.name(), shape, entries)
        else:
            builder.quantity(drawing.name(), shape, entries)


# --- rounding -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Size:
    """How large the parts of a value are before they cancel: the scale of its rounding error."""

    value: float

    def __neg__(self) -> Size:
        return self

    def __add__(self, other: Size) -> Size:
        return Size(self.value + other.value)

    def __mul__(self, other: Size) -> Size:
        return Size(self.value * other.value)


class Sizes:
    """The arithmetic of sizes; the calls that are drawn here have slopes of at most four.

    The value of a call is at most its slope times one more than its argument, too.
    """

    def number(self, value: Fraction) -> Size:
        """Return the size of a coefficient."""
        return Size(abs(float(value)))

    def call(self, function: str, argument: Size) -> Size:
        """Return the size of a call, and what it makes of the error of its argument."""
        slope = 1 if function in EVERYWHERE else 4
        return Size(slope * (argument.value + 1))
