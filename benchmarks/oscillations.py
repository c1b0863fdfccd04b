"""Modes of oscillation, and the pictures of docs/oscillations.md.

    python benchmarks/oscillations.py            # the table
    python benchmarks/oscillations.py --draw     # docs/pictures/modes.png and locus.png as well

Talos on a fixed base, in a pose that torques hold, its joints against springs of 500 N m/rad. The
first call derives the equations and their derivatives; the others have them in a cache. The
poles are compared with those of Pinocchio: its mass matrix, damping, differences of weights.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "tests")]

import numpy as np  # noqa: E402

import chainform as cf  # noqa: E402
from robots import example_robot  # noqa: E402
from unit.analysis.oscillators import top  # noqa: E402

SPRING, STEP, TIMES = 500.0, 1e-6, 5
PICTURES = HERE.parent / "docs" / "pictures"


def held(robot: cf.Mechanism) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a pose with the torques that hold it, and springs at all joints."""
    n = robot.nv
    q, still = 0.3 * np.cos(np.arange(n)), np.zeros(n)
    model = cf.derive(robot, ["inverse_dynamics"])
    tau = model.evaluate(q=q, qd=still, qdd=still)["inverse_dynamics"]
    springs = {
        name: f"-{SPRING}*(q{k + 1} - ({float(q[k])!r}))" for k, name in enumerate(robot.rates)
    }
    return {"q": q, "tau": tau}, springs


def poles(file: Path, robot: cf.Mechanism, q: Any) -> Any:
    """Return those of Pinocchio's mass matrix, weights by differences, springs and dampers, 1/s."""
    pin: Any = import_module("pinocchio")
    model = pin.buildModelFromUrdf(str(file))
    data, n = model.createData(), model.nv
    q = q[[robot.rates.index(name) for name in list(model.names)[1:]]]
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    columns = [
        pin.computeGeneralizedGravity(model, data, q + s * STEP * row).copy()
        for row in np.eye(n)
        for s in (1, -1)
    ]
    K = (np.array(columns[::2]) - np.array(columns[1::2])).T / (2 * STEP) + SPRING * np.eye(n)
    lower = np.linalg.solve(M, np.hstack([-K, -np.diag(model.damping)]))
    found = np.linalg.eigvals(np.vstack([np.hstack([np.zeros((n, n)), np.eye(n)]), lower]))
    return found[found.imag >= 0]


def draw() -> None:
    """Draw the modes of a triple pendulum side by side, and the poles of a top by its spin."""
    image: Any = import_module("PIL.Image")
    found = cf.modes(triple_pendulum())
    size, files = (420, 600), [PICTURES / f"mode{k}.png" for k in (1, 2, 3)]
    whole = image.new("RGB", (3 * size[0], size[1]))
    for k, file in enumerate(files):
        found.picture(file, mode=k + 1, size=size, amplitude=0.3, trace=False)
        whole.paste(image.open(file), (k * size[0], 0))
        file.unlink()
    whole.save(PICTURES / "modes.png")
    spin = cf.root_locus(top("cardan"), "n", (30, 60), count=121, qd=[0, 0, "n"])
    title = "poles of a top, from 30 to 60 rad/s"
    spin.plot(
        ["pole_imag"], PICTURES / "locus.png", over="pole_real", title=title, height=3.6, dpi=100
    )


def triple_pendulum() -> cf.Mechanism:
    """Return three equal rods that hang one below the other."""
    builder = cf.Mechanism.builder("triple pendulum", gravity=(0, 0, "-9.81"))
    rod: dict[str, Any] = {"axis": "y", "mass": 1, "com": [0, 0, "-0.25"]}
    for k in (1, 2, 3):
        place = {"parent": f"rod{k - 1}", "position": [0, 0, "-0.5"]} if k > 1 else {}
        builder.segment(f"rod{k}", inertia=["1/48", "1/48", 0], **rod, **place)
    return builder.build()


def main() -> None:
    """Print a line for each robot."""
    for name in ("talos_reduced.urdf", "ur5_robot.urdf"):
        file = example_robot(name)
        robot = cf.read(file)
        state, springs = held(robot)
        times: list[float] = []
        for _ in range(1 + TIMES):
            begin = perf_counter()
            found = cf.modes(robot, state, forces=springs)
            times.append(perf_counter() - begin)
        own = found["pole_real"] + 1j * found["pole_imag"]
        wanted = poles(file, robot, state["q"])
        apart = max(np.min(np.abs(wanted - pole)) / abs(pole) for pole in own)
        print(
            f"{name}: {robot.nv} joints, first call {times[0]:.2f} s, then {min(times[1:]):.3f} s, "
            f"{len(own)} modes, {apart:.1e} from Pinocchio with differences"
        )


if __name__ == "__main__":
    main()
    if "--draw" in sys.argv[1:]:
        draw()
