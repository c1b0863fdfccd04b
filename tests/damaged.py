"""Whole models as tables, and ways to damage them: for tests that nothing foreign comes out."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

DRIVEN: dict[str, Any] = {
    "parameters": {"k": {"value": 0.5}, "free": {}, "J": 2, "T": 0.5},
    "base": {"position": [0, 0, "k*sin(2*t)"], "rpy": ["0.1*sin(t)", 0, 0]},
    "segments": [
        {
            "name": "a",
            "parent": "ground",
            "joint": "revolute",
            "axis": "z",
            "mass": "free",
            "com": [0.1, "k", 0],
            "inertia": ["J", 2, 2],
            "friction": {"viscous": "k", "coulomb": 0.2},
            "rotor_inertia": "J",
            "gear_ratio": 10,
        },
        {
            "name": "b",
            "parent": "a",
            "joint": {"type": "prismatic", "axis": [0, 3, 4], "name": "slide"},
            "position": ["k", 0, 0],
            "mass": 1,
            "limits": {"lower": -1, "upper": 1, "effort": 5},
        },
        {
            "name": "c",
            "parent": "b",
            "joint": "revolute",
            "axis": "x",
            "mass": 2,
            "com": [0, 0.2, 0],
            "mimic": {"joint": "a", "ratio": -0.5, "offset": "k"},
        },
        {"name": "d", "parent": "b", "joint": "revolute", "axis": "y", "mass": 2, "com": [0, 0, 1]},
    ],
    "frames": [{"name": "tool", "segment": "d", "point": [0, "k", 1], "rpy": [0, 0, 0.5]}],
    "springs": [
        {"name": "s1", "joint": "a", "stiffness": "k", "rest": 0.1, "damping": 0.2},
        {
            "ends": [{"segment": "ground", "point": [0, 0, 3]}, {"segment": "d"}],
            "stiffness": 3,
            "rest": 0.5,
            "damping": "k",
        },
    ],
    "forces": [
        {"name": "f1", "joint": "slide", "law": "-k*der(slide)*abs(der(a)) + sin(3*t)"},
        {"joint": "d", "pieces": [{"until": "T", "law": "6*t"}, {"until": 1.5, "law": "exp(-t)"}]},
        {"joint": "a", "law": "q3*qd1", "from": 0.1, "until": 2},
    ],
    "actuators": [
        {
            "name": "m1",
            "joint": "a",
            "type": "dc_motor",
            "resistance": 0.3,
            "inductance": 0.01,
            "torque_constant": "k",
            "rotor_inertia": 0.1,
            "voltage_limit": 24,
        },
        {"joint": "slide", "type": "lag", "time_constant": 0.1, "limit": 3},
        {
            "joint": "d",
            "A": [[0, 1], [-3, -2]],
            "b": [0, 1],
            "e": [0, 0.1],
            "effort": [1, 0],
            "direct": 0.1,
            "limit": "J",
            "states": ["y", "z"],
        },
    ],
    "constraints": [
        {"name": "h", "kind": "holonomic", "law": "sin(d) - 2*slide + k*t"},
        {"kind": "unilateral", "law": "slide + 1", "restitution": 0.5, "friction": 0.1},
    ],
}

ELEMENTS: dict[str, Any] = {
    "parameters": {"k": {"value": 0.5}, "m": 2, "free": {}},
    "coordinates": ["x", {"name": "y", "unit": "m"}, {"name": "phi", "unit": "rad", "rate": "w"}],
    "unknowns": ["F", "M"],
    "definitions": {"c": "cos(phi)", "d": "k*c + t"},
    "elements": [
        "K: Sx(x), Sy(y), Rz(phi)",
        "P~K: Sz(k), Sx(d), Rx(0.3); m, 1, 2, 3",
        {
            "kind": "body",
            "name": "B",
            "on": "K",
            "chain": "R(0,3,4,phi), S(0.1,k,0), Q(1,2,3,4)",
            "mass": "free",
            "com": [0.1, 0, "k"],
            "inertia": [[1, 0.1, 0], [0.1, 1, 0], [0, 0, 1]],
        },
        {"kind": "point", "name": "pt", "on": "B", "position": ["x*y", "t", 0], "mass": 1},
        {"kind": "inertia", "inertia": 2, "along": "3*phi + x*y"},
        {"kind": "elastic", "stiffness": "k", "rest": "0.1*t", "deformation": "x - y"},
        {"kind": "elastic", "stiffness": "k", "rest": 0.2, "ends": ["P", [0, 0, 5]]},
        {"kind": "dissipative", "damping": 1, "coulomb": 0.2, "rate": "der(x) - y*w"},
        {
            "kind": "dissipative",
            "damping": 1,
            "ends": [{"on": "P", "point": ["k", 0, 0]}, "ground"],
        },
        {
            "kind": "force",
            "force": ["F*cos(phi)", "2*M + der(x)", "t"],
            "at": {"on": "P", "point": [0, 1, 0]},
            "axes": "K",
            "to": "pt",
        },
        {"kind": "moment", "moment": [0, "M", 0], "on": "P", "to": "B", "axes": "B"},
        {"kind": "moment", "moment": "k*sin(t)", "along": "phi + x"},
    ],
    "constraints": [{"kind": "nonholonomic", "law": "sin(phi)*der(x) - cos(phi)*der(y)"}],
    "quasi": [
        {"name": "v", "law": "cos(phi)*der(x) + sin(phi)*der(y)"},
        {"name": "turn", "law": "der(phi)"},
    ],
    "forces": [{"joint": "w", "law": "-k*w"}],
    "actuators": [{"joint": "x", "type": "torque"}],
}

MODELS = {"driven": DRIVEN, "elements": ELEMENTS}

PLAIN: list[Any] = [None, True, 0, -1, 1.5, 10**30, [], [[]], {}, {"a": 1}, [0, 0, 0]]
NAMES = ["", "x", "t", "q1", "F", "K", "ground", "world", "free", "φ", "\x00", "x" * 5000]
LAWS = [
    *("der(x)", "der(der(x))", "phi*w", "F*F", "1/x", "1/t", "1/0", "0*x", "x-x", "1e400"),
    *("log(t)", "x^y", "x^70", "sqrt(x)", "sqrt(-2)", "atan2(x,y)", "min(x,y)", "step(t)", "(((("),
]
CHAINS = ["Sx(x)", "Rz(t), Sx(der(x))", "Q(0,0,0,0)", "Sx(", ["x", "y", "t"], ["F", "M", 0]]
STRANGE = [*PLAIN, *NAMES, *LAWS, *CHAINS]


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


def damaged(data: st.DataObject, model: str) -> dict[str, Any]:
    """Return a model of which up to two places were changed, copied or taken away."""
    table = deepcopy(MODELS[model])
    for _ in range(data.draw(st.integers(0, 2))):
        spots = list(places(table))
        container, key = spots[data.draw(st.integers(0, len(spots) - 1))]
        action = data.draw(st.sampled_from(["replace", "replace", "copy", "delete"]))
        if action == "delete":
            del container[key]
        elif action == "copy":
            source, other = spots[data.draw(st.integers(0, len(spots) - 1))]
            container[key] = deepcopy(source[other])
        else:
            container[key] = deepcopy(data.draw(st.sampled_from(STRANGE)))
    return table
