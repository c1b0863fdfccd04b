"""Options of the whole test run."""

from __future__ import annotations

import os
import platform
import sys
import uuid
from collections.abc import Generator, Iterator

import pytest

# Tests leave the user's cache of machine code alone; those of the cache name a folder of their own.
os.environ["CHAINFORM_CACHE"] = ""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the golden files anew instead of comparing with them",
    )


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


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a PostgreSQL server that lives as long as the test run."""
    from postgres_server import server

    with server() as address:
        yield address


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """The address of an empty database on the server."""
    import psycopg

    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(f"{postgres_server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
        yield f"{postgres_server}/{name}"
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
