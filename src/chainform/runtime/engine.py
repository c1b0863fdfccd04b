"""LLVM: from text to machine code, and from machine code to addresses in this process."""

from __future__ import annotations

import ctypes
import ctypes.util
import weakref
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from typing import Any

from chainform.runtime.target import Target, llvm
from chainform.runtime.threads import LLVM

EXTERNAL = (
    *("malloc", "free", "asin", "acos", "atan", "exp", "log"),
    *("pow", "floor", "memcpy", "memmove", "memset"),
)
"""What compiled code may call in the C library; the second line where LLVM has no instructions."""

_TOGETHER = 32
"""How many libraries share a session of LLVM, which keeps notes even of those that are gone."""

_numbers = count(1)
_session: list[Any] = []
"""The session that takes the next library."""
_doomed: deque[list[Any]] = deque()
"""Libraries that are to be freed, each with its session."""


@contextmanager
def _llvm_at_work() -> Generator[Any]:
    """Hold LLVM, which serves one thread at a time; before it is left, free what waits for it."""
    with LLVM.held():
        yield llvm()
        _free_doomed()


# --- from text to machine code --------------------------------------------------------------


def compiled(text: str, target: Target) -> bytes:
    """Return the machine code of a module, as an object file."""
    with _llvm_at_work():
        module, machine = _optimised(text, target)
        code = bytes(machine.emit_object(module))
        del module, machine
    return code


def assembly(text: str, target: Target) -> str:
    """Return the machine code of a module as assembly text, for reading."""
    with _llvm_at_work():
        module, machine = _optimised(text, target)
        code = str(machine.emit_assembly(module))
        del module, machine
    return code


def object_code(text: str, target: Target, abi: str, *, is_position_independent: bool) -> bytes:
    """Return the machine code of a module for any processor, as a file that others link."""
    with _llvm_at_work() as binding:
        binding.initialize_all_targets()
        binding.initialize_all_asmprinters()
        given = {"reloc": "pic" if is_position_independent else "static", "codemodel": "default"}
        module, machine = _optimised(text, target, abiname=abi, **given)
        code = bytes(machine.emit_object(module))
        del module, machine
    return code


def _optimised(text: str, target: Target, **given: Any) -> tuple[Any, Any]:
    """Return a module after LLVM's passes, and what makes machine code of it."""
    binding = llvm()
    module = binding.parse_assembly(text)
    module.triple = target.triple
    for_process = {"codemodel": "jitdefault", "jit": True}
    machine = binding.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=2, **(given or for_process)
    )
    module.data_layout = str(machine.target_data)
    options = binding.create_pipeline_tuning_options(speed_level=1)
    # Batches are in vector registers already; of the short loops of procedures this pass makes no
    # faster ones, and in llvmlite 0.50 it may end the process where two of its models disagree.
    options.loop_vectorization = False
    builder = binding.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    try:
        passes.run(module, builder)
    finally:
        _free_passes(passes)
    return module, machine


def _free_passes(passes: Any) -> None:
    """Free a list of passes, some 70 kB.

    llvmlite 0.50 has a function for it, but closing the object does not come to it, since it
    inherits an empty one before. What remains are 2 kB for each compilation that llvmlite loses.
    """
    library: Any = llvm().ffi
    is_empty = passes._dispose.__func__ is library.ObjectRef._dispose  # noqa: SLF001, see above
    free = getattr(library.lib, "LLVMPY_DisposeNewModulePassManger", None)
    if is_empty and free is not None:
        free(passes)
        passes.detach()
    else:
        passes.close()


# --- from machine code to addresses ---------------------------------------------------------


class Library:
    """Machine code that is loaded; it stays as long as this object.

    Functions of one part may call those of the `others`, and the other way round.
    """

    def __init__(self, code: bytes, names: Sequence[str], others: Sequence[bytes] = ()) -> None:
        with _llvm_at_work() as binding:
            session, number = _next_session()
            builder = binding.JITLibraryBuilder()
            for part in (code, *others):
                builder.add_object_img(part)
            for name, address in _c_library().items():
                builder.import_symbol(name, address)
            for name in names:
                builder.export_symbol(name)
            tracker = builder.link(session, f"chainform{number}")
            self._addresses = {name: int(tracker[name]) for name in names}
        # At the end of the process nothing is freed: threads may still be running in it.
        # The list has the only references to both, so that LLVM frees them where they leave it.
        weakref.finalize(self, _unload, [tracker, session]).atexit = False

    def address(self, name: str) -> int:
        """Return the address of a function."""
        return self._addresses[name]


def _next_session() -> tuple[Any, int]:
    """Return a session for one more library, and the number of that library."""
    number = next(_numbers)
    if not _session or number % _TOGETHER == 0:
        _session[:] = [llvm().create_lljit_compiler()]
    return _session[0], number


def _unload(library: list[Any]) -> None:
    """Free a library now or, where LLVM is at work in another thread, when it has finished.

    The garbage collector comes here from any thread, whatever it holds: it must not wait.
    """
    _doomed.append(library)
    with LLVM.held_if_free() as is_held:
        if is_held:
            _free_doomed()


def _free_doomed() -> None:
    """Free libraries that are gone; a session goes with the last of its libraries."""
    while _doomed:
        try:
            library = _doomed.popleft()
        except IndexError:
            # The garbage collector came in between, and did it.
            return
        tracker, _ = library
        tracker.close()
        library.clear()


@cache
def _c_library() -> dict[str, int]:
    """Return the addresses of the functions that compiled code may call.

    Looking for the libraries starts other programs, so it is done once.
    """
    names = [ctypes.util.find_library(name) for name in ("c", "m", "msvcrt")]
    libraries = [ctypes.CDLL(None)] if hasattr(ctypes, "pythonapi") else []
    libraries += [ctypes.CDLL(name) for name in names if name]
    found: dict[str, int] = {}
    for name in EXTERNAL:
        for library in libraries:
            if hasattr(library, name):
                found[name] = ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
                break
    return found
