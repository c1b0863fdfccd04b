"""Every robot file against Pinocchio: `python benchmarks/robots.py [--write docs/robots.md]`.

For each URDF in the packages example-robot-data, pybullet and rtb-data (those installed) that both
read: fixed and floating base, exact as in the file; the largest relative deviation from Pinocchio
over mass matrix, bias, Coriolis matrix, inverse dynamics, Jacobian, energies and momentum at random
states; the residual of forward dynamics; operation counts and seconds to derive inverse dynamics.
With snapping on, the deviation is compared with the effect that the reader reports.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

import chainform as cf
from chainform.readers.urdf.snap import effect_of

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from robots import Comparison, UrdfOracle, compare, robot_files

PACKAGES = ("example-robot-data", "pybullet", "rtb-data")
HEADER = (
    "| robot | base | nv | inverse dynamics | mass matrix | forward dynamics | seconds | deviation "
    "| forward residual | effect of snapping | deviation with snapping |\n"
    "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
)


@dataclass(frozen=True)
class Row:
    """One robot with one kind of base."""

    name: str
    base: str
    nv: int
    counts: dict[str, str]
    seconds: float
    comparison: Comparison
    effect: float
    """The largest effect of snapping: m, rad, or part of an inertia."""
    snapped: float
    """The deviation of inverse dynamics with snapping."""

    @property
    def is_explained(self) -> bool:
        """Whether the deviation with snapping is within the effect that is reported."""
        return self.snapped <= self.effect + 1e-9

    def text(self) -> str:
        """Return the row of the table."""
        found = dict(self.comparison.deviations)
        residual = found.pop("forward_dynamics", None)
        forward = "singular" if residual is None else f"{residual:.0e}"
        worst = max(found.values(), default=0.0)
        counts = " | ".join(self.counts.values())
        return (
            f"| {self.name} | {self.base} | {self.nv} | {counts} | {self.seconds:.2f} "
            f"| {worst:.0e} | {forward} | {self.effect:.0e} | {self.snapped:.0e} |"
        )


def row_of(name: str, path: Path, base: str) -> Row | str:
    """Return the row of a file, or why there is none."""
    try:
        oracle = UrdfOracle(path, base)
    except Exception as refusal:  # noqa: BLE001  (whatever the peer raises is its refusal)
        reason = str(refusal).replace(str(path), path.name).strip().splitlines()[0]
        return f"Pinocchio: {reason}"
    try:
        exact = cf.read(path, base=base, snap=0, mimic="free")
    except cf.Error as refusal:
        return f"chainform: {refusal.message}"
    if exact.nv == 0:
        return "no moving joint"
    comparison = compare(exact, oracle, states=2)
    snapped = cf.read(path, base=base, mimic="free")
    counts: dict[str, str] = {}
    seconds = 0.0
    for output in ("inverse_dynamics", "mass_matrix", "forward_dynamics"):
        try:
            start = perf_counter()
            count = cf.derive(snapped, [output], without=("friction",)).count()
            seconds = seconds or perf_counter() - start
            counts[output] = f"{count.multiplications}/{count.additions}"
        except cf.Error:
            counts[output] = ""
    reported = effect_of(snapped, exact)
    effect = max(reported.position, reported.orientation, reported.inertia)
    deviation = snapped_deviation(snapped, oracle)
    return Row(name, base, exact.nv, counts, seconds, comparison, effect, deviation)


def snapped_deviation(mechanism: cf.Mechanism, oracle: UrdfOracle) -> float:
    """Return how far inverse dynamics of the snapped mechanism is from that of the file."""
    oracle.match(mechanism)
    rng = np.random.default_rng(1)
    q, theirs = oracle.state(rng)
    qd, qdd = rng.uniform(-1, 1, (2, mechanism.nv))
    model = cf.derive(mechanism, ["inverse_dynamics"], without=("friction",))
    got = model.evaluate(q=q, qd=qd, qdd=qdd)
    result = Comparison()
    result.note("tau", got["inverse_dynamics"], oracle.rnea(theirs, qd, qdd))
    return result.worst


def rows(filter_: str) -> Iterator[tuple[str, str, Row | str]]:
    """Go through all files of the packages that are installed."""
    for package in PACKAGES:
        try:
            files = robot_files(package)
        except importlib.metadata.PackageNotFoundError:
            continue
        for name, path in files.items():
            # The thousand single random bodies of pybullet are no robots.
            if filter_ in name and "random_urdfs" not in name:
                for base in ("fixed", "floating"):
                    yield path.stem, base, row_of(path.stem, path, base)


def main() -> None:
    """Print the table, or write it into a page of the docs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="take only files whose path contains this")
    parser.add_argument("--write", type=Path, help="write a page instead of printing")
    options = parser.parse_args()
    lines, refused, worst, unexplained = [HEADER], [], 0.0, 0
    for name, base, row in rows(options.only):
        if isinstance(row, Row):
            lines.append(row.text())
            worst = max(worst, row.comparison.worst)
            unexplained += not row.is_explained
            print(lines[-1], file=sys.stderr, flush=True)
        else:
            refused.append(f"- {name}, {base}: {row}")
    summary = (
        f"{len(lines) - 1} models of robots, largest deviation from Pinocchio {worst:.0e}; "
        f"{len(refused)} not compared. With snapping, {unexplained} models deviate by more than "
        f"the reported effect explains."
    )
    text = "\n".join([summary, "", *lines, "", "Not compared:", "", *refused]) + "\n"
    if options.write:
        intro = "# Robots, compared with Pinocchio\n\nMade by `python benchmarks/robots.py`. "
        options.write.write_text(intro + "Counts are multiplications/additions.\n\n" + text)
    else:
        print(text)


if __name__ == "__main__":
    main()
