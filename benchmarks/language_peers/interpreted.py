"""Languages with a loop and a clock of their own: a script prints nanoseconds, then results."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from language_peers.entry import Entry
from language_peers.subjects import FEW, Subject

NODE = """\
import {{ readFileSync }} from 'node:fs';
{load}
const states = JSON.parse(readFileSync('states.json', 'utf8'));
const given = states.map((rows) => rows.map((row) => Float64Array.from(row)));
const count = given[0].length;
let used = 0, best = Infinity, spent = 0;
for (let pass = 0; pass < 10 || spent < 1e8; pass++) {{
    const start = process.hrtime.bigint();
    for (let i = 0; i < count; i++) used += call(i)[0];
    const taken = Number(process.hrtime.bigint() - start);
    best = Math.min(best, taken);
    spent += taken;
}}
if (Number.isNaN(used)) throw new Error('not a number');
console.log(best / count);
for (let i = 0; i < {few}; i++) console.log(call(i).join(' '));
"""
JAVASCRIPT = """\
import {{ {function} as f }} from './robot.js';
const out = new Float64Array({size});
const call = (i) => f({given}, out);
"""
WASM = """\
import {{ load }} from './robot.mjs';
const robot = await load(readFileSync('robot.wasm'));
const call = (i) => robot.{function}({given});
"""
OCTAVE = """\
{load}
count = {count};
best = Inf; used = 0; first = tic();
while toc(first) < 0.2
    start = tic();
    for i = 1:count
        out = robot.{function}({given});
        used = used + out(1);
    end
    best = min(best, toc(start));
end
if isnan(used), error('not a number'); end
fprintf('%.17g\\n', best/count*1e9);
for i = 1:{few}
    out = robot.{function}({given});
    fprintf('%.17g ', out.'); fprintf('\\n');
end
"""
SLOW_STATES = 100
"""States in a loop of Octave."""


def entries(subject: Subject) -> Iterator[Entry]:
    """Yield JavaScript and WebAssembly in Node, and Octave."""
    camel = subject.function.split("_")
    name = camel[0] + "".join(word.capitalize() for word in camel[1:])
    given = ", ".join(f"given[{k}][i]" for k in range(len(subject.arguments)))
    own = JAVASCRIPT.format(function=name, size=subject.size, given=given)
    yield _entry(subject, "JavaScript, Node", "javascript", NODE.format(load=own, few=FEW))
    wasm = WASM.format(function=subject.function, given=given)
    yield _entry(subject, "WebAssembly, Node", "wasm", NODE.format(load=wasm, few=FEW))
    loaded = "\n".join(f"{name} = dlmread('{name}.txt').';" for name in subject.arguments)
    columns = ", ".join(f"{name}(:, i)" for name in subject.arguments)
    words = {"function": subject.function, "load": loaded, "given": columns}
    octave = OCTAVE.format(**words, count=SLOW_STATES, few=FEW)
    yield _entry(subject, "Octave", "matlab", octave)


def _entry(subject: Subject, title: str, language: str, script: str) -> Entry:
    folder = subject.export(language)
    ending = "m" if language == "matlab" else "mjs"
    (folder / f"timed.{ending}").write_text(script)
    rows = [getattr(subject.states, name) for name in subject.arguments]
    (folder / "states.json").write_text(json.dumps([array.tolist() for array in rows]))
    for name, array in zip(subject.arguments, rows, strict=True):
        np.savetxt(folder / f"{name}.txt", array, "%.17g")
    octave = ["octave-cli", "--no-init-file", "--quiet", "timed.m"]
    command = octave if language == "matlab" else ["node", "timed.mjs"]
    found = _printed(command, folder)[1:]
    values = np.array([[float(x) for x in line.split()] for line in found])
    return Entry(title, values, lambda: float(_printed(command, folder)[0]))


def _printed(command: Sequence[str], folder: Path) -> list[str]:
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()
