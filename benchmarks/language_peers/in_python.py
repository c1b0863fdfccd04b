"""Languages in Python: modules that are imported here, for one state and for a batch."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np
from speed_peers.measure import STATES, seconds_of

from language_peers.entry import Entry
from language_peers.subjects import FEW, NAME, Subject


def entries(subject: Subject) -> Iterator[Entry]:
    """Yield NumPy, CasADi, JAX, and PyTorch where it is installed."""
    yield from _numpy(subject)
    yield _casadi(subject)
    yield from _jax(subject)
    if importlib.util.find_spec("torch") is not None:
        yield from _torch(subject)


def _imported(subject: Subject, language: str) -> ModuleType:
    file = subject.export(language) / f"{NAME}.py"
    found = importlib.util.spec_from_file_location(f"{NAME}_{language}", file)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def _arrays(subject: Subject) -> list[Any]:
    return [getattr(subject.states, name) for name in subject.arguments]


def _pair(
    subject: Subject, title: str, run: Callable[..., Any], arrays: list[Any], wait: Any = np.asarray
) -> Iterator[Entry]:
    """Yield a function of arrays, called state by state and with a batch."""
    rows = [[array[i] for array in arrays] for i in range(FEW)]
    for name, calls, count in (("one state", rows, FEW), ("batch of 1,000", [arrays], STATES)):
        start = perf_counter()
        wait(run(*calls[0]))
        seconds = perf_counter() - start
        found = np.array([np.asarray(wait(run(*given))) for given in calls])
        values = found.reshape(-1, subject.size)[:FEW]

        def all_calls(calls: Any = calls) -> None:
            for given in calls:
                wait(run(*given))

        def timer(all_calls: Callable[[], None] = all_calls, count: int = count) -> float:
            return seconds_of(all_calls, calls=20, wall=True) / count * 1e9

        yield Entry(f"{title}, {name}", values, timer, seconds if title == "JAX" else None)


def _numpy(subject: Subject) -> Iterator[Entry]:
    run = getattr(_imported(subject, "numpy"), subject.function)
    yield from _pair(subject, "NumPy", run, _arrays(subject))


def _jax(subject: Subject) -> Iterator[Entry]:
    jax: Any = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    run = getattr(_imported(subject, "jax"), subject.function)
    single, mapped = jax.jit(run), jax.jit(jax.vmap(run))
    arrays = [jax.numpy.asarray(array) for array in _arrays(subject)]

    def both(*given: Any) -> Any:
        return (single if given[0].ndim == 1 else mapped)(*given)

    yield from _pair(subject, "JAX", both, arrays, lambda x: x.block_until_ready())


def _torch(subject: Subject) -> Iterator[Entry]:
    torch: Any = importlib.import_module("torch")
    run = getattr(_imported(subject, "torch"), subject.function)
    yield from _pair(subject, "PyTorch", run, [torch.tensor(x) for x in _arrays(subject)])


def _casadi(subject: Subject) -> Entry:
    """Return CasADi's virtual machine, through its buffers, which cost the least in Python."""
    start = perf_counter()
    function = getattr(_imported(subject, "casadi"), subject.function)()
    seconds = perf_counter() - start
    buffer, run = function.buffer()
    inputs = [np.array(array[0]) for array in _arrays(subject)]
    out = np.zeros(function.nnz_out(0))
    for k, array in enumerate(inputs):
        buffer.set_arg(k, memoryview(array))
    buffer.set_res(0, memoryview(out))
    rows = [[array[i] for array in _arrays(subject)] for i in range(FEW)]
    found = [np.ravel(function(*row).full()) for row in rows]

    def timer() -> float:
        # CasADi knows only where all this lies; it lives here.
        assert all(each is not None for each in (function, buffer, inputs, out))

        def several() -> None:
            for _ in range(50):
                run()

        return seconds_of(several, calls=20) / 50 * 1e9

    return Entry("CasADi, its virtual machine", np.array(found), timer, seconds)
