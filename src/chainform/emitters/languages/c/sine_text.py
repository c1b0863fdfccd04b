"""Sine and cosine in C99, for arrays of angles, in a form that compilers turn into vector code.

x = k pi/2 + r: k is x 2/pi, rounded by adding and subtracting a number so large that the sum holds
no fraction; the last bits of that sum hold the quadrant. r - rest is found with pi/2 in three
parts, of which k times the first two is exact, so that it does not matter whether a compiler fuses
products and sums. Beyond 1e5 the digits of 2/pi that matter are multiplied as whole numbers. In
single precision the work is done by fused products where the machine has them, else in doubles.

Measured over the whole range, no result is further from the exact value than 1.01 units of its
last place, in double precision, and 0.9 in single precision.
"""

from __future__ import annotations

import math
from string import Template

from chainform.emitters.sine import (
    COSINE,
    LIMIT,
    PI_DIGITS,
    SINE,
    parts_of_half_pi,
    pi,
    two_over_pi,
)

WORDS = 40
"""The words of 32 bits in the table of 2/pi, highest first; the first two are zero."""


def sine_text(name: str, precision: str) -> str:
    """Return the C text of NAME_sine, and of what it needs, for double or float."""
    digits = two_over_pi(32 * (WORDS - 2))
    words = [digits >> 32 * k & (1 << 32) - 1 for k in reversed(range(WORDS))]
    half = pi() >> PI_DIGITS - 126
    table = {
        "name": name,
        "NAME": name.upper(),
        "limit": repr(LIMIT * LIMIT),
        "digits": _rows([f"0x{word:08x}u" for word in words]),
        "half_pi": _rows([f"0x{half >> 32 * k & 0xFFFFFFFF:08x}u" for k in (3, 2, 1, 0)]),
        "size": str(WORDS),
    }
    texts = [FAR]
    if precision == "float64":
        texts.append(DOUBLE)
        first, second, third = parts_of_half_pi(37, 37, 53)
        table |= {"shift": repr(1.5 * 2.0**52), "inverse": repr(2 / math.pi)}
        table |= {"first": repr(first), "second": repr(second), "third": repr(third)}
        table |= {"S": _horner("z", SINE[precision]), "C": _horner("z", COSINE[precision])}
    else:
        texts.append(FLOAT)
        fused = parts_of_half_pi(24, 24, 24)
        wide = parts_of_half_pi(37, 53)
        table |= {"shift": "12582912.0f", "inverse": _single(2 / math.pi)}
        names = ("first", "second", "third")
        table |= {k: _single(v) for k, v in zip(names, fused, strict=True)}
        table |= {"wide_first": repr(wide[0]), "wide_second": repr(wide[1])}
        table |= {"wide_shift": repr(1.5 * 2.0**52), "wide_inverse": repr(2 / math.pi)}
        table |= {"S": _fused("z", SINE[precision]), "C": _fused("z", COSINE[precision])}
        table |= {
            "S_wide": _horner("z", SINE[precision]),
            "C_wide": _horner("z", COSINE[precision]),
        }
    return "\n".join(Template(text).substitute(table) for text in texts)


def _rows(words: list[str]) -> str:
    rows = [", ".join(words[k : k + 6]) for k in range(0, len(words), 6)]
    return ",\n    ".join(rows)


