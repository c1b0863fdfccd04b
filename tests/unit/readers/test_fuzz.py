"""Damaged files and garbage: nothing but an error of ours may come out, and soon."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chainform.mechanism import Mechanism, parametrise
from chainform.readers import read, read_text
from refusals import accepted_or_refused

REFERENCE = Path(__file__).parents[2] / "data" / "reference"
EXAMPLES = Path(__file__).parents[3] / "examples"

CASES = sorted(path.name for path in EXAMPLES.glob("*.toml"))

STRANGE: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    10**30,
    "",
    "a",
    "1/0",
    "((((",
    "9^64^64",
    "sqrt(-2)",
    "\x00",
    "ground",
    [],
    [[]],
    {},
    {"a": 1},
    [1, 2, 3],
    [0, 0, 0],
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    ["x", None, {}],
    "1e400",
    "x" * 10_001,
]

relaxed = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def plain_tables() -> dict[str, Any]:
    """Return small valid tables, one per form and feature."""
    return {
        "native": json.loads((REFERENCE / "stanford_arm.json").read_text("utf-8"))["mechanism"],
        "loops": {
            "parameters": {"l": {"value": 1, "unit": "m"}, "k": "l/2"},
            "segments": [
                {"name": "a", "parent": 0, "joint": "revolute", "axis": "z", "dof": 1},
                {
                    "name": "b",
                    "parent": "a",
                    "joint": {"type": "free", "euler": "zxz", "dof": [2, 3, 4, 5, 6, 7]},
                    "position": ["l", 0, 0],
                    "rpy": [0.1, 0.2, 0.3],
                    "inertia": {"xx": "k", "yy": 1, "zz": 1},
                },
            ],
            "loops": [{"name": "c", "kind": "frame", "closing": {"segment": "b"}, "basic": ["a"]}],
            "base": {"velocity": [1, 0, 0]},
        },
        "hand": {
            "parameters": {"k": {"value": 0.5}, "free": {}},
            "segments": [
                {
                    "name": "palm",
                    "joint": {"type": "free", "name": "base", "dof": 2},
                    "mass": "free",
                    "inertia": [1, 1, 1],
                },
                {
                    "name": "ball",
                    "parent": "palm",
                    "joint": {
                        "type": "spherical",
                        "dof": [8, 9, 10],
                        "coordinates": ["a", "b", "c", "d"],
                        "rates": ["u", "v", "w"],
                    },
                    "mass": 1,
                },
                {"name": "f", "parent": "ball", "joint": "revolute", "axis": "z", "dof": 1},
                {
                    "name": "g",
                    "parent": "ball",
                    "joint": "prismatic",
                    "axis": [0, 3, 4],
                    "mimic": {"joint": "h", "ratio": -0.5, "offset": "k"},
                },
                {
                    "name": "h",
                    "parent": "ball",
                    "joint": {"type": "revolute", "axis": "x", "mimic": {"joint": "f"}},
                    "mass": 1,
                },
            ],
            "loops": [
                {
                    "kind": "point",
                    "closing": {"segment": "h", "point": [1, 0, 0]},
                    "target": {"segment": 0, "point": [0, 0, 2]},
                    "basic": ["f"],
                }
            ],
            "frames": [
                {"name": "tool", "segment": "g", "point": ["k", 0, 0], "rpy": [0, 0, 0.5]},
                {"name": "eye", "segment": "ground"},
            ],
        },
        "vectors": {
            "format": "vectors",
            "e": {"1": [0, 0, 1], "2": [1, 1, 0]},
            "e_in_parent": {"2": [1, 0, 0]},
            "r": {"1,1": [0, 0.1, 0.4], "1,2": [0, -0.3, 0], "2,2": [0, 0, 1], "2,3": [1, 0, 0]},
            "m": [1, 2],
            "J": [[1, 1, 1], [2, 2, 2]],
            "rows": [[1, 2, 0]],
            "closed": [True],
            "basic": [[1]],
            "closing_axes": [["y", "-x", "z"]],
            "collinear": "rotate",
            "symbols": True,
            "T": [0, 1],
        },
        "tree": {
            "format": "tree",
            "n": 2,
            "L": [0, 1],
            "T": [1, 0],
            "p": {"1,2": [0, 0.5, 0], "2,2": [0, 0.05, 0]},
            "e": [[0, 0, 1], [1, 0, 0]],
            "m": [1, 2],
            "inertia": {"2": [1, 2, 2]},
        },
    }


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container below `value` with each of its keys."""
    keys: list[Any] = []
    if isinstance(value, dict):
        keys = list(value)
    elif isinstance(value, list):
        keys = list(range(len(value)))
    for key in keys:
        yield value, key
        yield from places(value[key])


