"""Options of the whole test run."""

from __future__ import annotations

import gc
import os
import platform
import sys
from collections.abc import Generator, Iterator
from typing import Any

import pytest

import chainform as cf
from chainform.formulations import Formulation
from chainform.runtime import cache, kernel
from chainform.search import fast
from derivation import Derivation, derived_once
from machine_code import CompiledOnce

FEW = 0.1
"""The share of drawn examples with --fast."""

SERVERS = {"browser", "postgres", "postgres_server", "postgres_url"}
"""Fixtures that start another program, which --fast leaves out."""

# Tests leave the user's cache of machine code alone; those of the cache name a folder of their own.
os.environ["CHAINFORM_CACHE"] = ""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the golden files anew instead of comparing with them",
    )
    parser.addoption(
        "--first-cases", action="store_true", help="run the first case of each test only"
    )
    parser.addoption(
        "--fast",
        action="store_true",
        help="run the first case of each test only, with few examples, and none that takes long",
    )


def pytest_configure(config: pytest.Config) -> None:
    from hypothesis import HealthCheck, settings

    # No test depends on how busy the machine is, nor on what the first example imports.
    patient: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
    if config.getoption("--fast"):
        import strategies

        strategies.SHARE = FEW
        patient["max_examples"] = round(FEW * settings().max_examples)
    settings.register_profile("patient", **patient)
    settings.load_profile("patient")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of each test leave out all cases but the first, and with --fast what takes long."""
    is_fast = bool(config.getoption("--fast"))
    if not is_fast and not config.getoption("--first-cases"):
        return
    chosen: dict[str, pytest.Item] = {}
    others: list[pytest.Item] = []
    for item in items:
        name = item.nodeid.partition("[")[0]
        if name in chosen or (is_fast and _takes_long(item)):
            others.append(item)
        else:
            chosen[name] = item
    config.hook.pytest_deselected(items=others)
    items[:] = chosen.values()


def _takes_long(item: pytest.Item) -> bool:
    """Tell whether a test is marked so, or needs a GPU, a browser or a PostgreSQL server."""
    needs = SERVERS.intersection(getattr(item, "fixturenames", ()))
    return bool(needs) or any(item.get_closest_marker(name) for name in ("slow", "gpu"))


def pytest_collection_finish() -> None:
    """Let the garbage collector leave alone what lives as long as the run, and come less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(2_000, 20, 200)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a test fail that skips itself where everything that tests need can be installed."""
    report = yield
    is_usual = sys.platform == "linux" and platform.machine() == "x86_64"
    if report.skipped and not hasattr(report, "wasxfail") and is_usual:
        report.outcome = "failed"
        report.longrepr = f"{report.longrepr}: tools/setup.sh and requirements.lock install it all"
    return report


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(autouse=True, scope="session")
def no_store_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the tests away from the models of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHAINFORM_DB", str(tmp_path_factory.mktemp("store") / "models.db"))
        yield


@pytest.fixture(autouse=True, scope="session")
def compiled_once(request: pytest.FixtureRequest) -> Iterator[CompiledOnce]:
    """Compile each text once for all tests, workers and later runs; see `machine_code.py`."""
    once = CompiledOnce(request.config.cache.mkdir("machine_code"))
    once.remove_old()
    with pytest.MonkeyPatch.context() as patch:
        for module in (kernel, cache):
            patch.setattr(module, "compiled", once)
        yield once


@pytest.fixture(autouse=True, scope="session")
def derived_graphs() -> Iterator[Derivation]:
    """Derive each graph once for all tests of a process; give what derives it every time."""
    derive = Formulation.graph
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Formulation, "graph", derived_once(derive))
        yield derive


@pytest.fixture
def short_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a fast reduction of a small graph walk as few steps as that of a large one does."""
    monkeypatch.setattr(fast, "MOST", fast.FEWEST)


@pytest.fixture
def mechanism(request: pytest.FixtureRequest) -> cf.Mechanism:
    """The mechanism of an indirect parameter, a function, so that collection builds nothing."""
    return request.param()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a PostgreSQL server that lives as long as the test run."""
    from postgres_server import server

    with server() as address:
        yield address


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """The address of an empty database on the server."""
    from postgres_server import empty_database

    return empty_database(postgres_server)
