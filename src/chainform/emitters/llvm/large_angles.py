"""Angles far from zero: quadrant and remainder by integer arithmetic, as LLVM text."""

from __future__ import annotations

from chainform.emitters.sine import PI_DIGITS, pi, two_over_pi

WORDS = 20
"""The words of 64 bits in the table of 2/pi, lowest first; the highest is zero."""


def reduction(element: str) -> str:
    """Return the reduction of one double or float."""
    is_double = element == "double"
    bits, fraction_bits = (64, 52) if is_double else (32, 23)
    least = (1 << bits - 2 - fraction_bits) - 1 - fraction_bits
    text = REDUCE.format(
        element=element,
        bits=bits,
        decoded=DECODED[element],
        encoded=ENCODED[element],
        fraction_bits=fraction_bits,
        least=least,
        least_negative=least + (1 << bits - 1 - fraction_bits),
        tail_share="0x3CA0000000000000" if is_double else "0x3E70000000000000",
        last=64 * (WORDS - 4) + 1077,
        half=1 << 125,
        half_pi=pi() >> PI_DIGITS - 126,
    )
    return WHOLE + text if is_double else text


def digits_table() -> str:
    """Return the digits of 2/pi that reductions need."""
    digits = two_over_pi(64 * (WORDS - 1))
    words = ", ".join(f"i64 {digits >> 64 * index & (1 << 64) - 1}" for index in range(WORDS))
    return f"@sincos.digits = internal constant [{WORDS} x i64] [{words}]\n"


