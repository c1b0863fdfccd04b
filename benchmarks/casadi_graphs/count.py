"""Count operations of CasADi graphs: `python benchmarks/casadi_graphs/count.py`.

Compiles graphs.cpp, in which Pinocchio's algorithms run on CasADi's symbols, and runs it for each
robot: inverse dynamics, mass matrix, forward dynamics and Coriolis matrix, after CasADi's own
elimination of common subexpressions. Needs g++ and the packages pin, casadi, example-robot-data
and, for the iiwa 14, frax. Writes benchmarks/data/casadi_counts.json.

Every robot is counted twice: `file`, with the numbers as Pinocchio reads them, and `snapped`, with
the numbers that chainform's reader gives, so that both sides see the same zeros.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1] / "tests"), str(HERE.parent)]

from counting.robot_files import ROBOTS, find, read  # noqa: E402

from pinocchio_oracle import Oracle, pin  # noqa: E402

RESULTS = HERE.parent / "data" / "casadi_counts.json"
COMMAND = "python benchmarks/casadi_graphs/count.py"
RULE = (
    "after cse(); a square one multiplication, twice a value one addition, a sign nothing, "
    "a quotient one multiplication and, once for each divisor, a reciprocal (a call); "
    "the cheaper of Pinocchio's two conventions (local, world) where there is a choice"
)
DEFINES = (
    "-DNDEBUG",
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)
LARGEST_DEVIATION = 1e-10

Array = NDArray[np.float64]


def build(program: Path) -> None:
    """Compile the generator against the headers and libraries of the installed wheels."""
    casadi = Path(str(importlib.metadata.distribution("casadi").locate_file("casadi")))
    prefix = casadi.parent / "cmeel.prefix"
    headers = [prefix / "include", casadi / "include", casadi / "include" / "eigen3"]
    libraries = [casadi, prefix / "lib"]
    command = ["g++", "-std=c++17", "-O0", *DEFINES, *(f"-I{path}" for path in headers)]
    command += [str(HERE / "graphs.cpp"), "-o", str(program)]
    command += [part for path in libraries for part in (f"-L{path}", f"-Wl,-rpath,{path}")]
    subprocess.run([*command, "-lcasadi", "-lboost_serialization"], check=True)


def text_of(model: Any, state: tuple[Array, Array, Array]) -> str:
    """Return a Pinocchio model and a state as the generator reads them."""
    lines = [str(model.njoints - 1)]
    for i in range(1, model.njoints):
        kind, axis = joint_of(model.joints[i])
        placement, inertia = model.jointPlacements[i], model.inertias[i]
        parts = (placement.rotation, placement.translation, inertia.mass, inertia.lever)
        values = [np.ravel(part) for part in (axis, *parts, inertia.inertia)]
        lines.append(f"{model.parents[i]} {kind} {numbers(np.concatenate(values))}")
    return "\n".join([*lines, numbers(model.gravity.linear), *map(numbers, state)]) + "\n"


def numbers(values: Array) -> str:
    """Return numbers at full precision."""
    return " ".join(repr(float(value)) for value in values)


def joint_of(joint: Any) -> tuple[str, Array]:
    """Return kind and axis of a joint; one without limits is a revolute joint all the same."""
    name = str(joint.shortname()).removeprefix("JointModel")
    if name == "FreeFlyer":
        return "free", np.zeros(3)
    kind = "prismatic" if name.startswith("P") else "revolute"
    if name[-1] in "XYZ":
        return kind, np.eye(3)["XYZ".index(name[-1])]
    return kind, np.asarray(joint.extract().axis)


def random_state(model: Any, seed: int = 0) -> tuple[Array, tuple[Array, Array, Array]]:
    """Return q as Pinocchio takes it, and a state with angles in place of cosines and sines."""
    rng = np.random.default_rng(seed)
    v, a = rng.uniform(-1, 1, (2, model.nv))
    theirs = np.array(pin.integrate(model, pin.neutral(model), rng.uniform(-1, 1, model.nv)))
    q: list[float] = []
    for joint in list(model.joints)[1:]:
        own = theirs[joint.idx_q : joint.idx_q + joint.nq]
        q += [np.arctan2(own[1], own[0])] if (joint.nq, joint.nv) == (2, 1) else list(own)
    return theirs, (np.array(q), v, a)


def graphs_of(program: Path, model: Any) -> Iterator[dict[str, Any]]:
    """Run the generator on a model; each graph is checked against Pinocchio itself."""
    q, state = random_state(model)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text_of(model, state))
        file.flush()
        run = subprocess.run([program, file.name], check=True, capture_output=True, text=True)
    for line in run.stdout.splitlines():
        graph = json.loads(line)
        expected = expected_value(model, graph["quantity"], q, *state[1:])
        deviation = np.abs(np.array(graph.pop("values")) - expected.ravel()).max()
        if deviation > LARGEST_DEVIATION * max(1.0, np.abs(expected).max()):
            raise SystemExit(f"{graph['quantity']} deviates from Pinocchio by {deviation:.0e}")
        yield graph


def expected_value(model: Any, quantity: str, q: Array, v: Array, a: Array) -> Array:
    """Return what Pinocchio computes with numbers."""
    data = model.createData()
    match quantity:
        case "inverse_dynamics":
            return np.array(pin.rnea(model, data, q, v, a))
        case "coriolis_matrix":
            return np.array(pin.computeCoriolisMatrix(model, data, q, v))
        case "forward_dynamics":
            return np.array(pin.aba(model, data, q, v, a))
        case _:
            return np.array(pin.crba(model, data, q))


def by_house_rule(graph: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of the house from the instructions of a graph."""
    n: dict[str, int] = dict.fromkeys(("mul", "sq", "div", "add", "sub", "twice"), 0)
    n |= {"sin": 0, "cos": 0, "sqrt": 0, "other": 0} | graph["instructions"]
    return {
        "multiplications": n["mul"] + n["sq"] + n["div"],
        "additions": n["add"] + n["sub"] + n["twice"],
        "sin": n["sin"],
        "cos": n["cos"],
        "calls": n["divisors"] + n["sqrt"] + n["other"],
        "convention": graph["convention"],
    }