def _horner(z: str, coefficients: tuple[float, ...]) -> str:
    text = repr(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        text = f"{coefficient!r} + {z}*({text})"
    return f"({text})"


def _single(value: float) -> str:
    return f"{value!r}f"


def _fused(z: str, coefficients: tuple[float, ...]) -> str:
    text = _single(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        text = f"__builtin_fmaf({z}, {text}, {_single(coefficient)})"
    return text


FAR = """\
typedef union {
    double value;
    uint64_t bits;
} ${name}_word;

/* The product of two whole numbers, in words of 32 bits, the highest first. */
static void ${name}_multiply(const uint32_t *a, int length_a, const uint32_t *b, int length_b,
                             uint32_t *product)
{
    int i, k;
    for (i = 0; i < length_a + length_b; ++i)
        product[i] = 0;
    for (i = length_a - 1; i >= 0; --i) {
        uint64_t carry = 0;
        for (k = length_b - 1; k >= 0; --k) {
            carry += (uint64_t)a[i]*b[k] + product[i + k + 1];
            product[i + k + 1] = (uint32_t)carry;
            carry >>= 32;
        }
        product[i] = (uint32_t)carry;
    }
}

/* A whole number below 2^53, by two halves: not every machine can convert 64 bits. */
static double ${name}_whole(uint64_t n)
{
    return (double)(uint32_t)(n >> 32)*4294967296.0 + (double)(uint32_t)n;
}

/* r - rest and the number of quarter turns, for a large angle: |x| = m 2^e. The digits of 2/pi from
   that of weight 2^(2 - e) on give |x| 2/pi without multiples of 4. */
static uint64_t ${name}_far(double x, double *r, double *rest)
{
    static const uint32_t digits[$size] = {
    $digits};
    static const uint32_t half_pi[4] = {$half_pi};
    ${name}_word given, scale;
    uint32_t window[6], mantissa[2], product[10], part[4];
    uint64_t high, low, quarter, head, tail;
    int exponent, first, shift, zeros = 0, i, is_negative;
    given.value = x;
    exponent = (int)(given.bits >> 52 & 2047u);
    if (exponent == 2047) {
        *r = x - x;
        *rest = 0.0;
        return 0;
    }
    mantissa[0] = (uint32_t)(given.bits >> 32 & 0xfffffu) | 0x100000u;
    mantissa[1] = (uint32_t)given.bits;
    first = (exponent - 1075 + 62)/32;
    shift = (exponent - 1075 + 62)%32;
    for (i = 0; i < 6; ++i) {
        const uint64_t both = (uint64_t)digits[first + i] << 32 | digits[first + i + 1];
        window[i] = (uint32_t)(both << shift >> 32);
    }
    ${name}_multiply(mantissa, 2, window, 6, product);
    high = (uint64_t)product[2] << 32 | product[3];
    low = (uint64_t)product[4] << 32 | product[5];
    quarter = (high + ((uint64_t)1 << 61)) >> 62;
    high = high << 2 | low >> 62;
    low <<= 2;
    is_negative = (int)(high >> 63);
    if (is_negative) {
        high = ~high;
        low = ~low;
    }
    low |= 1u;
    for (i = 32; i; i >>= 1)
        if (!(high >> (64 - i))) {
            high = high << i | low >> (64 - i);
            low <<= i;
            zeros += i;
        }
    part[0] = (uint32_t)(high >> 32);
    part[1] = (uint32_t)high;
    part[2] = (uint32_t)(low >> 32);
    part[3] = (uint32_t)low;
    ${name}_multiply(part, 4, half_pi, 4, product);
    high = (uint64_t)product[0] << 32 | product[1];
    low = (uint64_t)product[2] << 32 | product[3];
    head = high >> 11;
    tail = (high << 42 | low >> 22) & 0x1fffffffffffffu;
    scale.bits = (uint64_t)(1023 - 52 - zeros) << 52;
    if (is_negative != (int)(given.bits >> 63))
        scale.value = -scale.value;
    {
        const double large = ${name}_whole(head)*scale.value;
        const double small = ${name}_whole(tail)*scale.value*1.1102230246251565e-16;
        *r = large + small;
        *rest = (*r - large) - small;
    }
    return given.bits >> 63 ? (uint64_t)0 - quarter : quarter;
}
"""

DOUBLE = """\
/* Sine and cosine of r - rest, after so many quarter turns. */
static inline void ${name}_turned(double r, double rest, uint64_t turns, double *sine,
                                  double *cosine)
{
    const double z = r*r;
    const double s = r - (r*(z*$S) + rest);
    const double c = 1.0 - (z*0.5 - (z*$C*z + r*rest));
    ${name}_word first, second;
    first.value = turns & 1u ? c : s;
    second.value = turns & 1u ? s : c;
    first.bits ^= turns << 62 & 0x8000000000000000u;
    second.bits ^= (turns + 1u) << 62 & 0x8000000000000000u;
    *sine = first.value;
    *cosine = second.value;
}

#if ${NAME}_LANES > 1
typedef double ${name}_vector __attribute__((vector_size(8*${NAME}_LANES)));
typedef uint64_t ${name}_bits __attribute__((vector_size(8*${NAME}_LANES)));
#endif

/* Sines and cosines of some angles, so many that they fill vector registers. */
static ${NAME}_INSIDE void ${name}_sine(int count, const double *angle, double *sine,
                                        double *cosine)
{
    const double large = $shift;
    int i, is_far = 0;
    for (i = 0; i < count; i += ${NAME}_LANES) {
#if ${NAME}_LANES > 1
        int lane;
#if ${NAME}_LANES == 4
        const ${name}_vector x = {angle[i], angle[i + 1], angle[i + 2], angle[i + 3]};
#else
        const ${name}_vector x = {angle[i], angle[i + 1]};
#endif
        const ${name}_vector sum = x*$inverse + large;
        const ${name}_vector k = sum - large;
        const ${name}_vector before = x - k*$first;
        const ${name}_vector r = before - k*$second;
        const ${name}_vector rest = k*$third + ((r - before) + k*$second);
        const ${name}_vector z = r*r;
        const ${name}_bits s = (${name}_bits)(r - (r*(z*$S) + rest));
        const ${name}_bits c = (${name}_bits)(1.0 - (z*0.5 - (z*$C*z + r*rest)));
        const ${name}_bits turns = (${name}_bits)sum, odd = -(turns & 1u);
        const ${name}_vector first =
            (${name}_vector)(((c & odd) | (s & ~odd)) ^ (turns << 62 & 0x8000000000000000u));
        const ${name}_vector second =
            (${name}_vector)(((s & odd) | (c & ~odd)) ^ ((turns + 1u) << 62 & 0x8000000000000000u));
        const ${name}_vector size = x*x;
        for (lane = 0; lane < ${NAME}_LANES; ++lane) {
            sine[i + lane] = first[lane];
            cosine[i + lane] = second[lane];
            is_far |= !(size[lane] <= $limit);
        }
#else
        const double x = angle[i];
        ${name}_word turns;
        double k, before, r, rest;
        turns.value = x*$inverse + large;
        k = turns.value - large;
        before = x - k*$first;
        r = before - k*$second;
        rest = k*$third + ((r - before) + k*$second);
        ${name}_turned(r, rest, turns.bits, sine + i, cosine + i);
        is_far |= !(x*x <= $limit);
#endif
    }
    if (is_far) {
        for (i = 0; i < count; ++i) {
            if (!(angle[i]*angle[i] <= $limit)) {
                double r, rest;
                const uint64_t turns = ${name}_far(angle[i], &r, &rest);
                ${name}_turned(r, rest, turns, sine + i, cosine + i);
            }
        }
    }
}
"""

FLOAT = """\
typedef union {
    float value;
    uint32_t bits;
} ${name}_short_word;

/* Sine and cosine after so many quarter turns. */
static inline void ${name}_quarters(float s, float c, uint32_t turns, float *sine, float *cosine)
{
    ${name}_short_word first, second;
    first.value = turns & 1u ? c : s;
    second.value = turns & 1u ? s : c;
    first.bits ^= turns << 30 & 0x80000000u;
    second.bits ^= (turns + 1u) << 30 & 0x80000000u;
    *sine = first.value;
    *cosine = second.value;
}

static inline void ${name}_turned(double r, uint32_t turns, float *sine, float *cosine)
{
    const double z = r*r;
    /* The zero is for the sine of -0.0. */
    const double s = r - (r*(z*$S_wide) + 0.0);
    const double c = 1.0 - (z*0.5 - z*$C_wide*z);
    ${name}_quarters((float)s, (float)c, turns, sine, cosine);
}

/* Sines and cosines of some angles, side by side where the machine has vector registers. */
static ${NAME}_INSIDE void ${name}_sine(int count, const float *angle, float *sine, float *cosine)
{
    int i, is_far = 0;
${NAME}_SIDE_BY_SIDE
    for (i = 0; i < count; ++i) {
#if defined(__GNUC__) && (defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__ARM_FEATURE_FMA))
        const float x = angle[i], large = $shift;
        ${name}_short_word turns;
        float k, before, r, rest, z, s, c;
        turns.value = __builtin_fmaf(x, $inverse, large);
        k = turns.value - large;
        before = __builtin_fmaf(k, -$first, x);
        /* Fused, since this product must be rounded before it is subtracted. */
        r = before - __builtin_fmaf(k, $second, 0.0f);
        rest = __builtin_fmaf(k, $third, __builtin_fmaf(k, $second, r - before));
        z = r*r;
        s = r - __builtin_fmaf(r, z*$S, rest);
        c = __builtin_fmaf(r, __builtin_fmaf(r, __builtin_fmaf(z, $C, -0.5f), rest), 1.0f);
        ${name}_quarters(s, c, turns.bits, sine + i, cosine + i);
#else
        const double x = angle[i], large = $wide_shift;
        ${name}_word turns;
        double k, r;
        turns.value = x*$wide_inverse + large;
        k = turns.value - large;
        r = (x - k*$wide_first) - k*$wide_second;
        ${name}_turned(r, (uint32_t)turns.bits, sine + i, cosine + i);
#endif
        is_far |= !(angle[i]*angle[i] <= ${limit}f);
    }
    if (is_far) {
        for (i = 0; i < count; ++i) {
            if (!(angle[i]*angle[i] <= ${limit}f)) {
                double r, rest;
                const uint64_t turns = ${name}_far((double)angle[i], &r, &rest);
                ${name}_turned(r - rest, (uint32_t)turns, sine + i, cosine + i);
            }
        }
    }
}
"""
