"""Exact scalars: residues of a prime, and polynomials of a mechanism's parameters.

Both give the numbers of a mechanism and random ones for its states. Sines and cosines are points of
the unit circle; multiples of an angle are powers of its point, so that they obey the laws of
angles. What is equal for random residues is equal, but for a chance of about one in the prime.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from random import Random
from typing import Any, Protocol

from flint import fmpq, fmpq_mpoly_ctx, nmod

from chainform.expressions import (
    Binary,
    Constant,
    Expression,
    Identifier,
    Negate,
    evaluate_expression,
    format_expression,
    value_of,
)
from chainform.expressions import Number as NumberExpression
from chainform.mechanism.numbers import difference, product_of, sum_of
from chainform.mechanism.records import ZERO, Number

PRIME = 2**61 - 1
LONGEST_POWER = 64
"""Multiples of an angle beyond this are not computed in fractions."""


class ExactField(Protocol):
    """Exact scalars: the numbers of a mechanism, and random ones that depend on a name."""

    def number(self, value: Number) -> Any:
        """Return a number of the mechanism."""
        ...

    def random(self, name: str) -> Any:
        """Return a random scalar, the same for the same name."""
        ...

    def point(self, name: str) -> tuple[Any, Any]:
        """Return a random point of the unit circle: cosine and sine."""
        ...

    def angle(self, value: Number, scale: int) -> tuple[Any, Any]:
        """Return the point of the circle at a given angle; `scale` times angles are whole."""
        ...

    def inverse(self, value: Any) -> Any:
        """Return a reciprocal."""
        ...


def turned(point: tuple[Any, Any], power: int) -> tuple[Any, Any]:
    """Return the point at a multiple of the angle of a point: cosine and sine."""
    c, s = point[0], point[1] if power >= 0 else -point[1]
    cosine, sine = c * 0 + 1, s * 0
    for digit in f"{abs(power):b}":
        cosine, sine = cosine * cosine - sine * sine, 2 * (sine * cosine)
        if digit == "1":
            cosine, sine = cosine * c - sine * s, sine * c + cosine * s
    return cosine, sine


def residue_of(numerator: int, denominator: int) -> int:
    """Return the residue of a fraction; where it has none, or a false zero, any other number."""
    if denominator % PRIME and (numerator % PRIME or not numerator):
        return numerator * pow(denominator, -1, PRIME) % PRIME
    unknown = Random(f"{abs(numerator)}/{denominator}").randrange(1, PRIME)
    return unknown if numerator > 0 else PRIME - unknown


def _on_circle(t: Any) -> tuple[Any, Any]:
    share = 1 / (1 + t * t)
    return (1 - t * t) * share, 2 * t * share


class Residues:
    """Residues of a large prime; parameters have random values, equal ones for equal names."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def number(self, value: Number) -> Any:
        """Return the residue of a number or expression."""
        if isinstance(value, Fraction):
            return nmod(residue_of(value.numerator, value.denominator), PRIME)
        symbols = _Symbols(lambda name: self.hashed(f"parameter {name}"))
        return evaluate_expression(value, symbols, self)

    def call(self, function: str, arguments: Sequence[Any]) -> Any:
        """Return a function of residues: a reciprocal, or a number of which nothing is known."""
        if function == "reciprocal":
            return 1 / arguments[0]
        return self.hashed(f"{function} {[int(argument) for argument in arguments]}")

    def hashed(self, name: str) -> Any:
        """Return a number that depends on a name alone, not on the state."""
        return nmod(Random(name).randrange(1, PRIME), PRIME)

    def random(self, name: str) -> Any:
        """Return a random residue."""
        return nmod(Random(f"{self.seed} {name}").randrange(1, PRIME), PRIME)

    def point(self, name: str) -> tuple[Any, Any]:
        """Return a random point of the circle."""
        return _on_circle(self.random(name))

    def inverse(self, value: Any) -> Any:
        """Return a reciprocal."""
        return 1 / value

    def angle(self, value: Number, scale: int) -> tuple[Any, Any]:
        """Return the point at an angle: a power of that at 1 / scale."""
        if isinstance(value, Fraction):
            return turned(_on_circle(self.hashed("angle")), int(value * scale))
        return _on_circle(self.hashed(f"angle {format_expression(value)}"))


class _Symbols(dict[str, Any]):
    """A table that computes its entries."""

    def __init__(self, of: Callable[[str], Any]) -> None:
        super().__init__()
        self._of = of

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> Any:
        return self._of(name)


