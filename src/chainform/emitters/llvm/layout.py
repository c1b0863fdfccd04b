"""Between arrays of any layout and lanes: several states are brought side by side, and back.

States whose numbers stand one after the other (natural order) are transposed in registers. Where
the states themselves stand side by side nothing is moved. Everything else goes number by number.
"""

from __future__ import annotations

from chainform.emitters.llvm.body import NumberType


def layout(form: NumberType) -> tuple[str, frozenset[str]]:
    """Return the functions that move numbers for a form, and the declarations they need."""
    mask = f"<{form.lanes} x i1>"
    declared = {
        f"declare {form.type} @llvm.masked.load.{form.suffix}.p0(ptr, i32, {mask}, {form.type})",
        f"declare void @llvm.masked.store.{form.suffix}.p0({form.type}, ptr, i32, {mask})",
        "declare i64 @llvm.umin.i64(i64, i64)",
    }
    text = _rows(form, is_in=True) + _rows(form, is_in=False) + _ANY + _CHOICE
    words = {"T": form.scalar, "SIZE": str(form.bytes), "LANES": str(form.lanes)}
    words["VECTOR"] = str(form.bytes * form.lanes)
    for word, meaning in words.items():
        text = text.replace(f"${word}$", meaning)
    return text, frozenset(declared)


def _rows(form: NumberType, *, is_in: bool) -> str:
    """Return the function that turns rows of states into lanes of entries, or back."""
    name = "rows.in" if is_in else "rows.out"
    lines = [
        f"define internal void @{name}(ptr %rows, i64 %state, i64 %n, ptr %buffer) #0 {{",
        "entry:",
        "  br label %next",
        "next:",
        "  %first = phi i64 [0, %entry], [%after, %full], [%after, %part]",
        "  %more = icmp ult i64 %first, %n",
        "  br i1 %more, label %tile, label %done",
        "tile:",
        "  %after = add i64 %first, $LANES$",
        "  %offset = mul i64 %first, $SIZE$",
        "  %corner = getelementptr i8, ptr %rows, i64 %offset",
        "  %place = mul i64 %first, $VECTOR$",
        "  %entries = getelementptr i8, ptr %buffer, i64 %place",
        "  %whole = icmp ule i64 %after, %n",
        "  br i1 %whole, label %full, label %part",
        "full:",
        *_tile(form, "f", is_in=is_in, masked=False),
        "  br label %next",
        "part:",
        "  %left = sub i64 %n, %first",
        *_mask(form),
        *_tile(form, "p", is_in=is_in, masked=True),
        "  br label %next",
        "done:",
        "  ret void",
        "}",
    ]
    return "\n".join(lines) + "\n\n"


def _mask(form: NumberType) -> list[str]:
    lanes = ", ".join(f"i64 {lane}" for lane in range(form.lanes))
    wide = f"<{form.lanes} x i64>"
    zeros = ", ".join(["i32 0"] * form.lanes)
    return [
        f"  %one = insertelement {wide} poison, i64 %left, i32 0",
        f"  %all = shufflevector {wide} %one, {wide} poison, <{form.lanes} x i32> <{zeros}>",
        f"  %mask = icmp ult {wide} <{lanes}>, %all",
    ]


def _tile(form: NumberType, mark: str, *, is_in: bool, masked: bool) -> list[str]:
    """Move a square of numbers: as many entries as states."""
    lines: list[str] = []
    kind, count = form.type, form.lanes
    values = [f"%{mark}v{row}" for row in range(count)]
    for row in range(count):
        lines += _row_address(mark, row)
        offset = row * count * form.bytes
        lines.append(f"  %{mark}b{row} = getelementptr i8, ptr %entries, i64 {offset}")
        source = f"%{mark}a{row}" if is_in else f"%{mark}b{row}"
        if is_in and masked:
            lines.append(
                f"  {values[row]} = call {kind} @llvm.masked.load.{form.suffix}.p0("
                f"ptr {source}, i32 {form.bytes}, <{count} x i1> %mask, {kind} zeroinitializer)"
            )
        else:
            lines.append(f"  {values[row]} = load {kind}, ptr {source}, align {form.bytes}")
    values = _transposed(form, mark, values, lines)
    for row in range(count):
        target = f"%{mark}b{row}" if is_in else f"%{mark}a{row}"
        if masked and not is_in:
            lines.append(
                f"  call void @llvm.masked.store.{form.suffix}.p0({kind} {values[row]}, "
                f"ptr {target}, i32 {form.bytes}, <{count} x i1> %mask)"
            )
        else:
            lines.append(f"  store {kind} {values[row]}, ptr {target}, align {form.bytes}")
    return lines


def _row_address(mark: str, row: int) -> list[str]:
    return [
        f"  %{mark}o{row} = mul i64 %state, {row}",
        f"  %{mark}a{row} = getelementptr i8, ptr %corner, i64 %{mark}o{row}",
    ]


