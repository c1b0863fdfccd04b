"""A script: what LLVM knows of a processor, by name. It prints one JSON object.

    python processors.py NAME

It runs in a process of its own, because LLVM ends the process where it can make no code for a
name. It needs llvmlite and nothing of this package, so that it starts quickly.

llvmlite cannot list the features of a processor, but LLVM compares them when it inlines: a function
goes into another one only where the other one has all features that the first was compiled for. So
each question is a pair of functions, and the answer is whether the call between them has gone.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain
from tempfile import TemporaryFile
from typing import Any

PAIR = """\
define internal i32 @callee{number}(i32 %x) #{callee} {{
  %y = add i32 %x, 1
  ret i32 %y
}}
define i32 @caller{number}(i32 %x) #{caller} {{
  %y = call i32 @callee{number}(i32 %x)
  ret i32 %y
}}
"""
ATTRIBUTES = 'attributes #{number} = {{ "target-cpu"="{cpu}" "tune-cpu"="generic" {features} }}\n'

LISTED = re.compile(r"  (\S+)\s+- Select the \S+ processor\.")


@dataclass(frozen=True)
class ProcessorKind:
    """What a function is compiled for."""

    cpu: str
    features: str = ""


def description(name: str) -> dict[str, Any]:
    """Return the names that LLVM knows here and, for one of them, its features.

    `features` are those of the kinds that this machine reports on itself, `missing` are those that
    it does not have. `is_subset` says whether LLVM finds nothing at all that it does not have; this
    is strict, since it includes features that code does not use.
    """
    binding = _binding()
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    names = _names()
    if name not in names:
        return {"names": names}
    reported: dict[str, bool] = {}
    with suppress(RuntimeError):
        reported.update(binding.get_host_cpu_features())
    given = ",".join(f"{'+' if has else '-'}{f}" for f, has in sorted(reported.items()))
    machine = ProcessorKind(binding.get_host_cpu_name(), given)
    base = "x86-64" if binding.get_process_triple().startswith("x86_64") else "generic"
    pairs = [
        (ProcessorKind(base, f"+{feature}"), ProcessorKind(name)) for feature in sorted(reported)
    ]
    is_subset, *answers = _inlined(binding, base, [(ProcessorKind(name), machine), *pairs])
    features = [f for f, answer in zip(sorted(reported), answers, strict=True) if answer]
    missing = [feature for feature in features if not reported[feature]]
    return {"names": names, "features": features, "missing": missing, "is_subset": is_subset}


def _binding() -> Any:
    from llvmlite import binding

    return binding


@cache
def _names() -> list[str]:
    """Return the processors that LLVM knows here; it writes them once in a process."""
    binding = _binding()
    return LISTED.findall(_written(lambda: _machine(binding, "help")))


def _machine(binding: Any, cpu: str) -> Any:
    target = binding.Target.from_triple(binding.get_process_triple())
    return target.create_target_machine(cpu=cpu, opt=2)


def _written(work: Callable[[], Any]) -> str:
    """Return what LLVM writes to the standard error stream meanwhile."""
    before = os.dup(2)
    with TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            work()
        finally:
            os.dup2(before, 2)
            os.close(before)
        file.seek(0)
        return file.read().decode(errors="replace")


def _inlined(
    binding: Any, base: str, pairs: Sequence[tuple[ProcessorKind, ProcessorKind]]
) -> list[bool]:
    """Return for each pair whether LLVM inlines the first into the second."""
    kinds = {kind: number for number, kind in enumerate(dict.fromkeys(chain(*pairs)))}
    text = "".join(
        PAIR.format(number=number, callee=kinds[callee], caller=kinds[caller])
        for number, (callee, caller) in enumerate(pairs)
    )
    for kind, number in kinds.items():
        features = f'"target-features"="{kind.features}"' if kind.features else ""
        text += ATTRIBUTES.format(number=number, cpu=kind.cpu, features=features)
    module = binding.parse_assembly(text)
    machine = _machine(binding, base)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    options = binding.create_pipeline_tuning_options(speed_level=2)
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    optimised = str(module)
    return [f"@callee{number}(" not in optimised for number in range(len(pairs))]


def main() -> None:
    """Print the description of the processor that the first argument names."""
    sys.stdout.write(json.dumps(description(sys.argv[1])))


if __name__ == "__main__":
    main()
