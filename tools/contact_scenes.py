"""Random scenes with stops, contacts and dry friction: none may run without end, sink in or pull.

    python tools/contact_scenes.py --count 1000 --seed 1 [--processes 2] [--kind sliders]
    python tools/contact_scenes.py --seed 1 --scene 137

Scene n of a seed is always the same. Eight scenes in a row share a mechanism, so that its machine
code is made once, and differ in start, friction and restitution. The table has, for each kind:

    failed        scenes that ended with an error; each is printed with its reason
    sinks (m)     how deep the worst gap lies beyond zero
    pulls         the largest pull of a stop or contact, as a share of the largest force
    cone          by how much friction exceeds Coulomb's cone, as a share of the largest force
    energy        the change of energy + losses - work, as a share of the largest energy
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import chainform as cf
from chainform.graph import Builder
from chainform.simulation import simulate
from chainform.simulation.equations.contact.laws import GapContext, PointContact
from chainform.simulation.equations.evaluate import values_along

Array = NDArray[np.float64]
Random = np.random.Generator

SHARING = 8
"""So many scenes in a row have one mechanism."""
PATIENCE = 300
"""A scene that takes longer (s of the processor) counts as endless."""


@dataclass(frozen=True)
class Scene:
    """A mechanism with the settings of its motion."""

    mechanism: cf.Mechanism
    settings: dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What became of one scene; figures are NaN where it failed."""

    number: int
    kind: str
    seconds: float
    events: int = 0
    figures: tuple[float, ...] = (float("nan"),) * 4
    trouble: str = ""
    is_foreign: bool = False


@dataclass
class Tally:
    """The figures of many scenes of one kind."""

    scenes: int = 0
    failed: int = 0
    events: int = 0
    seconds: float = 0.0
    worst: list[float] = field(default_factory=lambda: [0.0] * len(FIGURES))

    def add(self, outcome: Outcome) -> None:
        self.scenes += 1
        self.failed += bool(outcome.trouble)
        self.events += outcome.events
        self.seconds += outcome.seconds
        if not outcome.trouble:
            self.worst = [max(a, b) for a, b in zip(self.worst, outcome.figures, strict=True)]


FIGURES = ("sinks (m)", "pulls", "cone", "energy")


# --- mechanisms, and starts for them -------------------------------------------------------


def some(random: Random, *values: Any) -> Any:
    """Return one of some values."""
    return values[int(random.integers(len(values)))]


def rounded(values: Array, digits: int = 3) -> list[float]:
    return [float(x) for x in np.round(values, digits)]


def share(random: Random) -> float:
    """Return a restitution: often 0 or 1, else any."""
    return float(some(random, 0.0, 1.0, 0.5, round(float(random.uniform(0, 1)), 2)))


def rough(random: Random) -> float:
    """Return a coefficient of friction."""
    return float(some(random, 0.0, 0.1, 0.3, 0.8, 1.5, round(float(random.uniform(0, 1.5)), 2)))


def turned(random: Random) -> Array:
    """Return a random quaternion."""
    x = random.normal(size=4)
    return x / np.linalg.norm(x)


def sliders(random: Random) -> cf.Mechanism:
    """Return a chain of rods that turn and slide in each other, with stops at both ends."""
    builder, parent = cf.Mechanism.builder("sliders", gravity=(0, "-10", 0)), "ground"
    for k in range(int(random.integers(3, 9))):
        limits = [{}, {"lower": 0, "upper": 1}]
        builder.segment(
            f"k{k}",
            parent=parent,
            joint={"name": f"j{k}", "type": "revolute_prismatic", "limits": limits},
            axes=["z", "x"],
            mass=2,
            com=["-1/2", 0, 0],
            inertia=["0.0016", "0.0016+1/6", "0.0016+1/6"],
        )
        parent = f"k{k}"
    return builder.build()


def sliders_start(mechanism: cf.Mechanism, random: Random) -> dict[str, Any]:
    n = mechanism.nq // 2
    slides = random.uniform(0.05, 0.95, n) if random.random() < 0.7 else np.full(n, 0.25)
    angles = random.uniform(-1, 1, n) if random.random() < 0.7 else np.zeros(n)
    return {
        "q0": np.stack([angles, slides], 1).ravel(),
        "qd0": random.normal(size=2 * n) * some(random, 0.0, 0.5, 2.0),
        "t": 1.0 if n > 5 else 1.5,
        "forces": dict.fromkeys(mechanism.coordinates, str(some(random, "0", "1"))),
        "stops": {"j*_t": share(random)},
    }


