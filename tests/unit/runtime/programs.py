"""Models, states and comparisons for the tests of compiled programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

import chainform as cf
from chainform.graph import Graph, parse_graph
from chainform.pipeline import available_outputs
from chainform.runtime import Program, Target, host, kernel
from zoo import random_tree, reference

Array = NDArray[Any]
State = dict[str, Any]

SOME = ("mass_matrix", "bias", "inverse_dynamics")
EXAMPLES = Path(__file__).parents[3] / "examples"


@cache
def model(name: str) -> cf.Model:
    """Return a model with all its outputs, by the name of a mechanism of these tests."""
    match name.split():
        case ["tree", seed]:
            return cf.derive(random_tree(int(seed)), SOME)
        case ["floating"]:
            return _whole(random_tree(15, quaternions=True))
        case ["balls"]:
            return cf.derive(random_tree(24, quaternions=True), SOME)
        case ["loops"]:
            return _whole(cf.read(EXAMPLES / "four_bar.toml"))
        case ["wrenches"]:
            tree = random_tree(3001).with_frame("tool", "s1", ["0.1", "-0.2", "0.3"])
            frames = ["tool", tree.segments[-1].name]
            outputs = ["inverse_dynamics", "forward_dynamics"]
            return cf.derive(tree, outputs, wrenches=frames)
        case _:
            return _whole(reference(name))


def _whole(mechanism: cf.Mechanism) -> cf.Model:
    return cf.derive(mechanism, available_outputs(mechanism))


@cache
def arm() -> cf.Model:
    """Return a small model with free parameters: two outputs, eight numbers in, four out."""
    builder = cf.Mechanism.builder("arm", gravity=[0, 0, "-9.81"])
    builder.segment("a", axis="x", mass=2, com=[0, 0, "0.5"], inertia=[1, 2, 3])
    builder.segment("b", parent="a", axis="y", position=[0, 0, 1], mass=1, com=["0.1", 0, "0.2"])
    return cf.derive(builder.build(), ["inverse_dynamics", "gravity"], parameters="symbolic")


def graph_of(*lines: str) -> Graph:
    """Return a graph from the lines of its text."""
    return parse_graph("\n".join(["chainform graph 1", *lines]))


def small() -> Graph:
    """Return a graph that is compiled quickly: three coordinates, two of them turning."""
    return graph_of(
        *(f"input q {i} q{i + 1}" for i in range(3)),
        "s = sin(q1)",
        "c = cos(q2)",
        "a = 2*s*q3 - 1/3*c",
        "b = c^2*q1 + 0.5",
        "output o [2]: a b",
    )


def state_of(some: cf.Model, seed: int, *batch: int) -> State:
    """Return random values for the inputs, with quaternions of unit length."""
    rng = np.random.default_rng(seed)
    lengths = some.compile().lengths
    state = {g: rng.uniform(-2, 2, (*batch, n)) for g, n in lengths.items()}
    for segment in some.mechanism.segments:
        if segment.joint.kind.has_quaternion and segment.coordinate is not None:
            last = segment.coordinate + segment.joint.kind.coordinates
            quaternion = state["q"][..., last - 4 : last]
            quaternion /= np.linalg.norm(quaternion, axis=-1, keepdims=True)
    return state


def given(program: Program, outputs: Sequence[str], state: Mapping[str, Any]) -> list[Any]:
    """Return the arguments of a function in their order."""
    arguments = program.signature(*outputs).arguments
    return [state[argument.group] for argument in arguments if argument.group != "parameter"]


def close(got: Any, expected: Any, tolerance: float = 1e-12) -> None:
    """Compare shapes, and entries to a part of the largest one."""
    assert np.shape(got) == np.shape(expected)
    size = float(np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * size)


def same_bits(a: Any, b: Any) -> None:
    """Compare shapes, and entries bit by bit."""
    assert (a.shape, a.dtype) == (b.shape, b.dtype)
    assert a.tobytes() == b.tobytes()


def plain_target() -> Target:
    """Return a processor of this family that can do nothing special."""
    cpu = "x86-64" if host().triple.startswith("x86_64") else "generic"
    return replace(host(), cpu=cpu, features="")


def without(*beginnings: str) -> Target:
    """Return this processor without the features whose names begin in certain ways."""
    starts = tuple(f"+{beginning}" for beginning in beginnings)
    features = host().features.split(",")
    lesser = [f"-{f[1:]}" if f.startswith(starts) else f for f in features]
    return replace(host(), features=",".join(lesser))


class Memory:
    """A code_cache that counts what it is asked for."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.served = 0

    def get(self, key: str) -> bytes | None:
        """Return what is kept under a key."""
        self.served += key in self.kept
        return self.kept.get(key)

    def put(self, key: str, data: bytes) -> None:
        """Keep bytes under a key."""
        self.kept[key] = data


def refuse(*_: Any) -> NoReturn:
    """Stand in for the compiler where nothing may be compiled."""
    raise AssertionError("something was compiled")


class Counted:
    """Stand in for the compiler, and count how often it is called."""

    def __init__(self) -> None:
        self.calls = 0
        self._real: Callable[..., bytes] = kernel.compiled

    def __call__(self, text: str, target: Target) -> bytes:
        """Compile."""
        self.calls += 1
        return self._real(text, target)


def sum_of(function: Callable[..., Any], values: Any) -> float:
    """Return the sum of what a function gives; it can be sent to other processes."""
    return float(np.sum(function(values)))


def run_elsewhere(data: bytes, output: str, arrays: Sequence[Array]) -> tuple[bytes, bytes]:
    """Return the results of a program that came as bytes, itself compiling nothing."""
    kernel.compiled = refuse
    function = Program.from_bytes(data)[output]
    return function(*[x[0] for x in arrays]).tobytes(), function(*arrays).tobytes()