def _transposed(form: NumberType, mark: str, values: list[str], lines: list[str]) -> list[str]:
    """Transpose a square by exchanging blocks of 1, 2, 4, ... entries."""
    count, kind = form.lanes, form.type
    size = 1
    while size < count:
        result = list(values)
        for row in range(count):
            if row & size:
                continue
            a, b = values[row], values[row + size]
            low = [j if not j & size else count + j - size for j in range(count)]
            high = [j + size if not j & size else count + j for j in range(count)]
            for target, picks in ((row, low), (row + size, high)):
                name = f"%{mark}x{size}_{target}"
                mask = ", ".join(f"i32 {j}" for j in picks)
                lines.append(
                    f"  {name} = shufflevector {kind} {a}, {kind} {b}, <{count} x i32> <{mask}>"
                )
                result[target] = name
        values = result
        size *= 2
    return values


_ANY = """\
define internal void @any.in(
    ptr %array, i64 %state, i64 %entry, i64 %n, i64 %valid, ptr %buffer) #1 {
start:
  %last = sub i64 %valid, 1
  %total = mul i64 %n, $LANES$
  br label %next
next:
  %k = phi i64 [0, %start], [%k1, %move]
  %more = icmp ult i64 %k, %total
  br i1 %more, label %move, label %done
move:
  %e = udiv i64 %k, $LANES$
  %lane = urem i64 %k, $LANES$
  %s = call i64 @llvm.umin.i64(i64 %lane, i64 %last)
  %so = mul i64 %s, %state
  %eo = mul i64 %e, %entry
  %o = add i64 %so, %eo
  %from = getelementptr i8, ptr %array, i64 %o
  %x = load $T$, ptr %from, align 1
  %to = getelementptr $T$, ptr %buffer, i64 %k
  store $T$ %x, ptr %to, align $SIZE$
  %k1 = add i64 %k, 1
  br label %next
done:
  ret void
}

define internal void @any.out(
    ptr %array, i64 %state, i64 %entry, i64 %n, i64 %valid, ptr %buffer) #1 {
start:
  %total = mul i64 %n, $LANES$
  br label %next
next:
  %k = phi i64 [0, %start], [%k1, %after]
  %more = icmp ult i64 %k, %total
  br i1 %more, label %look, label %done
look:
  %e = udiv i64 %k, $LANES$
  %lane = urem i64 %k, $LANES$
  %used = icmp ult i64 %lane, %valid
  br i1 %used, label %move, label %after
move:
  %so = mul i64 %lane, %state
  %eo = mul i64 %e, %entry
  %o = add i64 %so, %eo
  %to = getelementptr i8, ptr %array, i64 %o
  %from = getelementptr $T$, ptr %buffer, i64 %k
  %x = load $T$, ptr %from, align $SIZE$
  store $T$ %x, ptr %to, align 1
  br label %after
after:
  %k1 = add i64 %k, 1
  br label %next
done:
  ret void
}

"""

_CHOICE = """\
define internal {ptr, i64} @fetch(
    ptr %array, i64 %state, i64 %entry, i64 %n, i64 %valid, ptr %buffer) #0 {
  %whole = icmp eq i64 %valid, $LANES$
  %adjacent = icmp eq i64 %state, $SIZE$
  %direct = and i1 %whole, %adjacent
  br i1 %direct, label %there, label %moved
there:
  %a = insertvalue {ptr, i64} poison, ptr %array, 0
  %b = insertvalue {ptr, i64} %a, i64 %entry, 1
  ret {ptr, i64} %b
moved:
  %row = icmp eq i64 %entry, $SIZE$
  %rows = and i1 %whole, %row
  br i1 %rows, label %natural, label %any
natural:
  call void @rows.in(ptr %array, i64 %state, i64 %n, ptr %buffer)
  br label %end
any:
  call void @any.in(ptr %array, i64 %state, i64 %entry, i64 %n, i64 %valid, ptr %buffer)
  br label %end
end:
  %c = insertvalue {ptr, i64} poison, ptr %buffer, 0
  %d = insertvalue {ptr, i64} %c, i64 $VECTOR$, 1
  ret {ptr, i64} %d
}

define internal {ptr, i64} @aim(ptr %array, i64 %state, i64 %entry, i64 %valid, ptr %buffer) #0 {
  %whole = icmp eq i64 %valid, $LANES$
  %adjacent = icmp eq i64 %state, $SIZE$
  %direct = and i1 %whole, %adjacent
  %p = select i1 %direct, ptr %array, ptr %buffer
  %e = select i1 %direct, i64 %entry, i64 $VECTOR$
  %a = insertvalue {ptr, i64} poison, ptr %p, 0
  %b = insertvalue {ptr, i64} %a, i64 %e, 1
  ret {ptr, i64} %b
}

define internal void @deliver(
    ptr %array, i64 %state, i64 %entry, i64 %n, i64 %valid, ptr %buffer, ptr %used) #0 {
  %direct = icmp ne ptr %used, %buffer
  br i1 %direct, label %done, label %moved
moved:
  %whole = icmp eq i64 %valid, $LANES$
  %row = icmp eq i64 %entry, $SIZE$
  %rows = and i1 %whole, %row
  br i1 %rows, label %natural, label %any
natural:
  call void @rows.out(ptr %array, i64 %state, i64 %n, ptr %buffer)
  br label %done
any:
  call void @any.out(ptr %array, i64 %state, i64 %entry, i64 %n, i64 %valid, ptr %buffer)
  br label %done
done:
  ret void
}

"""