def tumbling(random: Random) -> cf.Mechanism:
    """Return a free body, perhaps with arms."""
    builder = cf.Mechanism.builder("tumbling")
    inertia = rounded(random.uniform(0.05, 0.3, 3))
    builder.segment("box", joint="free", mass=2, inertia=inertia)
    for k in range(int(random.integers(0, 3))):
        joint: dict[str, Any] = {"name": f"a{k}", "type": some(random, "revolute", "prismatic")}
        if random.random() < 0.4:
            joint["friction"] = {"coulomb": "0.3", "viscous": "0.02"}
        builder.segment(
            f"arm{k}",
            parent="box",
            joint=joint,
            axis=some(random, "x", "y", "z"),
            position=rounded(random.uniform(-0.3, 0.3, 3), 2),
            mass=1,
            com=[0.2, 0, 0],
            inertia=[0.02] * 3,
        )
    return builder.build()


def tumbling_start(mechanism: cf.Mechanism, random: Random) -> dict[str, Any]:
    ground: dict[str, Any] = {"friction": rough(random), "restitution": share(random)}
    corners = random.uniform(-0.4, 0.4, (int(random.integers(1, 6)), 3))
    points = {f"p{i}": rounded(corner, 2) for i, corner in enumerate(corners)}
    contacts = {"box": {**ground, "points": points}}
    for segment in mechanism.segments[1:]:
        tip = {f"{segment.name} tip": [0.4, 0, 0]}
        contacts[segment.name] = {"friction": ground["friction"], "points": tip}
    arms = mechanism.nq - 7
    return {
        "q0": np.r_[0.0, 0.0, 1.0, turned(random), random.uniform(-0.3, 0.3, arms)],
        "qd0": random.normal(size=6 + arms) * some(random, 0.0, 1.0, 2.0),
        "t": 1.5,
        "contacts": contacts,
    }


def arms(random: Random) -> cf.Mechanism:
    """Return a chain of joints of any kind, some of them with dry friction and limits."""
    builder, parent = cf.Mechanism.builder("arms", gravity=(0, 0, -10)), "ground"
    for k in range(int(random.integers(2, 5))):
        joint: dict[str, Any] = {
            "name": f"j{k}",
            "type": "revolute" if random.random() < 0.7 else "prismatic",
            "limits": {"lower": "-0.6", "upper": "0.5"},
        }
        if random.random() < 0.5:
            joint["friction"] = {"coulomb": some(random, "0.2", "2"), "viscous": "0.05"}
        builder.segment(
            f"s{k}",
            parent=parent,
            joint=joint,
            axis=some(random, "x", "y", "z"),
            position=["0.4", 0, 0] if k else [0, 0, 0],
            mass=1,
            com=["0.2", "0.02", "0.01"],
            inertia=["0.02", "0.03", "0.025"],
        )
        parent = f"s{k}"
    return builder.build()


def arms_start(mechanism: cf.Mechanism, random: Random) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "q0": random.uniform(-0.2, 0.2, mechanism.nq),
        "qd0": random.normal(size=mechanism.nq) * some(random, 0.0, 1.0, 3.0),
        "t": 1.0,
        "stops": {"j*": share(random)},
    }
    if random.random() < 0.7:
        ground = {"friction": rough(random), "restitution": share(random), "point": [0, 0, -0.5]}
        settings["contacts"] = {
            segment.name: {
                "points": {f"l{i}": ["0.4", "0.05", 0], f"r{i}": ["0.4", "-0.05", 0]},
                **ground,
            }
            for i, segment in enumerate(mechanism.segments)
        }
    if random.random() < 0.3:
        settings["forces"] = {"j0": "5*sin(7*t)"}
    return settings


def tables(random: Random) -> cf.Mechanism:
    """Return a free plate, whose legs are points."""
    builder = cf.Mechanism.builder("table")
    builder.segment("plate", joint="free", mass=5, inertia=rounded(random.uniform(0.2, 0.6, 3)))
    return builder.build()


