"""Rust: a library without the standard one, on arrays of fixed sizes.

arm.rs          the functions
example.rs      a call of each function
test.rs         results at some states, compared with those that were computed at export
Cargo.toml      `cargo test`, `cargo run --example example`
Makefile        `make test`, `make example`, by rustc alone
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from string import Template

from chainform.emitters.infix import (
    FunctionWriter,
    Syntax,
    decimal,
    function_names,
    result_names,
    safe_names,
    single_decimal,
)
from chainform.emitters.languages.rust_sine import sine_text
from chainform.emitters.package import Function, Package, argument_name, facts, label
from chainform.emitters.signature import ResultArray
from chainform.graph import CALLS

LAYOUT = "Matrices are arrays of rows, H[i][j]; indices count from 0."
PATTERN = ("row_starts", "columns")
WORDS = """
abs acos alloc as asin async atan await become box break const continue core cos cosine_of crate do
dyn else enum exp extern false far final fn for if impl in let library log loop macro match mod move
mut override priv proc_macro pub ref reciprocal return self Self sign sin sine_of sines sqrt static
std struct super tan test trait true try turned type typeof union unsafe unsized use virtual where
while yield None Some Ok Err abstract sine cosine
"""
HEAD = """\
#![no_std]
#![allow(non_snake_case, unused_parens)]
#![allow(clippy::approx_constant, clippy::excessive_precision, clippy::needless_range_loop)]
#![allow(clippy::neg_cmp_op_on_partial_ord, clippy::precedence, clippy::too_many_arguments)]
#![allow(clippy::many_single_char_names, clippy::similar_names, clippy::let_and_return)]
"""
OWN = {
    "abs": """\
#[inline]
fn abs(x: $real) -> $real {
    $real::from_bits(x.to_bits() & !(1 << $sign_bit))
}
""",
    "sign": """\
#[inline]
fn sign(x: $real) -> $real {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        x
    }
}
""",
    "sine_of": """\
#[inline]
fn sine_of(x: $real) -> $real {
    sines(&[x]).0[0]
}
""",
    "cosine_of": """\
