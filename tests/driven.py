"""Random actuators on random trees, with states in rational numbers."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import chainform as cf
from chainform.mechanism import ONE, ZERO, Actuator
from chainform.mechanism.actuator_reader import default_states
from chainform.readers import native_text, read_text
from zoo import random_tree, rational

Row = list[Any]
Grid = list[Row]


def solved(matrix: Grid, right: Grid) -> Grid | None:
    """Return X with M X = R in fractions by Gauss and Jordan, None for a singular M."""
    n = len(matrix)
    rows = [[*matrix[i], *right[i]] for i in range(n)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k] != 0), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[n:] for row in rows]


def product(a: Grid, b: Grid) -> Grid:
    """Return a b; an angle is never multiplied, since its factors are zero."""
    return [[_dot(row, [line[k] for line in b]) for k in range(len(b[0]))] for row in a]


def _dot(row: Row, column: Row) -> Any:
    return sum((x * y for x, y in zip(row, column, strict=True) if x != 0 and y != 0), ZERO)


@dataclass(frozen=True)
class Driven:
    """A mechanism, and the matrix that gives each actuator's x from (q, qd, others)."""

    mechanism: cf.Mechanism
    changes: list[Grid]

    def state(self, values: dict[str, Any], seed: int) -> dict[str, Any]:
        """Return q, qd, tau, x and u that fit together; angles stand in q and in x alike."""
        rng, mechanism = random.Random(seed), self.mechanism
        values = dict(values) | {f"tau{i + 1}": rational(rng) for i in range(mechanism.nv)}
        first = 0
        for place, actuator in enumerate(mechanism.actuators):
            values[f"u{place + 1}"] = rational(rng, -40, 40)
            z: Row = [rational(rng) for _ in range(actuator.order)]
            motion = [values[f"q{actuator.rate + 1}"], values[f"qd{actuator.rate + 1}"]]
            if actuator.position is not None:
                z[:2] = motion
            elif actuator.velocity is not None:
                z[0] = motion[1]
            for k, row in enumerate(self.changes[place]):
                # A row with one 1 passes the entry on, which may be an angle.
                ones = [j for j, entry in enumerate(row) if entry != 0]
                single = len(ones) == 1 and row[ones[0]] == 1
                x = z[ones[0]] if single else _dot(row, z)
                values[f"x{first + k + 1}"] = x
            first += actuator.order
        return values


def driven_tree(seed: int, kinds: tuple[str, ...] | None = None) -> Driven:
    """Return a random tree whose joints have random actuators, or none."""
    rng, tree = random.Random(seed + 1000), random_tree(seed)
    actuators: list[Actuator] = []
    changes: list[Grid] = []
    for record_index, record in enumerate(tree.rate_records):
        joint = tree.segments[record.segment].joint
        choices = kinds or ("motion", "motion", "rate", "prescribed", "effort", "none")
        kind = rng.choice(choices)
        if kind == "none":
            continue
        actuator, change = _ACTUATORS[kind](rng, joint.kind == "prismatic")
        limit = rational(rng, 1, 30) if rng.random() < 0.5 else None
        name = f"a{len(actuators) + 1}"
        actuators.append(replace(actuator, name=name, rate=record_index, limit=limit))
        changes.append(change)
    said = replace(tree, actuators=tuple(actuators))
    read = read_text(native_text(said), "json")
    assert read.actuators == said.actuators
    return Driven(read, changes)


def _entries(rng: random.Random, n: int) -> Row:
    return [rational(rng) if rng.random() < 0.7 else ZERO for _ in range(n)]


def _identity(n: int) -> Grid:
    return [[Fraction(int(i == k)) for k in range(n)] for i in range(n)]


def _mixed(rng: random.Random, n: int, first: int) -> tuple[Grid, Grid]:
    """Return a matrix that mixes states from `first` on, and its inverse."""
    while True:
        change = _identity(n)
        for i in range(first, n):
            change[i][first:] = _entries(rng, n - first)
        inverse = solved(change, _identity(n))
        if inverse is not None:
            return change, inverse


def _moved(
    A: Grid, columns: dict[str, Row], rows: dict[str, Row], change: Grid, inverse: Grid
) -> Actuator:
    """Return an actuator with x = change z, given its equations in z."""
    n = len(A)
    fields: dict[str, Any] = {
        name: tuple(entry for (entry,) in product(change, [[x] for x in column]))
        for name, column in columns.items()
    }
    fields |= {name: tuple(product([row], inverse)[0]) for name, row in rows.items()}
    matrix = product(product(change, A), inverse)
    whole: dict[str, Any] = {"e": (ZERO,) * n, "states": default_states(n), **fields}
    return Actuator("", 0, A=tuple(tuple(row) for row in matrix), **whole)


def _motion(rng: random.Random, sliding: bool, load: bool = True) -> tuple[Actuator, Grid]:
    n = rng.randint(2, 4)
    A = [_entries(rng, n) for _ in range(n)]
    A[0] = [ZERO, ONE, *[ZERO] * (n - 2)]
    for row in A[1:]:
        # Where q is an angle it must not be multiplied, to stay exact.
        row[0] = row[0] if sliding else ZERO
    b, f = [ZERO, *_entries(rng, n - 1)], [ZERO, *_entries(rng, n - 1)]
    f[1] = -rational(rng, 1, 20) if load else ZERO
    change, inverse = _mixed(rng, n, 0 if sliding else 1)
    rows = {"position": _identity(n)[0], "velocity": _identity(n)[1]}
    return _moved(A, {"b": b, "f": f}, rows, change, inverse), change


def _prescribed(rng: random.Random, sliding: bool) -> tuple[Actuator, Grid]:
    return _motion(rng, sliding, load=False)


def _rate(rng: random.Random, sliding: bool) -> tuple[Actuator, Grid]:
    del sliding
    n = rng.randint(1, 3)
    A = [_entries(rng, n) for _ in range(n)]
    b, f = _entries(rng, n), _entries(rng, n)
    f[0] = -rational(rng, 1, 20)
    change, inverse = _mixed(rng, n, 0)
    return _moved(A, {"b": b, "f": f}, {"velocity": _identity(n)[0]}, change, inverse), change


def _effort(rng: random.Random, sliding: bool) -> tuple[Actuator, Grid]:
    del sliding
    n = rng.randint(0, 3)
    return (
        Actuator(
            "",
            0,
            A=tuple(tuple(_entries(rng, n)) for _ in range(n)),
            b=tuple(_entries(rng, n)),
            f=tuple(_entries(rng, n)),
            e=tuple(_entries(rng, n)),
            effort=tuple(_entries(rng, n)),
            direct=rational(rng),
            viscous=rational(rng, 0),
            states=default_states(n),
        ),
        _identity(n),
    )


_ACTUATORS = {"motion": _motion, "prescribed": _prescribed, "rate": _rate, "effort": _effort}
