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

    def step(self, value: object, power: object) -> None:
        """Multiply by one factor, as often as its power says; cells may hold anything."""
        if self.value is None or not isinstance(value, float | int) or not isinstance(power, int):
            self.value = None
            return
        for _ in range(power):
            self.value *= value

    def finalize(self) -> float | None:
        """Return the product; without factors it is one, with an unknown factor unknown."""
        return self.value


def call_value(function: object, argument: object) -> float | None:
    """Return the value of a call, or None where it has none."""
    if not isinstance(argument, float | int) or not isinstance(function, str):
        return None
    if not function or function not in CALLS:
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

CAREFUL_CALLS = {
    **POSTGRES_CALLS,
    "sqrt": "CASE WHEN {x} >= 0 THEN sqrt({x}) END",
    "log": "CASE WHEN {x} > 0 THEN ln({x}) END",
    "asin": "CASE WHEN abs({x}) <= 1 THEN asin({x}) END",
    "acos": "CASE WHEN abs({x}) <= 1 THEN acos({x}) END",
    "exp": "CASE WHEN {x} < -745 THEN 0 WHEN {x} < 709.78 THEN exp({x}) END",
    "reciprocal": "CASE WHEN abs({x}) > 5.6e-309 THEN 1.0 / {x} END",
}
"""Calls that give null, where PostgreSQL alone would stop, and nothing where the value is."""


def postgres_call(function: str, argument: str, *, careful: bool = False) -> str:
    """Return the expression by which PostgreSQL computes a call, from two column names."""
    calls = CAREFUL_CALLS if careful else POSTGRES_CALLS
    cases = " ".join(
        f"WHEN '{name}' THEN {form.format(x=argument)}" for name, form in calls.items()
    )
    return f"CASE {function} {cases} END"


POSTGRES_AGGREGATES = """
CREATE OR REPLACE AGGREGATE pg_temp.product (float8)
    (SFUNC = float8mul, STYPE = float8, INITCOND = '1');
"""

# PostgreSQL stops where a product vanishes or a number grows too large; in memory the first is
# zero and the second infinite. Scaled by powers of ten, both are seen before they happen.
CAREFUL_AGGREGATES = """
CREATE OR REPLACE FUNCTION pg_temp.careful_times (a float8, b float8) RETURNS float8
IMMUTABLE LANGUAGE sql AS $$ SELECT CASE
    WHEN abs(a) < 1 AND abs(b) < 1 AND least(abs(a), abs(b)) < 1e-154 AND a <> 0 AND b <> 0
        AND (abs(a) * 1e162::float8) * (abs(b) * 1e162::float8) < 2.48 THEN 0
    WHEN abs(a) > 1 AND abs(b) > 1
        AND (abs(a) * 1e-154::float8) * (abs(b) * 1e-154::float8) > 1.797693134862315
        THEN CASE WHEN sign(a) = sign(b) THEN 'inf'::float8 ELSE '-inf'::float8 END
    ELSE a * b END $$;
CREATE OR REPLACE FUNCTION pg_temp.careful_plus (a float8, b float8) RETURNS float8
IMMUTABLE LANGUAGE sql AS $$ SELECT CASE
    WHEN greatest(abs(a), abs(b)) > 1e307 AND sign(a) = sign(b)
        AND abs(a * 0.5::float8 + b * 0.5::float8) > 8.98846567431157e307
        THEN CASE WHEN a > 0 THEN 'inf'::float8 ELSE '-inf'::float8 END
    ELSE a + b END $$;
CREATE OR REPLACE AGGREGATE pg_temp.careful_product (float8)
    (SFUNC = pg_temp.careful_times, STYPE = float8, INITCOND = '1');
CREATE OR REPLACE AGGREGATE pg_temp.careful_sum (float8)
    (SFUNC = pg_temp.careful_plus, STYPE = float8, INITCOND = '0');
"""