FAR = """\
define internal {{{vector}, {vector}, {vector_i}}} @{name}.far(
    {vector} %x, {vector} %r.near, {vector} %rest.near, {vector_i} %q.near) noinline cold {{
start:
  br label %lane
lane:
  %i = phi i32 [0, %start], [%i.next, %next]
  %r = phi {vector} [%r.near, %start], [%r.next, %next]
  %rest = phi {vector} [%rest.near, %start], [%rest.next, %next]
  %q = phi {vector_i} [%q.near, %start], [%q.next, %next]
  %x.one = extractelement {vector} %x, i32 %i
  %size = call {element} @llvm.fabs.f{bits}({element} %x.one)
  %beyond = fcmp ugt {element} %size, {limit}
  br i1 %beyond, label %far, label %next
far:
  %one = call {{{element}, {element}, i{bits}}} @sincos.reduce.{element}({element} %x.one)
  %r.one = extractvalue {{{element}, {element}, i{bits}}} %one, 0
  %rest.one = extractvalue {{{element}, {element}, i{bits}}} %one, 1
  %q.one = extractvalue {{{element}, {element}, i{bits}}} %one, 2
  %r.far = insertelement {vector} %r, {element} %r.one, i32 %i
  %rest.far = insertelement {vector} %rest, {element} %rest.one, i32 %i
  %q.far = insertelement {vector_i} %q, i{bits} %q.one, i32 %i
  br label %next
next:
  %r.next = phi {vector} [%r, %lane], [%r.far, %far]
  %rest.next = phi {vector} [%rest, %lane], [%rest.far, %far]
  %q.next = phi {vector_i} [%q, %lane], [%q.far, %far]
  %i.next = add i32 %i, 1
  %more = icmp ult i32 %i.next, {lanes}
  br i1 %more, label %lane, label %done
done:
  %s.0 = insertvalue {{{vector}, {vector}, {vector_i}}} poison, {vector} %r.next, 0
  %s.1 = insertvalue {{{vector}, {vector}, {vector_i}}} %s.0, {vector} %rest.next, 1
  %s.2 = insertvalue {{{vector}, {vector}, {vector_i}}} %s.1, {vector_i} %q.next, 2
  ret {{{vector}, {vector}, {vector_i}}} %s.2
}}
"""
# |x| = m 2^e. The digits of 2/pi from that of weight 2^(1 - e) on give |x| 2/pi without multiples
# of 4, in `turns`, with 126 binary places. Without its first two digits it is a signed fraction of
# a quarter turn; its digits from the first that is not zero, times pi/2, give r and its correction.
# The table is read as one long integer, lowest word first, as all our machines store integers. No
# function of a library is needed on any of them, and for floats no double.
REDUCE = """\
define internal {{{element}, {element}, i{bits}}}
    @sincos.reduce.{element}({element} %x) noinline cold {{
  %given = bitcast {element} %x to i{bits}
  %x.negative = icmp slt i{bits} %given, 0
{decoded}
  %last = sub i64 {last}, %exponent
  %place = lshr i64 %last, 6
  %at = getelementptr i64, ptr @sincos.digits, i64 %place
  %words = load i256, ptr %at, align 8
  %shift = and i64 %last, 63
  %shift.long = zext i64 %shift to i256
  %shifted = lshr i256 %words, %shift.long
  %window = trunc i256 %shifted to i192
  %m.long = zext i64 %m to i192
  %product = mul i192 %window, %m.long
  %product.up = lshr i192 %product, 64
  %turns = trunc i192 %product.up to i128
  %rounded = add i128 %turns, {half}
  %q.long = lshr i128 %rounded, 126
  %q.size = trunc i128 %q.long to i{bits}
  %q.minus = sub i{bits} 0, %q.size
  %q = select i1 %x.negative, i{bits} %q.minus, i{bits} %q.size
  %part = shl i128 %turns, 2
  %part.negative = icmp slt i128 %part, 0
  %part.minus = sub i128 0, %part
  %part.size = select i1 %part.negative, i128 %part.minus, i128 %part
  %part.some = or i128 %part.size, 1
  %zeros.long = call i128 @llvm.ctlz.i128(i128 %part.some, i1 true)
  %zeros = trunc i128 %zeros.long to i{bits}
  %part.full = shl i128 %part.some, %zeros.long
  %part.long = zext i128 %part.full to i256
  %angle = mul i256 %part.long, {half_pi}
{encoded}
  %negative = xor i1 %x.negative, %part.negative
  %scale.one = select i1 %negative, i{bits} {least_negative}, i{bits} {least}
  %scale.exponent = sub i{bits} %scale.one, %zeros
  %scale.bits = shl i{bits} %scale.exponent, {fraction_bits}
  %scale = bitcast i{bits} %scale.bits to {element}
  %scale.tail = fmul {element} %scale, {tail_share}
  %head = fmul {element} %head.size, %scale
  %tail = fmul {element} %tail.size, %scale.tail
  %r.finite = fadd {element} %head, %tail
  %gone = fsub {element} %r.finite, %head
  %rest = fsub {element} %gone, %tail
  %no.number = fsub {element} %x, %x
  %r = select i1 %is.finite, {element} %r.finite, {element} %no.number
  %s.0 = insertvalue {{{element}, {element}, i{bits}}} poison, {element} %r, 0
  %s.1 = insertvalue {{{element}, {element}, i{bits}}} %s.0, {element} %rest, 1
  %s.2 = insertvalue {{{element}, {element}, i{bits}}} %s.1, i{bits} %q, 2
  ret {{{element}, {element}, i{bits}}} %s.2
}}
"""
DECODED = {
    "double": """\
  %exponent.up = lshr i64 %given, 52
  %exponent = and i64 %exponent.up, 2047
  %is.finite = icmp ne i64 %exponent, 2047
  %fraction = and i64 %given, 4503599627370495
  %m = or i64 %fraction, 4503599627370496""",
    "float": """\
  %exponent.up = lshr i32 %given, 23
  %exponent.short = and i32 %exponent.up, 255
  %is.finite = icmp ne i32 %exponent.short, 255
  %exponent.long = zext i32 %exponent.short to i64
  %exponent = add i64 %exponent.long, 896
  %fraction = and i32 %given, 8388607
  %m.short = or i32 %fraction, 8388608
  %m.wide = zext i32 %m.short to i64
  %m = shl i64 %m.wide, 29""",
}
"""Exponent and digits of x, those of a float as those of a double."""
ENCODED = {
    "double": """\
  %head.up = lshr i256 %angle, 203
  %head.whole = trunc i256 %head.up to i64
  %tail.up = lshr i256 %angle, 150
  %tail.more = trunc i256 %tail.up to i64
  %tail.whole = and i64 %tail.more, 9007199254740991
  %head.size = call double @sincos.whole(i64 %head.whole)
  %tail.size = call double @sincos.whole(i64 %tail.whole)""",
    "float": """\
  %head.up = lshr i256 %angle, 232
  %head.whole = trunc i256 %head.up to i32
  %tail.up = lshr i256 %angle, 208
  %tail.more = trunc i256 %tail.up to i32
  %tail.whole = and i32 %tail.more, 16777215
  %head.size = sitofp i32 %head.whole to float
  %tail.size = sitofp i32 %tail.whole to float""",
}
"""The first digits of the angle, and those after them, as numbers."""
WHOLE = """\
define internal double @sincos.whole(i64 %n) {
  %high.long = lshr i64 %n, 32
  %high.whole = trunc i64 %high.long to i32
  %low.whole = trunc i64 %n to i32
  %high = uitofp i32 %high.whole to double
  %low = uitofp i32 %low.whole to double
  %high.up = fmul double %high, 4294967296.0
  %sum = fadd double %high.up, %low
  ret double %sum
}
"""
"""A whole number below 2^53 as a double, without a library where registers have 32 bits."""