def tables_start(_: cf.Mechanism, random: Random) -> dict[str, Any]:
    n, is_even = int(random.integers(3, 6)), random.random() < 0.6
    angles = 2 * np.pi * (np.arange(n) + (0 if is_even else random.uniform(0, 0.5, n))) / n
    legs = {
        f"leg{i}": [*rounded(np.array([np.cos(a), np.sin(a)]) / 2), -0.4]
        for i, a in enumerate(angles)
    }
    ground: dict[str, Any] = {"friction": rough(random), "restitution": share(random)}
    q0 = np.r_[0.0, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0]
    qd0 = np.zeros(6)
    match some(random, "rest", "slide", "drop", "tilt"):
        case "slide":
            qd0[[0, 1, 5]] = random.normal(size=3)
        case "drop":
            q0[2] += 0.1
        case "tilt":
            axis = random.normal(size=2)
            q0[3:] = np.r_[0.1 * axis / np.linalg.norm(axis), 0, np.sqrt(0.99)]
            q0[2] += 0.2
        case _:
            pass
    return {"q0": q0, "qd0": qd0, "t": 1.0, "contacts": {"plate": {"points": legs, **ground}}}


def loops(random: Random) -> cf.Mechanism:
    """Return a four-bar or a slider-crank with limits, in a vertical plane."""
    builder = cf.Mechanism.builder("loop", gravity=(0, "-9.81", 0))
    a, b = rounded(random.uniform(0.3, 0.6, 1), 2)[0], rounded(random.uniform(0.9, 1.2, 1), 2)[0]
    friction = {"friction": {"coulomb": "0.3"}} if random.random() < 0.5 else {}

    def bar(name: str, length: float, parent: str, position: list[float], more: Any = None) -> None:
        builder.segment(
            name,
            parent=parent,
            joint={"name": name, "type": "revolute", **(more or {})},
            axis="z",
            position=position,
            mass=1,
            com=[length / 2, 0, 0],
            inertia=[0.001, length**2 / 12, length**2 / 12],
        )

    bar("crank", a, "ground", [0, 0, 0], friction)
    bar("rod", b, "crank", [a, 0, 0])
    if random.random() < 0.5:
        bar("rocker", 0.8, "ground", [1.0, 0, 0], {"limits": {"lower": "0.6", "upper": "2"}})
        end: dict[str, Any] = {"segment": "rocker", "point": [0.8, 0, 0]}
    else:
        builder.segment(
            "slide",
            parent="ground",
            joint={
                "name": "slide",
                "type": "prismatic",
                "limits": {"lower": "0.9", "upper": "1.6"},
            },
            axis="x",
            mass=2,
        )
        end = {"segment": "slide"}
    return builder.loop("L", "point", {"segment": "rod", "point": [b, 0, 0]}, end).build()


def loops_start(mechanism: cf.Mechanism, random: Random) -> dict[str, Any]:
    last = mechanism.coordinates[-1]
    start = {"crank": 0.8, "rod": -0.6, last: 1.2 if last == "rocker" else 1.1}
    settings: dict[str, Any] = {
        "q0": start,
        "fixed": ["crank"],
        "qd0": {"crank": float(random.normal()) * 2},
        "t": 1.5,
        "stops": {last: share(random)},
    }
    if random.random() < 0.4:
        settings["contacts"] = {
            "rod": {
                "friction": rough(random),
                "points": {"elbow": [0, 0, 0]},
                "point": [0, -0.2, 0],
            }
        }
    return settings


def stacks(random: Random) -> cf.Mechanism:
    """Return sliders on one line, each above the one before, over ground that may move."""
    builder = cf.Mechanism.builder("stack", gravity=(0, 0, "-9.81"))
    names = "abcde"[: int(random.integers(1, 6))]
    for name in names:
        builder.segment(
            name,
            parent="ground",
            joint={"name": name, "type": "prismatic"},
            axis="z",
            mass=float(some(random, 1, 1, 3, round(float(random.uniform(0.2, 4)), 2))),
        )
    ground = str(some(random, "0", "0", "0.02*sin(20*t)", "0.1*sin(3*t)"))
    for below, above in zip(("", *names), names, strict=False):
        law = f"{above} - {below}" if below else f"{above} - {ground}"
        builder.constraint("unilateral", law, name=f"under {above}", restitution=share(random))
    if random.random() < 0.4:
        law = f"{len(names)}/5 + 1/10 - {names[-1]}"
        builder.constraint("unilateral", law, name="roof", restitution=share(random))
    return builder.build()


