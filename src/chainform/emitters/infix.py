"""Formulas in infix notation, one statement per variable: what most languages have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from textwrap import wrap

from chainform.emitters.definitions import Definitions
from chainform.emitters.package import Function, Package, argument_name
from chainform.emitters.schedule import Schedule, result_entries, schedule_of
from chainform.errors import RunError
from chainform.graph import CALLS, FLOAT, GROUPS, Graph, Term

MOST_TERMS = 100
"""Terms or factors in one statement; longer sums go on in another."""
WIDTH = 100


@dataclass(frozen=True)
class Syntax:
    """How a language writes names, numbers and statements."""

    keywords: frozenset[str]
    number: Callable[[Fraction], str]
    calls: Mapping[str, str] = field(default_factory=dict[str, str])
    """Functions that are not written f(x): "reciprocal": "1.0/{0}"."""
    define: str = "{name} = {value}"
    change: str = "{name} = {name} {sign} {value}"
    """Adds to a variable what did not fit into its first statement."""
    change_from: str = "{name} = {value}"
    """The first of several statements."""
    element: str = "{array}[{index}]"
    store: str = "{place} = {value}"
    first_index: int = 0
    between_indices: str | None = None
    """Between the indices of a matrix; without it, matrices are arrays of one index, by rows."""
    scalar: str = "{array}"
    """A result of one number, where matrices have several indices."""
    break_line: str = "\n"
    """What ends a line that goes on."""
    longest_name: int = 200
    is_case_sensitive: bool = True

    def key(self, name: str) -> str:
        """Return what two names have in common where the language takes them for one."""
        return name if self.is_case_sensitive else name.lower()

    def entry(self, array: str, index: int) -> str:
        """Return an entry of an array."""
        return self.element.format(array=array, index=index + self.first_index)

    def result_entry(self, array: str, shape: Sequence[int], index: int) -> str:
        """Return an entry of a result, given by its place in the order of rows."""
        if self.between_indices is None:
            return self.entry(array, index)
        if not shape:
            return self.scalar.format(array=array)
        indices: list[int] = []
        for size in reversed(shape):
            index, place = divmod(index, size)
            indices.insert(0, place + self.first_index)
        listed = self.between_indices.join(map(str, indices))
        return self.element.format(array=array, index=listed)

    def lines(self, statement: str, indent: str = "    ") -> list[str]:
        """Return a statement in lines that are not too long."""
        if len(indent) + len(statement) <= WIDTH:
            return [indent + statement]
        width = WIDTH - len(indent) - len(self.break_line)
        # A long product has no blanks at which a line could end.
        words = [w if len(w) < width else w.replace("*", "* ") for w in statement.split(" ")]
        parts = wrap(
            " ".join(words),
            width,
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        end = self.break_line.removesuffix("\n")
        return [indent + part + end for part in parts[:-1]] + [indent + parts[-1]]


def safe_names(names: Iterable[str], syntax: Syntax, taken: Iterable[str]) -> dict[str, str]:
    """Return a name of the language for each name, all different from one another and from `taken`.

    Dots and words of the language are replaced, and names that are too long are cut.
    """
    key = syntax.key
    used = {*map(key, taken), *map(key, syntax.keywords)}
    found: dict[str, str] = {}
    for name in names:
        base = name.replace(".", "_").lstrip("_")
        base = base if base[:1].isalpha() else f"v_{base}"
        safe = base[: syntax.longest_name]
        number = 1
        while key(safe) in used:
            number += 1
            mark = f"v{number}"
            safe = f"{base[: syntax.longest_name - len(mark) - 1]}_{mark}"
        used.add(key(safe))
        found[name] = safe
    return found


def result_names(function: Function, syntax: Syntax, taken: Iterable[str] = ()) -> list[str]:
    """Return the names of the results of a function; words and `taken` ones end with _out."""
    groups = {argument_name(a.group) for a in function.signature.arguments}
    used = {syntax.key(n) for n in (*taken, *groups, "parameters")}
    words = {*used, *map(syntax.key, syntax.keywords)}
    wanted = [f"{n}_out" if syntax.key(n) in words else n for n in function.results]
    return list(safe_names(wanted, syntax, used).values())


def function_names(
    package: Package, syntax: Syntax, language: str, taken: Iterable[str] = ()
) -> dict[str, str]:
    """Return the names of the functions in a language; RunError where it has taken one of them.

    `taken` are words that the text uses itself.
    """
    name, words = package.name, {*map(syntax.key, syntax.keywords)}
    for function in package.functions:
        if syntax.key(function.name) in words:
            message = f"{function.name} is a word of {language}, and cannot be a function"
            raise RunError(message, element=function.name, remedy="rename the output")
    if syntax.key(name) in words or not name[0].isalpha():
        problem = f"{name[:60]!r} cannot be a name in {language}"
    elif len(name) > syntax.longest_name:
        problem = f"a name in {language} has at most {syntax.longest_name} characters"
    else:
        return safe_names([f.name for f in package.functions], syntax, [*taken, name])
    raise RunError(problem, element="name", remedy="give another one: name='arm', or --name arm")


def decimal(value: Fraction) -> str:
    """Return a number as the nearest double, in full."""
    return repr(FLOAT.number(value))


def single_decimal(value: Fraction) -> str:
    """Return a number as a double that is not too large for single precision."""
    number = FLOAT.number(value)
    if abs(number) >= 2.0**128:
        raise RunError("a number is too large for single precision", element=f"{number:.6g}")
    return repr(number)


class Formulas:
    """Names and right sides of the variables of a graph, in a language."""

    def __init__(self, graph: Graph, syntax: Syntax, taken: Iterable[str] = ()) -> None:
        self.graph = graph
        self.syntax = syntax
        self._definitions = Definitions(graph)
        self._names = safe_names(graph.names, syntax, [*taken, *GROUPS])
        self._numbers = [syntax.number(abs(k)) for k in graph.coefficients]

    def name(self, v: int) -> str:
        """Return the name of a variable, or the number that it is."""
        value = self.graph.number_value.get(v)
        if value is None:
            return self._names[self.graph.names[v]]
        return f"-{self.syntax.number(-value)}" if value < 0 else self.syntax.number(value)

    def statements(self, v: int) -> list[str]:
        """Return the statements that compute a variable."""
        name, syntax = self.name(v), self.syntax
        called = int(self.graph.call[v])
        if called:
            function = CALLS[called]
            form = syntax.calls.get(function, f"{function}({{0}})")
            value = form.format(self._factor(int(self.graph.argument[v])))
            return [syntax.define.format(name=name, value=value)]
        given = self.graph.terms(v)
        terms = [given[k] for k in self._definitions.term_order(v)]
        if len(terms) <= MOST_TERMS:
            return [syntax.define.format(name=name, value=self._sum(terms))]
        return self._long(name, terms)

    def _long(self, name: str, terms: Sequence[Term]) -> list[str]:
        """Return a sum in several statements."""
        syntax = self.syntax
        groups = [terms[k : k + MOST_TERMS] for k in range(0, len(terms), MOST_TERMS)]
        first = syntax.change_from.format(name=name, value=self._sum(groups[0]))
        rest = [f"({self._sum(group)})" for group in groups[1:]]
        return [first, *(syntax.change.format(name=name, sign="+", value=v) for v in rest)]

    def _sum(self, terms: Sequence[Term]) -> str:
        text = ""
        for term in terms:
            sign = "-" if term.coefficient < 0 else "+"
            body = self._product(term)
            text += f" {sign} {body}" if text else f"{'-' if sign == '-' else ''}{body}"
        return text or self.syntax.number(Fraction(0))

    def _product(self, term: Term) -> str:
        factors = [self._factor(f.variable) for f in term.factors for _ in range(f.power)]
        size = abs(term.coefficient)
        parts = factors if size == 1 and factors else [self.syntax.number(size), *factors]
        if len(parts) <= MOST_TERMS:
            return "*".join(parts)
        # Compilers take brackets more easily than a long row.
        groups = [parts[k : k + MOST_TERMS] for k in range(0, len(parts), MOST_TERMS)]
        return " * ".join(f"({'*'.join(group)})" for group in groups)

    def _factor(self, v: int) -> str:
        name = self.name(v)
        return f"({name})" if name.startswith("-") else name


# --- a function, in parts -------------------------------------------------------------------------


class FunctionWriter:
    """The statements of one function of a package, in one or more parts.

    The first part has the sines and cosines of all angles that need none themselves. What a later
    part needs stands in the array `work`. Every input is read before a result is stored, as long
    as there is one part. `taken` are names that variables and results must not have. With a sine
    of ours, the arrays `sine` and `cosine` have those of the first angles.
    """

    def __init__(
        self,
        package: Package,
        function: Function,
        syntax: Syntax,
        taken: Iterable[str] = (),
        *,
        has_own_sine: bool = False,
    ) -> None:
        self.package = package
        self.function = function
        self.syntax = syntax
        self.definitions = Definitions(package.graph)
        self.results = result_names(function, syntax, taken)
        taken = [*taken, *self.results, "parameters", "work", "angle", "sine", "cosine", "count"]
        self.formulas = Formulas(package.graph, syntax, taken)
        self.entries = result_entries(self.definitions, function.signature)
        known = {*self.definitions.inputs, *self.definitions.constants}
        stores = {v: len(places) for v, places in self.entries.items()}
        self.schedule: Schedule = schedule_of(self.definitions, list(self.entries), known, stores)
        self.used = {u for k in range(self.count) for u in self.read_in(k)} | set(self.entries)
        self.has_own_sine = has_own_sine and bool(self.schedule.angles)

    @property
    def count(self) -> int:
        """How many parts there are."""
        return len(self.schedule.parts)

    def body(self, number: int, indent: str = "    ") -> list[str]:
        """Return the lines of one part."""
        lines = self.loads(number)
        if number == 0:
            lines += self.before() + self.sine_call() + self.sines()
        return self.lines(lines + self.statements(number) + self.stores(number), indent)

    def lines(self, statements: Sequence[str], indent: str = "    ") -> list[str]:
        """Return statements as lines of text."""
        return [line for each in statements for line in self.syntax.lines(each, indent)]

    def variables(self, number: int) -> list[str]:
        """Return the names of all variables that a part has."""
        computed = [v for v in self.schedule.computed_in(number) if v in self.used]
        return [self.formulas.name(v) for v in (*self.loaded_in(number), *computed)]

    def touched(self, number: int) -> tuple[list[str], list[int]]:
        """Return the groups of inputs that a part reads, and the results that it stores."""
        inputs = self.definitions.inputs
        read = {inputs[v].group for v in self.loaded_in(number) if v in inputs}
        part = (*self.schedule.computed_in(number), *self.schedule.parts[number])
        stored = {r for v in part for r, _ in self.entries.get(v, ())}
        groups = [a.group for a in self.function.signature.arguments if a.group in read]
        return groups, sorted(stored)

    def idle(self) -> list[str]:
        """Return the arguments that the formulas do not need."""
        inputs = self.definitions.inputs
        used = {inputs[v].group for v in self.used if v in inputs}
        groups = [a.group for a in self.function.signature.arguments]
        empty = [r.length == 0 for r in self.function.signature.results]
        results = [n for n, is_empty in zip(self.results, empty, strict=True) if is_empty]
        return [*(argument_name(group) for group in groups if group not in used), *results]

    def loads(self, number: int) -> list[str]:
        """Return the statements that read what a part needs and does not compute."""
        return [self.load(v) for v in self.loaded_in(number)]

    def loaded_in(self, number: int) -> list[int]:
        """Return what a part needs and does not compute."""
        computed = {*self.schedule.computed_in(number), *self.definitions.constants}
        return [v for v in dict.fromkeys(self.read_in(number)) if v not in computed]

    def read_in(self, number: int) -> list[int]:
        """Return all that the statements of a part read, and what it stores as it is given."""
        needs = self.definitions.needs
        found = [u for v in self.schedule.computed_in(number) for u in needs(v)]
        given = [v for v in self.schedule.parts[number] if v in self.schedule.known]
        return [*(self.schedule.angles if number == 0 else ()), *found, *given]

    def load(self, v: int) -> str:
        """Return the statement that reads an input, or what an earlier part computed."""
        syntax, given = self.syntax, self.definitions.inputs.get(v)
        if given is None:
            place = self.entry("work", self.schedule.slots[v])
        else:
            place = self.entry(argument_name(given.group), self.definitions.place[v])
        return syntax.define.format(name=self.formulas.name(v), value=place)

    def entry(self, array: str, index: int) -> str:
        """Return an entry of an array that is read."""
        return self.syntax.entry(array, index)

    def statements(self, number: int) -> list[str]:
        """Return what a part computes after the sines and cosines of the first angles."""
        ready = {*self.schedule.before, *self.schedule.of_angles, *self.schedule.known}
        order = [v for v in self.schedule.parts[number] if v not in ready]
        return [line for v in order for line in self.formulas.statements(v)]

    def before(self) -> list[str]:
        """Return the statements that the first angles need."""
        return [line for v in self.schedule.before for line in self.formulas.statements(v)]

    def sine_call(self) -> list[str]:
        """Return the statements that compute sines and cosines of the first angles together."""
        return []

    def sines(self) -> list[str]:
        """Return the statements for the sines and cosines of the first angles."""
        used = [v for v in self.schedule.of_angles if v in self.used]
        if not self.has_own_sine:
            return [line for v in used for line in self.formulas.statements(v)]
        places = {angle: k for k, angle in enumerate(self.schedule.angles)}
        found: list[str] = []
        for v in used:
            array = "sine" if self.definitions.calls[v] == "sin" else "cosine"
            place = self.syntax.entry(array, places[self.definitions.arguments[v]])
            found.append(self.syntax.define.format(name=self.formulas.name(v), value=place))
        return found

    def stores(self, number: int) -> list[str]:
        """Return the statements that store results and what later parts need."""
        syntax, slots = self.syntax, self.schedule.slots
        results = list(zip(self.results, self.function.signature.results, strict=True))
        computed = self.schedule.computed_in(number)
        given = [v for v in self.schedule.parts[number] if v in self.schedule.known]
        lines: list[str] = []
        for v in (*computed, *given):
            value = self.formulas.name(v)
            places = [
                syntax.result_entry(name, result.shape, i)
                for r, i in self.entries.get(v, ())
                for name, result in [results[r]]
            ]
            if v in slots:
                places.append(syntax.entry("work", slots[v]))
            lines += [syntax.store.format(place=place, value=value) for place in places]
        return lines