def attempt(text: str, syntax: str) -> None:
    """Read the text, use what comes out a little, and accept errors of ours only."""
    with accepted_or_refused():
        mechanism = read_text(text, syntax)
        mechanism.describe()
        parametrise(mechanism, "symbolic")
        use_places(mechanism)


def use_places(mechanism: Mechanism) -> None:
    """Ask for places in q and qd and for parts of the tree, as programs do."""
    assert mechanism.permutation(mechanism.coordinates).tolist() == list(range(mechanism.nq))
    assert mechanism.permutation(mechanism.rates).tolist() == list(range(mechanism.nv))
    assert len(mechanism.neutral()) == mechanism.nq
    for frame in mechanism.frames:
        assert mechanism.frame(frame.name) is frame
    mechanism.with_payload(mechanism.segments[-1].name, 1, name="payload of the test")
    mechanism.subtree(tips=[mechanism.segments[-1].name])
    mechanism.subtree(root=mechanism.segments[0].name)


CASES_OF_TABLES = ["native", "loops", "hand", "vectors", "tree"]


@pytest.mark.parametrize("case", CASES_OF_TABLES)
def test_the_tables_are_valid(case: str) -> None:
    assert read_text(json.dumps(plain_tables()[case]), "json").nq > 0


@pytest.mark.parametrize("case", CASES_OF_TABLES)
@relaxed
@given(data=st.data())
def test_damaged_tables(case: str, data: st.DataObject) -> None:
    table = plain_tables()[case]
    for _ in range(data.draw(st.integers(1, 3))):
        spots = list(places(table))
        if not spots:
            break
        container, key = spots[data.draw(st.integers(0, len(spots) - 1))]
        action = data.draw(st.sampled_from(["replace", "delete", "rename", "copy", "strange key"]))
        if action == "replace":
            container[key] = deepcopy(data.draw(st.sampled_from(STRANGE)))
        elif action == "delete":
            del container[key]
        elif action == "copy":
            source, other = spots[data.draw(st.integers(0, len(spots) - 1))]
            with suppress(KeyError, IndexError):
                container[key] = deepcopy(source[other])
        elif isinstance(container, dict):
            name = data.draw(st.sampled_from(["mas", "dof", "9,9", "0,1", "", "parent", "\ud800"]))
            container[name] = container.pop(key) if action == "rename" else 1
    attempt(json.dumps(table), "json")


@pytest.mark.parametrize("case", CASES)
@relaxed
@given(data=st.data())
def test_damaged_bytes(case: str, data: st.DataObject, tmp_path: Path) -> None:
    content = bytearray((EXAMPLES / case).read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(content) - 1))
        action = data.draw(st.sampled_from(["flip", "cut", "insert"]))
        if action == "flip":
            content[place] = data.draw(st.integers(0, 255))
        elif action == "cut":
            del content[place : place + data.draw(st.integers(1, 200))]
        else:
            content[place:place] = data.draw(
                st.sampled_from([b"[", b"1e9", b"-", b"\n", b'"', b"9" * 50])
            )
        if not content:
            break
    path = tmp_path / case
    path.write_bytes(bytes(content))
    with accepted_or_refused():
        mechanism = read(path)
        assert mechanism.describe()
        assert len(mechanism.neutral()) == mechanism.nq


@relaxed
@given(text=st.text(max_size=200), syntax=st.sampled_from(["toml", "json"]))
def test_garbage(text: str, syntax: str) -> None:
    attempt(text, syntax)


@relaxed
@given(
    value=st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=4),
            st.dictionaries(
                st.sampled_from(
                    [
                        "segments",
                        "name",
                        "joint",
                        "mimic",
                        "frames",
                        "mass",
                        "e",
                        "r",
                        "L",
                        "p",
                        "x",
                    ]
                ),
                inner,
                max_size=5,
            ),
        ),
        max_leaves=20,
    ),
    form=st.sampled_from(["native", "vectors", "tree"]),
)
def test_tables_of_anything(value: Any, form: str) -> None:
    attempt(
        json.dumps({"format": form, **(value if isinstance(value, dict) else {"e": value})}), "json"
    )


@pytest.mark.parametrize("depth", [50, 900, 5000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"joint":', "}")])
def test_deep_nesting(depth: int, opening: str, closing: str) -> None:
    inner = opening * depth + "1" + closing * depth
    attempt('{"segments": [{"mass": ' + inner + "}]}", "json")
    attempt('{"format": "vectors", "e": ' + inner + "}", "json")