def stacks_start(mechanism: cf.Mechanism, random: Random) -> dict[str, Any]:
    n = mechanism.nq
    heights = np.sort(random.uniform(0.0, 0.2 * n, n)) if random.random() < 0.7 else np.zeros(n)
    speeds = random.normal(size=n) * some(random, 0.0, 1.0, 3.0)
    names = [f"under {name}" for name in mechanism.coordinates]
    return {
        "q0": heights,
        "qd0": speeds if heights.any() else np.sort(speeds),
        "t": 1.5,
        "stops": {name: share(random) for name in names},
    }


def several(random: Random) -> cf.Mechanism:
    """Return some free bodies, and a wall joint with friction."""
    builder = cf.Mechanism.builder("several")
    for name in "abc"[: int(random.integers(2, 4))]:
        inertia = rounded(random.uniform(0.01, 0.1, 3))
        builder.segment(
            name, parent="ground", joint={"name": name, "type": "free"}, mass=1, inertia=inertia
        )
    return builder.build()


def several_start(mechanism: cf.Mechanism, random: Random) -> dict[str, Any]:
    contacts: dict[str, Any] = {}
    q0: list[Array] = []
    for segment in mechanism.segments:
        corners = random.uniform(-0.2, 0.2, (int(random.integers(1, 5)), 3))
        points = {f"{segment.name}{i}": rounded(corner, 2) for i, corner in enumerate(corners)}
        normal = rounded(np.r_[random.uniform(-0.3, 0.3, 2), 1.0], 2)
        ground = {"friction": rough(random), "restitution": share(random), "normal": normal}
        contacts[segment.name] = {"points": points, **ground}
        q0.append(np.r_[random.uniform(-0.3, 0.3, 2), 0.6, turned(random)])
    rates = random.normal(size=6 * len(q0)) * some(random, 0.0, 2.0)
    return {"q0": np.concatenate(q0), "qd0": rates, "t": 1.0, "contacts": contacts}


KINDS: dict[str, tuple[Callable[[Random], cf.Mechanism], Callable[..., dict[str, Any]]]] = {
    "sliders": (sliders, sliders_start),
    "tumbling": (tumbling, tumbling_start),
    "arms": (arms, arms_start),
    "tables": (tables, tables_start),
    "loops": (loops, loops_start),
    "stacks": (stacks, stacks_start),
    "several": (several, several_start),
}


# --- running and measuring ------------------------------------------------------------------


