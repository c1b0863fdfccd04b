"""Sine and cosine as LLVM text, for one number or for the lanes of a vector register.

x = k pi/2 + r with |r| <= pi/4: k is x 2/pi, rounded by adding and subtracting a number so large
that the sum holds no fraction; the last bits of that sum hold the quadrant. r is found as r - rest,
where rest corrects the rounding of r. Sine and cosine are polynomials in z = r^2:

    sin(r - rest) = r - (r z S(z) + rest)        cos(r - rest) = 1 + r (r (z C(z) - 1/2) + rest)

Signs are chosen so that the sine of -0.0 is -0.0. Beyond 1e5, where k has too many digits, r comes
from integer arithmetic with those digits of 2/pi that matter (`sincos_support`), lane by lane.

Measured over the whole range, no result is further from the exact value than 0.88 units of its last
place with fused products; without them, 1.01 in float64 and 0.57 in float32. A number has the same
results, to the bit, in every lane and with every number of lanes.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from chainform.emitters.llvm.large_angles import FAR, digits_table, reduction
from chainform.emitters.sine import COSINE, LIMIT, SINE, parts_of_half_pi

# --- instructions on vectors ----------------------------------------------------------------------


def hexadecimal(value: float, element: str) -> str:
    """Return a constant as LLVM reads it: the bits of a double, also if it is a float."""
    if element == "float":
        (value,) = struct.unpack("<f", struct.pack("<f", value))
    return f"0x{struct.pack('>d', value).hex().upper()}"


@dataclass
class InstructionWriter:
    """Instructions under construction, on vectors of `lanes` elements (numbers for one lane)."""

    element: str
    lanes: int
    fused: bool
    lines: list[str] = field(default_factory=list[str])
    declarations: set[str] = field(default_factory=set[str])

    @property
    def type(self) -> str:
        return self.lanes_of(self.element)

    @property
    def integer(self) -> str:
        return self.lanes_of(f"i{self.bits}")

    @property
    def bits(self) -> int:
        return 64 if self.element == "double" else 32

    @property
    def digits(self) -> int:
        return 53 if self.element == "double" else 24

    @property
    def suffix(self) -> str:
        """The type in the names of intrinsics."""
        return f"{f'v{self.lanes}' if self.lanes > 1 else ''}f{self.bits}"

    def lanes_of(self, element: str) -> str:
        return f"<{self.lanes} x {element}>" if self.lanes > 1 else element

    def _all_lanes(self, constant: str) -> str:
        return f"<{', '.join([constant] * self.lanes)}>" if self.lanes > 1 else constant.split()[1]

    def new(self, instruction: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def number(self, value: float) -> str:
        return self._all_lanes(f"{self.element} {hexadecimal(value, self.element)}")

    def whole(self, value: int) -> str:
        return self._all_lanes(f"i{self.bits} {value}")

    def declare(self, result: str, name: str, arguments: Sequence[str]) -> None:
        self.declarations.add(f"declare {result} @{name}({', '.join(arguments)})")

    def add(self, a: str, b: str) -> str:
        return self.new(f"fadd {self.type} {a}, {b}")

    def subtract(self, a: str, b: str) -> str:
        return self.new(f"fsub {self.type} {a}, {b}")

    def multiply(self, a: str, b: str) -> str:
        return self.new(f"fmul {self.type} {a}, {b}")

    def multiply_add(self, a: str, b: str, c: str) -> str:
        """Return a b + c, rounded once if products are fused."""
        if not self.fused:
            return self.add(self.multiply(a, b), c)
        name = f"llvm.fma.{self.suffix}"
        self.declare(self.type, name, [self.type] * 3)
        return self.new(
            f"call {self.type} @{name}({', '.join(f'{self.type} {v}' for v in (a, b, c))})"
        )

    def polynomial(self, z: str, coefficients: Sequence[float]) -> str:
        result = self.number(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            result = self.multiply_add(result, z, self.number(coefficient))
        return result

    def any_beyond(self, x: str, limit: float) -> str:
        """Return whether some lane is beyond the limit, or not a number."""
        self.declare(self.type, f"llvm.fabs.{self.suffix}", [self.type])
        size = self.new(f"call {self.type} @llvm.fabs.{self.suffix}({self.type} {x})")
        beyond = self.new(f"fcmp ugt {self.type} {size}, {self.number(limit)}")
        if self.lanes == 1:
            return beyond
        name, flags = f"llvm.vector.reduce.or.v{self.lanes}i1", self.lanes_of("i1")
        self.declare("i1", name, [flags])
        return self.new(f"call i1 @{name}({flags} {beyond})")


# --- sine and cosine ------------------------------------------------------------------------------

PARTS = {
    ("double", True): (53, 36, 53),
    ("double", False): (37, 37, 53),
    ("float", True): (24, 24, 24),
}
"""The digits of the three parts of pi/2, by element and whether products are fused."""


@dataclass(frozen=True)
class Trig:
    """Text of definitions, and the declarations they need, a line each.

    A module holds a declaration once, so declarations are to be gathered in a set.
    """

    definitions: str
    declarations: frozenset[str]


def sincos_name(precision: str, lanes: int) -> str:
    """Return the name, without @, of the function that `sincos` defines."""
    return f"sincos.{precision}.{lanes}"


def sincos(precision: str, lanes: int, fused: bool) -> Trig:
    """Return the function of T that returns {T, T}: sine and cosine of each lane.

    T is a number for one lane, else a vector. `fused` asks for products and sums rounded once,
    which is quick only where the machine has them. A module with any such function also needs
    `sincos_support`, once. Without fused products float32 is computed in double precision.
    """
    is_widened = precision == "float32" and not fused
    code = InstructionWriter(
        "float" if precision == "float32" and fused else "double", lanes, fused
    )
    given = code.lanes_of("float") if is_widened else code.type
    x = code.new(f"fpext {given} %x to {code.type}") if is_widened else "%x"
    name = sincos_name(precision, lanes)
    r, rest, quadrant = _with_far_lanes(code, name, x, _reduce(code, x))
    results = _turn(code, *_polynomials(code, precision, r, rest), quadrant)
    if is_widened:
        results = [code.new(f"fptrunc {code.type} {v} to {given}") for v in results]
    pair = f"{{{given}, {given}}}"
    first = code.new(f"insertvalue {pair} poison, {given} {results[0]}, 0")
    both = code.new(f"insertvalue {pair} {first}, {given} {results[1]}, 1")
    lines = [
        f"define internal {pair} @{name}({given} %x) {{",
        "near:",
        *code.lines,
        f"  ret {pair} {both}",
        "}\n",
    ]
    return Trig(_far_function(code, name) + "\n".join(lines), frozenset(code.declarations))


def sincos_support(precisions: Iterable[str]) -> Trig:
    """Return what the functions of a module share: reduction of large x, one number at a time."""
    elements = ["double", *(["float"] if "float32" in precisions else [])]
    text = digits_table() + "".join(map(reduction, elements))
    return Trig(text, frozenset({"declare i128 @llvm.ctlz.i128(i128, i1)"}))


def _reduce(code: InstructionWriter, x: str) -> tuple[str, str, str]:
    """Return r, rest and the number of quarter turns, for x up to the limit.

    pi/2 is the sum of three parts. The first difference is exact: it is small, and a multiple of
    the last place of x or of the first part. The second is r; what its rounding took away is found
    exactly, because k times the second part is exact, or the rest of it is in a fused product.
    The parts are positive, for the sake of -0.0.
    """
    shift = code.number(1.5 * 2.0 ** (code.digits - 1))
    shifted = code.multiply_add(x, code.number(2 / math.pi), shift)
    quadrant = code.new(f"bitcast {code.type} {shifted} to {code.integer}")
    k = code.subtract(shifted, shift)
    first, second, third = parts_of_half_pi(*PARTS[code.element, code.fused])
    before = code.multiply_add(k, code.number(-first), x)
    if code.element == "double":
        r = code.multiply_add(k, code.number(-second), before)
    else:
        r = code.subtract(before, code.multiply(k, code.number(second)))
    gone = code.multiply_add(k, code.number(second), code.subtract(r, before))
    return r, code.multiply_add(k, code.number(third), gone), quadrant


def _with_far_lanes(
    code: InstructionWriter, name: str, x: str, near: tuple[str, str, str]
) -> list[str]:
    """Return r, rest and quadrant, replaced in those lanes that are beyond the limit."""
    types = (code.type, code.type, code.integer)
    triple = f"{{{', '.join(types)}}}"
    beyond = code.any_beyond(x, LIMIT)
    code.lines += [f"  br i1 {beyond}, label %far, label %both", "far:"]
    if code.lanes == 1:
        call = code.new(f"call {triple} @sincos.reduce.{code.element}({code.element} {x})")
    else:
        values = zip((code.type, *types), (x, *near), strict=True)
        arguments = ", ".join(f"{kind} {value}" for kind, value in values)
        call = code.new(f"call {triple} @{name}.far({arguments})")
    far = [code.new(f"extractvalue {triple} {call}, {index}") for index in range(3)]
    code.lines += ["  br label %both", "both:"]
    return [
        code.new(f"phi {kind} [{a}, %near], [{b}, %far]")
        for kind, a, b in zip(types, near, far, strict=True)
    ]


def _polynomials(code: InstructionWriter, precision: str, r: str, rest: str) -> tuple[str, str]:
    """Return sine and cosine of r - rest.

    Without fused products the cosine is 1 - (z/2 - (z^2 C + r rest)), which rounds less often.
    """
    z = code.multiply(r, r)
    bent = code.multiply(z, code.polynomial(z, SINE[precision]))
    sine = code.subtract(r, code.multiply_add(r, bent, rest))
    one, half = code.number(1.0), code.number(0.5)
    series = code.polynomial(z, COSINE[precision])
    if code.fused:
        inner = code.multiply_add(z, series, code.number(-0.5))
        return sine, code.multiply_add(r, code.multiply_add(r, inner, rest), one)
    small = code.multiply_add(code.multiply(z, series), z, code.multiply(r, rest))
    return sine, code.subtract(one, code.subtract(code.multiply(z, half), small))


def _turn(code: InstructionWriter, sine: str, cosine: str, quadrant: str) -> list[str]:
    """Return sine and cosine of x: exchanged after odd quarter turns, and with their signs.

    Shifted up, bit 1 of the number of turns is the sign of the sine, that of the next number the
    sign of the cosine.
    """
    kind, sign = code.integer, code.whole(-(1 << code.bits - 1))
    odd = code.new(f"and {kind} {quadrant}, {code.whole(1)}")
    flags = code.lanes_of("i1")
    is_odd = code.new(f"icmp ne {kind} {odd}, {code.whole(0)}")
    turns = code.new(f"shl {kind} {quadrant}, {code.whole(code.bits - 2)}")
    after = code.new(f"add {kind} {turns}, {code.whole(1 << code.bits - 2)}")
    results: list[str] = []
    for even, other, bits in ((sine, cosine, turns), (cosine, sine, after)):
        size = code.new(f"select {flags} {is_odd}, {code.type} {other}, {code.type} {even}")
        flip = code.new(f"and {kind} {bits}, {sign}")
        plain = code.new(f"bitcast {code.type} {size} to {kind}")
        turned = code.new(f"xor {kind} {plain}, {flip}")
        results.append(code.new(f"bitcast {kind} {turned} to {code.type}"))
    return results


def _far_function(code: InstructionWriter, name: str) -> str:
    """Return the function that replaces r, rest and quadrant of the lanes beyond the limit."""
    if code.lanes == 1:
        return ""
    code.declare(code.element, f"llvm.fabs.f{code.bits}", [code.element])
    return FAR.format(
        name=name,
        vector=code.type,
        vector_i=code.integer,
        element=code.element,
        bits=code.bits,
        lanes=code.lanes,
        limit=hexadecimal(LIMIT, code.element),
    )