class Polynomials:
    """Polynomials of the parameters with rational coefficients; states have short numbers.

    What is no polynomial, such as a root or a quotient, is an indeterminate of its own. Without
    parameters they are rational numbers.
    """

    def __init__(self, numbers: Iterable[Number], seed: int = 0) -> None:
        self.seed = seed
        atoms = dict.fromkeys(atom for number in numbers for atom in _atoms(number))
        self.atoms: tuple[Expression, ...] = tuple(atoms)
        names = [f"x{k}" for k in range(len(atoms))]
        self.context = fmpq_mpoly_ctx.get(names, "lex") if names else None
        gens = self.context.gens() if self.context is not None else ()
        self._gens = dict(zip(self.atoms, gens, strict=True))

    def number(self, value: Number) -> Any:
        """Return a number or expression."""
        if not isinstance(value, Fraction):
            return self._polynomial(value)
        exact = fmpq(value.numerator, value.denominator)
        return exact if self.context is None else self.context.constant(exact)

    def _polynomial(self, expression: Expression) -> Any:
        if expression in self._gens:
            return self._gens[expression]
        match expression:
            case Negate(operand):
                return -self._polynomial(operand)
            case Binary("+", left, right):
                return self._polynomial(left) + self._polynomial(right)
            case Binary("-", left, right):
                return self._polynomial(left) - self._polynomial(right)
            case Binary("*", left, right):
                return self._polynomial(left) * self._polynomial(right)
            case Binary("/", left, right):
                return self._polynomial(left) * self.number(1 / value_of(right))
            case Binary("^", base, exponent):
                return self._polynomial(base) ** int(value_of(exponent))
            case _:
                return self.number(value_of(expression))

    def random(self, name: str) -> Any:
        """Return a short random fraction."""
        random = Random(f"{self.seed} {name}")
        return self.number(
            Fraction(random.choice((-1, 1)) * random.randrange(1, 12), random.randrange(1, 4))
        )

    def point(self, name: str) -> tuple[Any, Any]:
        """Return a random point of the circle with short coordinates."""
        return self._at(Fraction(Random(f"{self.seed} {name}").randrange(2, 12)))

    def _at(self, t: Fraction) -> tuple[Any, Any]:
        cosine, sine = _on_circle(t)
        return self.number(cosine), self.number(sine)

    def inverse(self, value: Any) -> Any:
        """Return a reciprocal; that of a polynomial is no polynomial, but another number.

        What is solved for with it is not confirmed by residues, and so refused.
        """
        return 1 / value if isinstance(value, fmpq) else self.random(f"inverse {value}")

    def angle(self, value: Number, scale: int) -> tuple[Any, Any]:
        """Return a point for an angle, mirrored for the opposite angle."""
        if isinstance(value, Fraction) and value < 0:
            cosine, sine = self.angle(-value, scale)
            return cosine, -sine
        text = str(value) if isinstance(value, Fraction) else format_expression(value)
        return self._at(Fraction(Random(f"angle {text}").randrange(2, 90), 7))

    def expression(self, value: Any) -> Number:
        """Return a rational number or a polynomial as a number of the mechanism."""
        if isinstance(value, fmpq):
            return Fraction(int(value.p), int(value.q))
        total: Number = ZERO
        for powers, coefficient in value.to_dict().items():
            term: Number = self.expression(abs(coefficient))
            for atom, power in zip(self.atoms, powers, strict=True):
                if power:
                    exponent = NumberExpression(Fraction(int(power)))
                    term = product_of(term, atom if power == 1 else Binary("^", atom, exponent))
            total = sum_of(total, term) if coefficient > 0 else difference(total, term)
        return total

    def residue(self, value: Any) -> int:
        """Return what a rational number or a polynomial is modulo the prime."""
        if isinstance(value, fmpq):
            return residue_of(int(value.p), int(value.q))
        atoms = [int(Residues(0).number(atom)) for atom in self.atoms]
        total = 0
        for powers, coefficient in value.to_dict().items():
            term = self.residue(coefficient)
            for atom, power in zip(atoms, powers, strict=True):
                term = term * pow(atom, int(power), PRIME) % PRIME
            total += term
        return total % PRIME


def reduced(numerator: Any, denominator: Any) -> tuple[Any, Any]:
    """Return a fraction of rational numbers or of polynomials in lowest terms."""
    if isinstance(numerator, fmpq):
        return numerator / denominator, fmpq(1)
    divisor = numerator.gcd(denominator)
    numerator, denominator = numerator / divisor, denominator / divisor
    lead = denominator.leading_coefficient()
    return numerator / lead, denominator / lead


def _atoms(value: Number) -> Iterable[Expression]:
    """Yield the parameters, and the parts that are no polynomials of them."""
    match value:
        case Fraction() | NumberExpression() | Constant():
            return
        case Negate(operand):
            yield from _atoms(operand)
        case Binary("+" | "-" | "*", left, right):
            yield from (*_atoms(left), *_atoms(right))
        case Binary("/", left, right) if not list(_atoms(right)):
            yield from _atoms(left)
        case Binary("^", base, exponent) if _is_natural(exponent):
            yield from _atoms(base)
        case Identifier():
            yield value
        case _:
            yield value


def _is_natural(exponent: Expression) -> bool:
    if list(_atoms(exponent)):
        return False
    number = value_of(exponent)
    return number.denominator == 1 and 0 < number <= LONGEST_POWER
