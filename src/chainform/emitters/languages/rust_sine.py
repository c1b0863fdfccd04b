"""Sine and cosine in Rust, as in C (c/sine_text.py), without any library.

In single precision the work is done in doubles. Beyond 1e5 the digits of 2/pi that matter are
multiplied as whole numbers.
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

WORDS = 20
"""The words of 64 bits in the table of 2/pi, highest first; the first is zero."""


def sine_text(precision: str) -> str:
    """Return the functions `sines`, `sine_of` and `cosine_of`, and what they need."""
    digits = two_over_pi(64 * (WORDS - 1))
    words = [f"0x{digits >> 64 * k & (1 << 64) - 1:016x}" for k in reversed(range(WORDS))]
    rows = [", ".join(words[k : k + 4]) for k in range(0, WORDS, 4)]
    first, second, third = parts_of_half_pi(37, 37, 53)
    wide_first, wide_second = parts_of_half_pi(37, 53)
    table = {
        "size": str(WORDS),
        "digits": ",\n        ".join(rows),
        "half_pi": f"0x{pi() >> PI_DIGITS - 126:032x}",
        "limit": repr(LIMIT * LIMIT),
        "shift": repr(1.5 * 2.0**52),
        "inverse": repr(2 / math.pi),
        "S": _horner(SINE[precision]),
        "C": _horner(COSINE[precision]),
        "first": repr(first),
        "second": repr(second),
        "third": repr(third),
        "wide_first": repr(wide_first),
        "wide_second": repr(wide_second),
    }
    texts = [FAR, DOUBLE if precision == "float64" else SINGLE]
    return "\n".join(Template(text).substitute(table) for text in texts)


def _horner(coefficients: tuple[float, ...]) -> str:
    text = repr(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        text = f"{coefficient!r} + z*({text})"
    return f"({text})"


FAR = """\
/// Returns r, rest and a number of quarter turns: a large angle is r - rest beyond them.
///
/// |x| = m 2^e: the digits of 2/pi from that of weight 2^(2 - e) on give |x| 2/pi without
/// multiples of 4.
#[cold]
fn far(x: f64) -> (f64, f64, u64) {
    const DIGITS: [u64; $size] = [
        $digits,
    ];
    const HALF_PI: u128 = $half_pi;
    let bits = x.to_bits();
    let exponent = (bits >> 52) & 2047;
    if exponent == 2047 {
        return (f64::NAN, 0.0, 0);
    }
    let mantissa = (bits & 0xf_ffff_ffff_ffff) | 0x10_0000_0000_0000;
    let place = exponent as usize + 62 - 1075;
    let window = |k: usize| {
        let both = (DIGITS[place/64 + k] as u128) << 64 | DIGITS[place/64 + k + 1] as u128;
        (both << (place%64) >> 64) as u64
    };
    let product = (mantissa as u128*window(1) as u128)
        .wrapping_add((mantissa.wrapping_mul(window(0)) as u128) << 64)
        .wrapping_add((mantissa as u128*window(2) as u128) >> 64);
    let quarter = (product.wrapping_add(1 << 125) >> 126) as u64;
    let part = product << 2;
    let is_negative = part >> 127 != 0;
    let part = (if is_negative { !part } else { part }) | 1;
    let zeros = part.leading_zeros();
    let part = part << zeros;
    let low = u64::MAX as u128;
    let turned = (part >> 64)*(HALF_PI >> 64)
        + ((part >> 64)*(HALF_PI & low) >> 64)
        + ((part & low)*(HALF_PI >> 64) >> 64);
    let size = f64::from_bits((1023 - 52 - zeros as u64) << 52);
    let scale = if is_negative == (bits >> 63 != 0) { size } else { -size };
    let large = (turned >> 75) as f64*scale;
    let small = ((turned >> 22) & 0x1f_ffff_ffff_ffff) as f64*scale*1.1102230246251565e-16;
    let r = large + small;
    let rest = (r - large) - small;
    (r, rest, if bits >> 63 != 0 { quarter.wrapping_neg() } else { quarter })
}
"""
DOUBLE = """\
/// Sine and cosine of r - rest, after so many quarter turns.
#[inline(always)]
fn turned(r: f64, rest: f64, turns: u64) -> (f64, f64) {
    let z = r*r;
    let s = (r - (r*(z*$S) + rest)).to_bits();
    let c = (1.0 - (z*0.5 - (z*$C*z + r*rest))).to_bits();
    let odd = (turns & 1).wrapping_neg();
    let first = ((c & odd) | (s & !odd)) ^ ((turns << 62) & (1 << 63));
    let second = ((s & odd) | (c & !odd)) ^ ((turns.wrapping_add(1) << 62) & (1 << 63));
    (f64::from_bits(first), f64::from_bits(second))
}

/// Sines and cosines of some angles: x = k pi/2 + r - rest, with pi/2 in three parts.
#[inline(always)]
fn sines<const N: usize>(angle: &[f64; N]) -> ([f64; N], [f64; N]) {
    let (mut sine, mut cosine, mut is_far) = ([0.0; N], [0.0; N], false);
    for i in 0..N {
        let x = angle[i];
        let sum = x*$inverse + $shift;
        let k = sum - $shift;
        let before = x - k*$first;
        let r = before - k*$second;
        let rest = k*$third + ((r - before) + k*$second);
        (sine[i], cosine[i]) = turned(r, rest, sum.to_bits());
        is_far |= !(x*x <= $limit);
    }
    if is_far {
        for i in 0..N {
            if !(angle[i]*angle[i] <= $limit) {
                let (r, rest, turns) = far(angle[i]);
                (sine[i], cosine[i]) = turned(r, rest, turns);
            }
        }
    }
    (sine, cosine)
}
"""
SINGLE = """\
/// Sine and cosine of r, after so many quarter turns.
#[inline(always)]
fn turned(r: f64, turns: u64) -> (f32, f32) {
    let z = r*r;
    // The sum with zero keeps the sign of a zero.
    let s = ((r - (r*(z*$S) + 0.0)) as f32).to_bits();
    let c = ((1.0 - (z*0.5 - z*$C*z)) as f32).to_bits();
    let turns = turns as u32;
    let odd = (turns & 1).wrapping_neg();
    let first = ((c & odd) | (s & !odd)) ^ ((turns << 30) & (1 << 31));
    let second = ((s & odd) | (c & !odd)) ^ ((turns.wrapping_add(1) << 30) & (1 << 31));
    (f32::from_bits(first), f32::from_bits(second))
}

/// Sines and cosines of some angles: x = k pi/2 + r, with pi/2 in two parts.
#[inline(always)]
fn sines<const N: usize>(angle: &[f32; N]) -> ([f32; N], [f32; N]) {
    let (mut sine, mut cosine, mut is_far) = ([0.0; N], [0.0; N], false);
    for i in 0..N {
        let x = angle[i] as f64;
        let sum = x*$inverse + $shift;
        let k = sum - $shift;
        let r = (x - k*$wide_first) - k*$wide_second;
        (sine[i], cosine[i]) = turned(r, sum.to_bits());
        is_far |= !(x*x <= $limit);
    }
    if is_far {
        for i in 0..N {
            let x = angle[i] as f64;
            if !(x*x <= $limit) {
                let (r, rest, turns) = far(x);
                (sine[i], cosine[i]) = turned(r - rest, turns);
            }
        }
    }
    (sine, cosine)
}
"""