#[inline]
fn cosine_of(x: $real) -> $real {
    sines(&[x]).1[0]
}
""",
}
OF_LIBRARY = """\
#[inline]
fn $name(x: $real) -> $real {
    // SAFETY: a function of the C library that takes and gives a number.
    unsafe { library::$name$end(x) }
}
"""


def emit(package: Package) -> dict[str, str]:
    """Return the files of a folder, the source first."""
    library = _Library(package)
    return {
        f"{package.name}.rs": library.text(),
        "example.rs": library.example(),
        "test.rs": library.test(),
        "Cargo.toml": CARGO.replace("NAME", package.name),
        "Makefile": MAKEFILE.replace("NAME", package.name),
    }


def _syntax(package: Package) -> Syntax:
    plain = single_decimal if package.is_single else decimal

    def number(value: Fraction) -> str:
        return plain(value)

    calls = {"reciprocal": "1.0/{0}"}
    if package.sine == "own":
        calls |= {"sin": "sine_of({0})", "cos": "cosine_of({0})"}
    return Syntax(
        frozenset(WORDS.split()),
        number,
        calls,
        define="let {name} = {value};",
        change="{name} {sign}= {value};",
        change_from="let mut {name} = {value};",
        store="{place} = {value};",
        between_indices="][",
        scalar="*{array}",
    )


class _Writer(FunctionWriter):
    """The statements of a function."""

    def sine_call(self) -> list[str]:
        if not self.has_own_sine:
            return []
        listed = ", ".join(self.formulas.name(v) for v in self.schedule.angles)
        calls = {self.definitions.calls[v] for v in self.schedule.of_angles if v in self.used}
        sine, cosine = ("sine" if "sin" in calls else "_"), ("cosine" if "cos" in calls else "_")
        return [f"let ({sine}, {cosine}) = sines(&[{listed}]);"]


class _Library:
    """The functions of a package, and the programs that go with them."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.syntax = _syntax(package)
        self.names = function_names(package, self.syntax, "Rust")
        self.constants = [f"{self.names[n]}_{w}".upper() for n in package.patterns for w in PATTERN]
        self.taken = list(self.names.values())
        self.real = "f32" if package.is_single else "f64"

    def text(self) -> str:
        """Return the library."""
        package = self.package
        texts = [text for f in package.functions for text in self._function(f)]
        body = "\n".join(texts)
        called = [name for name in CALLS[1:] if f" {name}(" in body and name not in OWN]
        about = facts(package, LAYOUT)
        if called:
            names = ", ".join(called)
            about += ["", f"Taken from the C library, which is linked to the program: {names}."]
        parts = ["\n".join(["//! ```text", *_comment(about, "//!"), "//! ```", HEAD])]
        if "sines(&[" in body or "sine_of(" in body:
            parts.append(sine_text(package.precision))
        words = {"real": self.real, "sign_bit": "31" if package.is_single else "63"}
        words["end"] = "f" if package.is_single else ""
        parts += [Template(t).substitute(words) for name, t in OWN.items() if f" {name}(" in body]
        if called:
            declared = [
                f"        pub fn {n}{words['end']}(x: {self.real}) -> {self.real};" for n in called
            ]
            parts.append("\n".join(['mod library {\n    extern "C" {', *declared, "    }\n}", ""]))
        parts += [Template(OF_LIBRARY).substitute(words, name=n) for n in called]
        return "\n".join([*parts, *self._patterns(), body])

    def _patterns(self) -> list[str]:
        texts: list[str] = []
        for name, pattern in self.package.patterns.items():
            numbers_of = zip(PATTERN, (pattern.row_starts, pattern.columns), strict=True)
            for word, numbers in numbers_of:
                about = f"/// `{name}`: {word} of the entries that are not always zero, by rows."
                constant = f"{self.names[name]}_{word}".upper()
                listed = ", ".join(map(str, numbers))
                value = f"pub const {constant}: [usize; {len(numbers)}] = [{listed}];"
                texts.append("\n".join([about, *self.syntax.lines(value, ""), ""]))
        return texts

    def _type(self, shape: Sequence[int]) -> str:
        text = self.real
        for size in reversed(shape):
            text = f"[{text}; {size}]"
        return text

    def _function(self, function: Function) -> list[str]:
        """Return the texts of a function: itself, then its parts."""
        own = self.package.sine == "own"
        writer = _Writer(self.package, function, self.syntax, self.constants, has_own_sine=own)
        name = self.names[function.name]
        inputs = {
            a.group: f"{argument_name(a.group)}: &{self._type([a.length])}"
            for a in function.signature.arguments
        }
        results = [
            f"{n}: &mut {self._type(r.shape)}"
            for n, r in zip(writer.results, function.signature.results, strict=True)
        ]
        listed = ", ".join(f"`{n}`" for n in writer.results)
        about = [f"/// Computes {listed}.", "///", "/// ```text"]
        about += [*_comment(function.about, "///"), "/// ```"]
        lines = [*about, *_head(f"pub fn {name}", [*inputs.values(), *results])]
        lines += [f"    let _ = {n};" for n in writer.idle()]
        if writer.count == 1:
            return ["\n".join([*lines, *writer.body(0), "}", ""])]
        size = writer.schedule.work
        lines.append(f"    let mut work = [0.0; {size}];")
        parts: list[str] = []
        names = [f"{name}_part{k + 1}" for k in range(writer.count)]
        names = list(safe_names(names, self.syntax, self.taken).values())
        self.taken += names
        for number, part in enumerate(names):
            groups, stored = writer.touched(number)
            called = [*map(argument_name, groups), *(writer.results[r] for r in stored)]
            lines += self.syntax.lines(f"{part}({', '.join([*called, '&mut work'])});")
            given = [*(inputs[g] for g in groups), *(results[r] for r in stored)]
            head = _head(f"fn {part}", [*given, f"work: &mut {self._type([size])}"])
            text = ["#[inline(never)]", *head, *writer.body(number), "}", ""]
            parts.append("\n".join(text))
        return ["\n".join([*lines, "}", ""]), *parts]

    # --- programs ---------------------------------------------------------------------------------

    def example(self) -> str:
        """Return a program that calls each function at one state."""
        package = self.package
        lines: list[str] = []
        for group, length in package.groups.items():
            values = package.cases[0].inputs[group] if package.cases else [0.0] * length
            name = argument_name(group)
            lines += self._numbers(f"let {name}: {self._type([length])} = ", values, ";", 1)
        for function in package.functions:
            given = [f"&{argument_name(a.group)}" for a in function.signature.arguments]
            names = result_names(function, self.syntax, self.constants)
            pairs = list(zip(names, function.signature.results, strict=True))
            called = [f"let mut {n} = {_zeros(r)};" for n, r in pairs]
            lines += ["    {", *(f"        {each}" for each in called)]
            call = ", ".join([*given, *(f"&mut {n}" for n, _ in pairs)])
            text = f"{package.name}::{self.names[function.name]}({call});"
            lines += self.syntax.lines(text, " " * 8)
            shown = [
                f'println!("{label(function, k)}: {{:?}}", {n});' for k, (n, _) in enumerate(pairs)
            ]
            lines += [*(f"        {each}" for each in shown), "    }"]
        words = {"name": package.name, "calls": "\n".join(lines)}
        return Template(EXAMPLE).substitute(words)

    def test(self) -> str:
        """Return a program that compares each function at all cases."""
        package, count = self.package, len(self.package.cases)
        lines: list[str] = []
        lengths = {r.name: r.length for f in package.functions for r in f.signature.results}
        tables = [
            (argument_name(g).upper(), n, [case.inputs[g] for case in package.cases])
            for g, n in package.groups.items()
        ]
        tables += [
            (f"EXPECTED{k + 1}", lengths[output], [case.results[output] for case in package.cases])
            for k, output in enumerate(package.outputs)
        ]
        for name, length, rows in tables:
            lines.append(f"static {name}: [[{self.real}; {length}]; {count}] = [")
            for row in rows:
                lines += self._numbers("", row, ",", 1)
            lines.append("];")
        calls = [line for function in package.functions for line in self._test_of(function)]
        words = {"name": package.name, "real": self.real, "cases": str(count)}
        words |= {"tolerance": repr(package.tolerance), "calls": "\n".join(calls)}
        return Template(TEST).substitute(words, tables="\n".join(lines))

    def _test_of(self, function: Function) -> list[str]:
        package, results = self.package, list(enumerate(function.signature.results, start=1))
        groups = [a.group for a in function.signature.arguments]
        given = [f"&{argument_name(group).upper()}[k]" for group in groups]
        lines = [f"        let mut found{k} = {_zeros(r)};" for k, r in results]
        call = ", ".join([*given, *(f"&mut found{k}" for k, _ in results)])
        text = f"{package.name}::{self.names[function.name]}({call});"
        lines += self.syntax.lines(text, " " * 8)
        for k, r in results:
            flat = f"found{k}.iter()" + ".flatten()" * (len(r.shape) - 1)
            found = f"&found{k}" if len(r.shape) == 1 else f"&{flat}.copied().collect::<Vec<_>>()"
            found = found if r.shape else f"&[found{k}]"
            expected = f"&EXPECTED{package.outputs.index(r.name) + 1}[k]"
            text = f'count.compare("{label(function, k - 1)}", {found}, {expected});'
            lines += self.syntax.lines(text, " " * 8)
        return ["    for k in 0..CASES {", *lines, "    }"]

    def _numbers(self, start: str, values: Iterable[float], end: str, depth: int) -> list[str]:
        listed = ", ".join(map(repr, values))
        return self.syntax.lines(f"{start}[{listed}]{end}", "    " * depth)


