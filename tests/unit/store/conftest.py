"""Each test of the store runs on SQLite and on a PostgreSQL server that is started for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chainform.graph import Graph, parse_graph
from chainform.store import Database

PENDULUM = """chainform graph 1
input q 0 q1
input q 1 q2
input parameter 0 m_1 = 0.5
input parameter 1 length = 1/3
zero = 0
half = 0.5
both = q1 + q2
sin_q1 = sin(q1)
cos_both = cos(both)
square = 2*length^2*sin_q1 - m_1 + 22/7*cos_both^3*sin_q1
inverse = reciprocal(length)
hG_1 = 9.81*m_1*sin_q1 + square - inverse
alias weight = hG_1
quantity e_1 [3]: e_1_x:zero e_1_y:half e_1_z:square
output gravity [2]: hG_1 hG_2:zero
output energy []: E:square
"""


@pytest.fixture(scope="session")
def postgres(postgres_server: str) -> str:
    """The address of a server, without the name of a database."""
    return postgres_server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database, of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    return request.getfixturevalue("postgres_url")


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    """An open, empty database of either kind."""
    with Database.open(url) as opened:
        yield opened


@pytest.fixture
def graph() -> Graph:
    """A small graph with inputs, constants, calls, powers, fractions, aliases and arrays."""
    return parse_graph(PENDULUM)
