"""`chainform compile`: machine code of the outputs, and how fast it is."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from chainform.cli.command import Command
from chainform.cli.files import add_file, read_chosen
from chainform.cli.model_report import method_document
from chainform.cli.options import USUAL, add_method, add_outputs, derive_named, usual_outputs
from chainform.cli.printing import Document, Page, Report
from chainform.cli.store import chosen_store
from chainform.emitters import Signature
from chainform.errors import ReadError, RunError
from chainform.given import Given
from chainform.model import Model
from chainform.runtime import Program, target_for

PRECISIONS = ("float64", "float32")
LANES = ("2", "4", "8", "16")
CALLS, STATES = 2_000, 8_192
"""How many calls, and how many states of a batch, are timed at once; the best of a few times."""
BYTES = 64 * 2**20
"""What the arrays of a batch may take: the terms of a large robot have megabytes for one state."""
TITLES = ("function", "compiled, s", "bytes", "call, ns", "batch, ns per state")


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    add_file(parser, stored=True)
    add_outputs(parser, USUAL)
    group = parser.add_argument_group("how they are compiled")
    group.add_argument(
        "--precision", choices=PRECISIONS, default=PRECISIONS[0], help="of all numbers"
    )
    group.add_argument(
        "--lanes", metavar="N", help="states side by side in a batch (default: the processor's)"
    )
    group.add_argument(
        "--cpu", metavar="NAME", help="processor, as LLVM calls it (default: this machine's)"
    )
    add_method(parser)


def run(args: Namespace) -> Report:
    """Compile each output for one state and for batches, and time both."""
    lanes, cpu = _lanes(args.lanes), _cpu(args.cpu)
    mechanism = read_chosen(args)
    model = derive_named(mechanism, args, usual_outputs(mechanism, args))
    origin = model.origin
    with chosen_store(args) if origin is not None else nullcontext() as store:
        if store is not None:
            # The store that the model was loaded from is closed by now.
            model = replace(model, code_cache=store.database.objects.of(str(origin)))
        program = model.compile(precision=args.precision, lanes=lanes, cpu=cpu)
        functions = [_measured(program, name) for name in model.outputs]
        cached = model.code_cache is not None and _is_cached(program)
    document: Document = {
        "file": args.file,
        **method_document(model),
        "precision": program.precision,
        "lanes": program.lanes,
        "fused": program.target.fused,
        "processor": program.target.cpu,
        "functions": functions,
        "kept": cached,
    }
    return Report(document, lambda page: _show(page, model, program, functions, cached=cached))


def _is_cached(program: Program) -> bool:
    """Whether all machine code can be had again."""
    code_cache = program.code_cache
    return code_cache is not None and all(code_cache.get(key) for key in program.codes())


def _lanes(text: str | None) -> int | None:
    return None if text is None else int(Given(text, "--lanes").choice(LANES, "number of lanes"))


def _cpu(name: str | None) -> str | None:
    """Return the name of a processor whose code can run here."""
    try:
        target_for(name)
    except RunError as error:
        if error.element != "cpu":
            raise
        raise ReadError(error.message, element="--cpu", remedy=error.remedy) from error
    return name


def _measured(program: Program, name: str) -> Document:
    """Compile one function and time it at states near zero, where every formula holds."""
    start = perf_counter()
    kernel = program.kernel(name)
    for part in ("single", "batch"):
        kernel.library(part)
    seconds = perf_counter() - start
    function = program.function(name)
    rng = np.random.default_rng(0)
    arguments = [a for a in kernel.signature.arguments if a.group != "parameter"]
    count = _states(kernel.signature, program.precision)
    states = [rng.uniform(0.1, 1.0, (count, a.length)).astype(program.precision) for a in arguments]
    one = [np.ascontiguousarray(array[0]) for array in states]
    call = None
    if None not in program.parameters.values():
        call = {
            "single": _best(function, one, CALLS) * 1e9,
            "batch": _best(function, states, 1) * 1e9 / count,
        }
    return {
        "name": name,
        "prototype": program.prototype(name),
        "arguments": [{"group": a.group, "length": a.length} for a in kernel.signature.arguments],
        "seconds": seconds,
        "bytes": sum(map(len, kernel.codes.values())),
        "nanoseconds": call,
    }


def _states(signature: Signature, precision: str) -> int:
    """Return how many states are timed at once: fewer where their arrays would be very large."""
    numbers = sum(array.length for array in (*signature.arguments, *signature.results))
    return max(1, min(STATES, BYTES // (np.dtype(precision).itemsize * max(1, numbers))))


def _best(function: Callable[..., Any], arguments: Sequence[Any], calls: int) -> float:
    """Return the seconds of one call, the best of a few times."""
    best = float("inf")
    out = function(*arguments)
    for _ in range(7):
        start = perf_counter()
        for _ in range(calls):
            function(*arguments, out=out)
        best = min(best, (perf_counter() - start) / calls)
    return best


def _show(
    page: Page, model: Model, program: Program, functions: Sequence[Document], *, cached: bool
) -> None:
    page.text(model.title, style="bold")
    fused = "fused products" if program.target.fused else "no fused products"
    page.text(f"{program.target.cpu}, {program.precision}, {program.lanes} lanes, {fused}")
    rows: list[tuple[str, ...]] = []
    for each in functions:
        groups = ", ".join(a["group"] for a in each["arguments"] if a["group"] != "parameter")
        times = each["nanoseconds"]
        shown = [f"{times[kind]:.1f}" for kind in ("single", "batch")] if times else ["-", "-"]
        rows.append(
            (f"{each['name']}({groups})", f"{each['seconds']:.3f}", str(each["bytes"]), *shown)
        )
    page.table(TITLES, rows, numbers=TITLES[1:])
    unset = [name for name, value in program.parameters.items() if value is None]
    if unset:
        page.text(f"not timed: no values of {', '.join(unset)}")
    if cached:
        page.text("the machine code is in the store")


COMMAND = Command(
    usage="FILE",
    description="Compile each output, for one state and for batches, and time it: a call from\n"
    "Python with prepared arrays, and a state of a batch of 8,192, or of as many as fit\n"
    "into 64 MB. The machine code of a stored model is stored with it, so that loading it\n"
    "again takes milliseconds.\n"
    "Needs llvmlite: pip install 'chainform[compile]'.",
    add_options=add_options,
    run=run,
)