def kind_of(number: int, only: str | None = None) -> str:
    names = list(KINDS)
    return only or names[number // SHARING % len(names)]


def scene(seed: int, number: int, kind: str) -> Scene:
    """Return a scene by its number, the same at any time."""
    make, start = KINDS[kind]
    mechanism = make(np.random.default_rng([seed, number // SHARING, 0]))
    return Scene(mechanism, start(mechanism, np.random.default_rng([seed, number, 1])))


def measured(run: cf.Run) -> tuple[float, ...]:
    """Return the figures of a run, in the order of `FIGURES`."""
    size = max((float(np.abs(f).max()) for f in run.contact_forces.values()), default=0.0) + 1.0
    states = {"t": run.t, "q": run.q, "qd": run.qd}
    sinks = pulls = cone = 0.0
    for barrier in run.barriers.rigid:
        builder = Builder()
        context = GapContext(builder, run.mechanism)
        builder.output("gap", (1,), [("gap", barrier.residuals(context)[0])])
        sinks = max(sinks, -float(values_along(builder.finish(), "gap", states).min()))
        pulls = max(pulls, -float(run.contact_forces[barrier.name].min()) / size)
        if isinstance(barrier, PointContact):
            load, normal = run.contact_loads[barrier.name], np.array(barrier.normal, dtype=float)
            push = load @ normal
            across = np.linalg.norm(load - np.outer(push, normal), axis=1)
            cone = max(cone, float((across - barrier.friction * push).max()) / size)
    energies = (run.kinetic_energy, run.losses, run.work, run.energy - run.energy[0])
    largest = max(float(np.abs(part).max()) for part in energies) + 1e-3
    return sinks, pulls, cone, float(np.ptp(run.balance)) / largest


class EndlessError(cf.Error):
    """A scene takes too long."""


@dataclass(frozen=True)
class _Limit:
    """Ends a motion that takes too long; it is called now and then with the time in it."""

    began: float

    def __call__(self, t: float) -> None:
        if time.process_time() - self.began > PATIENCE:
            raise EndlessError(f"endless: {PATIENCE} s were not enough, t = {t:.9g} s")


def outcome(seed: int, number: int, kind: str) -> Outcome:
    """Run a scene and measure it."""
    began = time.process_time()
    trouble, is_foreign, events = "", False, 0
    figures: tuple[float, ...] = (float("nan"),) * len(FIGURES)
    try:
        made = scene(seed, number, kind)
        run = simulate(made.mechanism, **made.settings, progress=_Limit(began))
        events, figures = len(run.events), measured(run)
        if not np.all(np.isfinite(figures)):
            trouble = f"figures without value: {figures}"
    except cf.Error as problem:
        trouble = " / ".join(str(problem).splitlines())
    except Exception:  # noqa: BLE001, since a foreign exception is what this looks for
        trouble, is_foreign = traceback.format_exc(limit=-3), True
    seconds = time.process_time() - began
    return Outcome(number, kind, seconds, events, figures, trouble, is_foreign)


def _task(given: tuple[int, int, str]) -> list[Outcome]:
    seed, first, kind = given
    return [outcome(seed, number, kind) for number in range(first, first + SHARING)]


def outcomes(seed: int, numbers: range, processes: int, only: str | None) -> Iterable[Outcome]:
    """Return what becomes of scenes, those of one mechanism in one process."""
    groups = range(numbers.start // SHARING, -(-numbers.stop // SHARING))
    tasks = [(seed, SHARING * g, kind_of(SHARING * g, only)) for g in groups]
    if processes == 1:
        found: Iterable[list[Outcome]] = map(_task, tasks)
        yield from (one for group in found for one in group if one.number in numbers)
        return
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for group in pool.imap(_task, tasks):
            yield from (one for one in group if one.number in numbers)


def show(one: Outcome, seed: int) -> None:
    kind = f" --kind {one.kind}"
    print(f"  scene {one.number} ({one.kind}): {one.trouble}")
    print(f"    repeat: python tools/contact_scenes.py --seed {seed} --scene {one.number}{kind}")


def main(arguments: list[str] | None = None) -> int:
    """Run scenes, print every failure and the table; return 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="number of the first scene")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scene", type=int, help="run this scene only")
    parser.add_argument("--kind", choices=list(KINDS), help="scenes of this kind only")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args(arguments)
    numbers = range(given.first, given.first + given.count)
    if given.scene is not None:
        numbers = range(given.scene, given.scene + 1)
    tallies = {kind: Tally() for kind in KINDS}
    worst: dict[str, tuple[float, int]] = {}
    foreign = 0
    for one in outcomes(given.seed, numbers, given.processes, given.kind):
        tallies[one.kind].add(one)
        foreign += one.is_foreign
        if one.trouble:
            show(one, given.seed)
        for name, value in zip(FIGURES, one.figures, strict=True):
            if value > worst.get(name, (-1.0, 0))[0]:
                worst[name] = (value, one.number)
        sys.stdout.flush()
    print_table(tallies, worst)
    failed = sum(tally.failed for tally in tallies.values())
    print(f"{len(numbers)} scenes, {failed} failed, {foreign} of them with a foreign exception")
    return int(failed > 0)


def print_table(tallies: dict[str, Tally], worst: dict[str, tuple[float, int]]) -> None:
    names = "".join(f"{name:>11}" for name in FIGURES)
    print(f"{'kind':<10}{'scenes':>7}{'failed':>7}{'events':>8}{'seconds':>9}{names}")
    for kind, tally in tallies.items():
        if tally.scenes:
            figures = "".join(f"{value:11.1e}" for value in tally.worst)
            counts = f"{tally.scenes:7}{tally.failed:7}{tally.events:8}{tally.seconds:9.1f}"
            print(f"{kind:<10}{counts}{figures}")
    for name, (value, number) in worst.items():
        print(f"largest {name}: {value:.1e} in scene {number}")


if __name__ == "__main__":
    raise SystemExit(main())
