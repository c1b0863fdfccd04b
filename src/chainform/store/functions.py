"""Products and calls for SQLite, in double precision exactly as the graph's own evaluation."""

from __future__ import annotations

import math
import sqlite3

from chainform.errors import RunError
from chainform.graph import CALLS, FLOAT


class Product:
    """The aggregate `product(value, power)`: factors multiplied from left to right."""

    def __init__(self) -> None:
        self.value: float | None = 1.0

    def step(self, value: float | None, power: int) -> None:
        """Multiply by one factor, as often as its power says."""
        if value is None or self.value is None:
            self.value = None
            return
        for _ in range(power):
            self.value *= value

    def finalize(self) -> float | None:
        """Return the product; without factors it is one, with an unknown factor unknown."""
        return self.value


def call_value(function: str, argument: float | None) -> float | None:
    """Return the value of a call, or None where it has none."""
    if argument is None:
        return None
    try:
        value = FLOAT.call(function, argument)
    except RunError:
        return None
    return value if math.isfinite(value) else None


def _lower(value: str | None) -> str | None:
    return None if value is None else value.lower()


def register_functions(connection: sqlite3.Connection) -> None:
    """Make `product` and `call_value` known to a connection of SQLite."""
    connection.create_aggregate("product", 2, Product)  # type: ignore[arg-type]
    connection.create_function("call_value", 2, call_value, deterministic=True)
    # The one that is built in knows the letters of English only.
    connection.create_function("lower", 1, _lower, deterministic=True)


POSTGRES_CALLS = {
    **{name: f"{name}({{x}})" for name in CALLS if name},
    "log": "ln({x})",
    "reciprocal": "1.0 / {x}",
    "sign": "sign({x})",
}


def postgres_call(function: str, argument: str) -> str:
    """Return the expression by which PostgreSQL computes a call, from two column names."""
    cases = " ".join(
        f"WHEN '{name}' THEN {form.format(x=argument)}" for name, form in POSTGRES_CALLS.items()
    )
    return f"CASE {function} {cases} END"
