"""Every URDF file of some packages of PyPI: `python benchmarks/urdf_check.py [--write]`.

Reads all files of example-robot-data, pybullet and rtb-data, as far as these are installed, and
prints a table in Markdown: what was read, or why not; whether Pinocchio reads the file; and the
largest difference (m, or entries of rotations) between the two in the places of all links at a
random state, without snapping. `--write` puts the table into docs/urdf.md.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from time import perf_counter

import numpy as np

from chainform.errors import Error
from chainform.mechanism import Mechanism, poses_of
from chainform.readers import read

try:
    import pinocchio as pin
except ImportError:
    pin = None

PACKAGES = ("example-robot-data", "pybullet", "rtb-data")
PAGE = Path(__file__).parents[1] / "docs" / "urdf.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
FAMILY = "pybullet_data/random_urdfs/"
"""A thousand objects of one link each, which share one row."""


def urdf_files(package: str) -> list[tuple[str, Path]]:
    """Return the URDF files of an installed package: short name and place."""
    try:
        installed = files(package) or []
    except PackageNotFoundError:
        print(f"{package} is not installed; its files are left out", file=sys.stderr)
        return []
    found = sorted(str(file) for file in installed if file.suffix == ".urdf")
    places = {str(file): Path(str(file.locate())) for file in installed if file.suffix == ".urdf"}
    return [(re.sub(r"^.*example-robot-data/robots/", "", name), places[name]) for name in found]


@contextmanager
def silence() -> Iterator[None]:
    """Lead what C++ writes to the error stream nowhere."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def row_of(path: Path) -> tuple[str, str, str]:
    """Return what we make of a file, what Pinocchio makes of it, and how far they differ."""
    model = reason = None
    if pin is not None:
        try:
            with silence():
                model = pin.buildModelFromXML(path.read_bytes().decode("utf-8", "replace"))
        except (ValueError, RuntimeError) as error:
            reason = str(error).splitlines()[0].rstrip(".")
    theirs = "not installed" if pin is None else "reads it" if model else f"refuses: {reason}"
    try:
        mechanism = read(path)
        literal = read(path, mimic="free", snap=0)
        read(path, base="floating")
    except Error as error:
        where = f"{error.element}: " if error.element else ""
        return f"refused: {where}{error.message}", theirs, ""
    difference = f"{distance(literal, model):.0e}" if model else ""
    return summary(mechanism), theirs, difference


def summary(mechanism: Mechanism) -> str:
    """Return how much was read, and what was said about it."""
    levels = Counter(note.level for note in mechanism.notes)
    snaps = [note.text for note in mechanism.notes if note.element == "snapping"]
    effect = re.findall(r"largest effect: (\S+ m, \S+ rad)", snaps[0])[0] if snaps else "none"
    return (
        f"{mechanism.nv} freedoms, {len(mechanism.segments)} segments, "
        f"{levels['note']} notes, {levels['warning']} warnings; snapping {effect}"
    )


def distance(mechanism: Mechanism, model: object) -> float:
    """Return the largest difference between the places of all links at a random state."""
    rng = np.random.default_rng(0)
    q, their_q = np.zeros(mechanism.nq), pin.neutral(model)
    for segment in mechanism.segments:
        if segment.coordinate is None:
            continue
        joint = model.joints[model.getJointId(segment.joint.name)]
        value = rng.uniform(-1, 1)
        q[segment.coordinate] = value
        continuous = [np.cos(value), np.sin(value)]
        their_q[joint.idx_q : joint.idx_q + joint.nq] = continuous if joint.nq == 2 else value
    data = model.createData()
    pin.framesForwardKinematics(model, data, their_q)
    poses = poses_of(mechanism, q)
    greatest = 0.0
    for index, segment in enumerate(mechanism.segments):
        if model.existFrame(segment.name, pin.FrameType.BODY):
            place = data.oMf[model.getFrameId(segment.name, pin.FrameType.BODY)]
            turn = np.max(np.abs(place.rotation - poses.rotations[index]))
            shift = np.max(np.abs(place.translation - poses.positions[index]))
            greatest = max(greatest, float(turn), float(shift))
    return greatest


def table() -> str:
    """Return the whole table, with a line of totals above it."""
    start = perf_counter()
    rows: list[tuple[str, str, str, str]] = []
    for package in PACKAGES:
        rows += [(name, *row_of(path)) for name, path in urdf_files(package)]
    print(f"{len(rows)} files in {perf_counter() - start:.0f} s", file=sys.stderr)
    family = [row for row in rows if row[0].startswith(FAMILY)]
    others = [row for row in rows if not row[0].startswith(FAMILY)]
    if family:
        ours, theirs = ({row[k].split(":")[0].split(";")[0] for row in family} for k in (1, 2))
        merged = " or ".join(sorted(ours)), " or ".join(sorted(theirs))
        worst = max((row[3] for row in family), key=lambda text: float(text or 0))
        others.append((f"{FAMILY}*, {len(family)} files", *merged, worst))
    refused = sum(row[1].startswith("refused") for row in rows)
    theirs = sum(row[2].startswith("refuses") for row in rows)
    totals = f"{len(rows)} files, {len(rows) - refused} read, {refused} refused"
    lines = [
        f"{totals}; Pinocchio refuses {theirs}.",
        "",
        "| file | chainform | Pinocchio | difference |",
        "|---|---|---|---|",
    ]
    lines += ["| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in others]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the table, or put it into the page."""
    text = table()
    if "--write" not in sys.argv[1:]:
        print(text, end="")
        return
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