def _zeros(result: ResultArray) -> str:
    text = "0.0"
    for size in reversed(result.shape):
        text = f"[{text}; {size}]"
    return text


def _comment(lines: Iterable[str], mark: str) -> list[str]:
    return [f"{mark} {line}".rstrip() for line in lines]


def _head(start: str, arguments: Sequence[str]) -> list[str]:
    text = f"{start}({', '.join(arguments)}) {{"
    if len(text) <= 100:
        return [text]
    return [f"{start}(", *(f"    {each}," for each in arguments), ") {"]


EXAMPLE = """\
//! Calls each function of $name once and prints its results.
#![allow(non_snake_case, clippy::approx_constant, clippy::excessive_precision)]

fn main() {
$calls
}
"""
TEST = """\
//! Compares the functions of $name with results that were computed when they were exported.
#![allow(clippy::approx_constant, clippy::excessive_precision, clippy::needless_range_loop)]

const CASES: usize = $cases;
$tables

#[derive(Default)]
struct Count {
    passed: usize,
    failed: usize,
}

impl Count {
    /// A result may differ by rounding: by a small share of the largest of its entries.
    fn compare(&mut self, what: &str, found: &[$real], expected: &[$real]) {
        let largest = expected.iter().fold(1.0, |a: $real, b| a.max(b.abs()));
        let pairs = || found.iter().zip(expected);
        if pairs().all(|(a, b)| (a - b).abs() <= $tolerance*largest) {
            self.passed += 1;
        } else {
            self.failed += 1;
            println!("{}: wrong", what);
        }
    }
}

fn main() {
    let mut count = Count::default();
$calls
    println!("{} passed, {} failed", count.passed, count.failed);
    std::process::exit((count.failed > 0) as i32);
}
"""
CARGO = """\
[package]
name = "NAME"
version = "0.1.0"
edition = "2021"
publish = false
autoexamples = false
autotests = false

[lib]
path = "NAME.rs"

[[example]]
name = "example"
path = "example.rs"

[[test]]
name = "test"
path = "test.rs"
harness = false
"""
MAKEFILE = """\
RUSTC ?= rustc
RUSTFLAGS ?= -C opt-level=3

.PHONY: all test clean
all: example

test: test.out
\t./test.out

example: example.rs libNAME.rlib
\t$(RUSTC) --edition 2021 $(RUSTFLAGS) --extern NAME=libNAME.rlib example.rs -o $@

test.out: test.rs libNAME.rlib
\t$(RUSTC) --edition 2021 $(RUSTFLAGS) --extern NAME=libNAME.rlib test.rs -o $@

libNAME.rlib: NAME.rs
\t$(RUSTC) --edition 2021 $(RUSTFLAGS) --crate-type rlib --crate-name NAME NAME.rs -o $@

clean:
\trm -rf example test.out libNAME.rlib target
"""