def cheapest(graphs: Iterator[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the counts of the cheapest graph of each quantity."""
    found: dict[str, dict[str, Any]] = {}
    for graph in graphs:
        count, known = by_house_rule(graph), found.get(graph["quantity"])
        if known is None or _sum(count) < _sum(known):
            found[graph["quantity"]] = count
    return found


def _sum(count: dict[str, Any]) -> int:
    return count["multiplications"] + count["additions"]


def counts_of(program: Path, only: str) -> dict[str, Any]:
    """Return the counts of all robots that are installed."""
    counts: dict[str, Any] = {}
    for name, robot in ROBOTS.items():
        path = find(robot)
        if path is None or only not in name:
            continue
        free = [pin.JointModelFreeFlyer()] if robot.base == "floating" else []
        theirs = pin.buildModelFromUrdf(str(path), *free)
        ours = Oracle(read(robot, path)).model
        counts[name] = {
            "file": cheapest(graphs_of(program, theirs)),
            "snapped": cheapest(graphs_of(program, ours)),
        }
        print(name, json.dumps(counts[name]), file=sys.stderr, flush=True)
    return counts


def main() -> None:
    """Compile, count and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="take only robots whose name contains this")
    parser.add_argument("--program", type=Path, help="use (or keep) the compiled program here")
    parser.add_argument("--write", type=Path, default=RESULTS, help="where the counts go")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = (options.program or Path(folder) / "graphs").resolve()
        if not program.exists():
            build(program)
        counts = counts_of(program, options.only)
    packages = ("casadi", "pin", "example-robot-data", "frax")
    versions = {package: importlib.metadata.version(package) for package in packages}
    document = {"command": COMMAND, "rule": RULE, "versions": versions, "counts": counts}
    options.write.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
