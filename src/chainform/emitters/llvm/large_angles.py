"""Angles far from zero: quadrant and remainder by integer arithmetic, as LLVM text."""

from __future__ import annotations

from chainform.emitters.sine import PI_DIGITS, pi, two_over_pi

WORDS = 20
"""The words of 64 bits in the table of 2/pi, lowest first; the highest is zero."""


def reduce_double() -> str:
    """Return the reduction of one number, with the digits of 2/pi that it needs."""
    digits = two_over_pi(64 * (WORDS - 1))
    words = [digits >> 64 * index & (1 << 64) - 1 for index in range(WORDS)]
    return REDUCE_DOUBLE.format(
        size=WORDS,
        words=", ".join(f"i64 {word}" for word in words),
        last=64 * (WORDS - 4) + 1077,
        half=1 << 125,
        half_pi=pi() >> PI_DIGITS - 126,
    )


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
# The table is read as one long integer, lowest word first, as all our machines store integers.
REDUCE_DOUBLE = """\
@sincos.digits = internal constant [{size} x i64] [{words}]
define internal {{double, double, i64}} @sincos.reduce.double(double %x) noinline cold {{
  %bits = bitcast double %x to i64
  %x.negative = icmp slt i64 %bits, 0
  %exponent.up = lshr i64 %bits, 52
  %exponent = and i64 %exponent.up, 2047
  %fraction = and i64 %bits, 4503599627370495
  %m = or i64 %fraction, 4503599627370496
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
  %q.size = trunc i128 %q.long to i64
  %q.minus = sub i64 0, %q.size
  %q = select i1 %x.negative, i64 %q.minus, i64 %q.size
  %part = shl i128 %turns, 2
  %part.negative = icmp slt i128 %part, 0
  %part.minus = sub i128 0, %part
  %part.size = select i1 %part.negative, i128 %part.minus, i128 %part
  %part.some = or i128 %part.size, 1
  %zeros.long = call i128 @llvm.ctlz.i128(i128 %part.some, i1 true)
  %zeros = trunc i128 %zeros.long to i64
  %part.full = shl i128 %part.some, %zeros.long
  %part.long = zext i128 %part.full to i256
  %angle = mul i256 %part.long, {half_pi}
  %head.up = lshr i256 %angle, 203
  %head.whole = trunc i256 %head.up to i64
  %head.size = sitofp i64 %head.whole to double
  %tail.up = lshr i256 %angle, 150
  %tail.more = trunc i256 %tail.up to i64
  %tail.whole = and i64 %tail.more, 9007199254740991
  %tail.size = sitofp i64 %tail.whole to double
  %negative = xor i1 %x.negative, %part.negative
  %scale.one = select i1 %negative, i64 3019, i64 971
  %scale.exponent = sub i64 %scale.one, %zeros
  %scale.bits = shl i64 %scale.exponent, 52
  %scale = bitcast i64 %scale.bits to double
  %scale.tail = fmul double %scale, 0x3CA0000000000000
  %head = fmul double %head.size, %scale
  %tail = fmul double %tail.size, %scale.tail
  %r.finite = fadd double %head, %tail
  %gone = fsub double %r.finite, %head
  %rest = fsub double %gone, %tail
  %is.finite = icmp ne i64 %exponent, 2047
  %no.number = fsub double %x, %x
  %r = select i1 %is.finite, double %r.finite, double %no.number
  %s.0 = insertvalue {{double, double, i64}} poison, double %r, 0
  %s.1 = insertvalue {{double, double, i64}} %s.0, double %rest, 1
  %s.2 = insertvalue {{double, double, i64}} %s.1, i64 %q, 2
  ret {{double, double, i64}} %s.2
}}
"""
REDUCE_FLOAT = """\
define internal {float, float, i32} @sincos.reduce.float(float %x) noinline cold {
  %x.long = fpext float %x to double
  %long = call {double, double, i64} @sincos.reduce.double(double %x.long)
  %r.long = extractvalue {double, double, i64} %long, 0
  %rest.long = extractvalue {double, double, i64} %long, 1
  %q.long = extractvalue {double, double, i64} %long, 2
  %r = fptrunc double %r.long to float
  %r.back = fpext float %r to double
  %gone = fsub double %r.back, %r.long
  %rest.sum = fadd double %gone, %rest.long
  %rest = fptrunc double %rest.sum to float
  %q = trunc i64 %q.long to i32
  %s.0 = insertvalue {float, float, i32} poison, float %r, 0
  %s.1 = insertvalue {float, float, i32} %s.0, float %rest, 1
  %s.2 = insertvalue {float, float, i32} %s.1, i32 %q, 2
  ret {float, float, i32} %s.2
}
"""
