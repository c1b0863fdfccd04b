"""Whether motions stay what they were, bit by bit, while the code around them changes.

    python tools/trajectories.py --write FILE.npz      keep the motions of all scenarios
    python tools/trajectories.py --compare FILE.npz    tell which differ now, and by how much

Machine code differs from processor to processor: write and compare on one machine.
"""

from __future__ import annotations

import sys
import tomllib
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import chainform as cf
from chainform.simulation import simulate_batch

Array = NDArray[np.float64]
SCENARIOS = Path(__file__).resolve().parents[1] / "examples" / "scenarios"


def motions(names: list[str]) -> Iterator[tuple[str, Array]]:
    """Yield the states of scenarios with their times, (m, 1 + nq + nv) or (b, m, ...), by names."""
    for path in sorted(SCENARIOS.glob("*.toml")):
        if names and path.stem not in names:
            continue
        is_batch = "batch" in tomllib.loads(path.read_text(encoding="utf-8"))
        run = simulate_batch(path) if is_batch else cf.simulate(path)
        times = np.broadcast_to(run.t[:, None], (*run.q.shape[:-1], 1))
        yield path.stem, np.concatenate([times, run.q, run.qd], axis=-1)


def differences(before: dict[str, Array], now: dict[str, Array]) -> dict[str, str]:
    """Return what is no longer the same, by names of scenarios."""
    found: dict[str, str] = {}
    for name in sorted({*before, *now}):
        if name not in before or name not in now:
            found[name] = "is new" if name in now else "is missing"
        elif before[name].shape != now[name].shape:
            found[name] = f"the shape {before[name].shape} became {now[name].shape}"
        elif not np.array_equal(before[name], now[name], equal_nan=True):
            found[name] = f"differs by {np.nanmax(np.abs(before[name] - now[name])):.3g}"
    return found


def main(texts: list[str] | None = None) -> int:
    """Write motions, or compare them; 1 if one differs."""
    parser = ArgumentParser(prog="trajectories.py", description=__doc__)
    parser.add_argument("--write", type=Path, metavar="FILE")
    parser.add_argument("--compare", type=Path, metavar="FILE")
    parser.add_argument("names", nargs="*", help="scenarios; all of them by default")
    given = parser.parse_args(texts)
    now = dict(motions(given.names))
    if given.write is not None:
        np.savez(given.write, allow_pickle=False, **now)
    if given.compare is None:
        return 0
    with np.load(given.compare) as file:
        before = {name: file[name] for name in file if not given.names or name in given.names}
    found = differences(before, now)
    for name, what in found.items():
        print(f"{name}: {what}")
    print(f"{len(now)} motions, {len(found)} differ")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
