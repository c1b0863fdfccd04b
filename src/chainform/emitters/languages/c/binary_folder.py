"""Folders around machine code: what an object file, a shared library or a WebAssembly module needs.

They have a header or a JavaScript module, an example, a test, and a Makefile whose `make test` runs
it.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from string import Template

from chainform.emitters.languages.c import header_text
from chainform.emitters.languages.c.programs import Programs
from chainform.emitters.package import Package, argument_name


def object_folder(package: Package, code: bytes, target: str = "") -> dict[str, str | bytes]:
    """Return an object file with its header and C programs; `target` is another processor."""
    name = package.name
    return {f"{name}.o": code, **_c_programs(package, f"{name}.o", "", target)}


def shared_folder(package: Package, code: bytes) -> dict[str, str | bytes]:
    """Return a shared library with its header and C programs."""
    library = f"lib{package.name}.so"
    flags = f"-L. -l{package.name} -Wl,-rpath,'$$ORIGIN'"
    return {library: code, **_c_programs(package, library, flags)}


def _c_programs(package: Package, built: str, flags: str, target: str = "") -> dict[str, str]:
    programs = Programs(package, f"{package.name}.h", f"{package.name}_", has_batches=False)
    words = {"name": package.name, "built": built, "linked": flags or built}
    machines = MACHINES.get(target, target)
    words["check"] = Template(CHECK).substitute(target=target, machines=machines) if target else ""
    words["checked"] = "\t$(CHECKED)\n" if target else ""
    return {
        f"{package.name}.h": header_text(package, has_batches=False),
        "example.c": programs.example(),
        "test.c": programs.test(),
        "Makefile": Template(MAKEFILE).substitute(words),
    }


MACHINES = {"aarch64": "aarch64 arm64", "arm": "armv7l armv8l"}
"""What `uname -m` says on machines that run the code of a target, where that is another name."""
CHECK = """\
# A compiler for the processor of the object, and what runs its programs: an emulator, perhaps.
RUN ?=
CHECKED = $$(if $$(RUN)$$(filter $machines,$$(shell uname -m)),,$$(error \
 the object is for $target: set CC and RUN, a compiler and an emulator for it))
"""
MAKEFILE = """\
CC ?= cc
CFLAGS ?= -std=c99 -O2 -Wall -Wextra -pedantic
$check
.PHONY: all test clean
all: example

test: test.out
\t$$(RUN) ./test.out

example: example.c $name.h $built
$checked\t$$(CC) $$(CFLAGS) example.c $linked -o $$@ -lm

test.out: test.c $name.h $built
$checked\t$$(CC) $$(CFLAGS) test.c $linked -o $$@ -lm

clean:
\trm -f example test.out
"""

# --- WebAssembly ----------------------------------------------------------------------------------


def wasm_folder(package: Package, code: bytes) -> dict[str, str | bytes]:
    """Return a WebAssembly module with functions of JavaScript that call it."""
    functions = {
        function.name: {
            "inputs": [[argument_name(a.group), a.length] for a in function.signature.arguments],
            "outputs": [
                [n, r.length]
                for n, r in zip(function.results, function.signature.results, strict=True)
            ],
            "results": [package.outputs.index(r.name) for r in function.signature.results],
        }
        for function in package.functions
    }
    about = "\n".join(f"// {line}".rstrip() for line in package.about)
    cases = [
        {
            "inputs": {argument_name(group): list(x) for group, x in case.inputs.items()},
            "results": [list(case.results[output]) for output in package.outputs],
        }
        for case in package.cases
    ]
    words = {
        "name": package.name,
        "about": about,
        "Array": "Float32Array" if package.is_single else "Float64Array",
        "bytes": "4" if package.is_single else "8",
        "functions": json.dumps(functions, indent=2),
        "patterns": json.dumps({name: asdict(p) for name, p in package.patterns.items()}),
        "cases": json.dumps(cases),
        "tolerance": repr(package.tolerance),
    }
    texts = {f"{package.name}.mjs": MODULE, "example.mjs": EXAMPLE, "test.mjs": TEST}
    texts["Makefile"] = WASM_MAKEFILE
    written = {file: Template(text).substitute(words) for file, text in texts.items()}
    return {f"{package.name}.wasm": code, **written}


WASM_MAKEFILE = """\
.PHONY: test example
test:
\tnode test.mjs

example:
\tnode example.mjs
"""
MODULE = """\
$about
//
// const model = await load(bytes);  model.NAME(q, qd, ...) returns its results as typed arrays.

export const functions = $functions;

/** Entries of results that are not always zero, by rows, from 0. */
export const patterns = $patterns;

/** Instantiates the module from the bytes of $name.wasm. */
export async function load(bytes) {
  const { instance } = await WebAssembly.instantiate(bytes, {});
  const { memory, __heap_base: base } = instance.exports;
  const model = {};
  for (const [name, { inputs, outputs }] of Object.entries(functions)) {
    const sizes = [...inputs, ...outputs].map(([, size]) => Math.max(1, size));
    const first = Math.ceil(base.value / 16) * 16;
    const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
    const places = sizes.map((_, k) => first + $bytes * sum(sizes.slice(0, k)));
    const end = first + $bytes * sum(sizes);
    const missing = end - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / 65536));
    const call = instance.exports["$name" + "_" + name];
    model[name] = (...given) => {
      if (given.length !== inputs.length) {
        throw new RangeError(name + " takes " + inputs.map(([word]) => word).join(", "));
      }
      given.forEach((values, k) => {
        if (values.length !== inputs[k][1]) {
          throw new RangeError(inputs[k][0] + " has " + inputs[k][1] + " entries");
        }
        new $Array(memory.buffer, places[k], sizes[k]).set(values);
      });
      call(...places);
      const found = outputs.map(
        ([, size], k) => new $Array(memory.buffer, places[inputs.length + k], size).slice(),
      );
      return found.length === 1 ? found[0] : found;
    };
  }
  return model;
}
"""
EXAMPLE = """\
// Calls each function of $name once and prints its results.
import { readFile } from "node:fs/promises";
import { functions, load } from "./$name.mjs";

const model = await load(await readFile(new URL("$name.wasm", import.meta.url)));
for (const [name, { inputs }] of Object.entries(functions)) {
  const given = inputs.map(([, size]) => Array.from({ length: size }, (_, k) => 0.1 * (k + 1)));
  console.log(name, model[name](...given));
}
"""
TEST = """\
// Compares the functions of $name with results that were computed when they were exported.
import { readFile } from "node:fs/promises";
import { functions, load } from "./$name.mjs";

const cases = $cases;
const model = await load(await readFile(new URL("$name.wasm", import.meta.url)));
let passed = 0;
let failed = 0;
for (const [name, { inputs, outputs, results }] of Object.entries(functions)) {
  for (const one of cases) {
    const given = inputs.map(([word]) => one.inputs[word]);
    const found = model[name](...given);
    results.forEach((index, k) => {
      const values = outputs.length === 1 ? found : found[k];
      const expected = one.results[index];
      const scale = Math.max(1, ...expected.map(Math.abs));
      const isRight = expected.every((x, i) => Math.abs(values[i] - x) / scale <= $tolerance);
      if (isRight) passed += 1;
      else {
        failed += 1;
        console.log(name + ", " + outputs[k][0] + ": wrong");
      }
    });
  }
}
console.log(passed + " passed, " + failed + " failed");
process.exitCode = failed > 0 ? 1 : 0;
"""
