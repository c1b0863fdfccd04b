"""Paths from a mechanism to a motion and what follows from it."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import chainform as cf
from chainform.simulation import simulate_batch
from tools.campaign.paths.bound import with_wrong_values
from tools.campaign.paths.statics import Given, Results, mechanism_of


def arguments_of(given: Given, **more: Any) -> dict[str, Any]:
    """Return the arguments of `simulate` for the motion of a case."""
    motion = given["motion"]
    names = ("q0", "qd0", "forces", "signals", "controllers", "stops", "contacts", "hold")
    found = {name: motion[name] for name in names if motion.get(name)}
    found |= {"t": motion["times"][-1], "t_eval": motion["times"], "rtol": 1e-9}
    return {**found, **more}


def states(run: Any) -> Results:
    """Return times and states of a run."""
    return {"t": run.t, "q": run.q, "qd": run.qd}


def laws(given: Given, run: Any) -> Results:
    """Return what must be zero along a motion: drift of the balance, depth in stops, pull."""
    found: Results = {}
    if run.energy_balance is not None:
        scale = 1 + np.abs(run.kinetic_energy).max() + np.abs(run.work).max()
        found["drift of the balance"] = np.ptp(run.balance) / scale
    for joint, stop in (given["motion"].get("stops") or {}).items():
        x = run.q[:, run.mechanism.coordinate_index(joint)]
        depth = max(stop.get("lower", -np.inf) - x.min(), x.max() - stop.get("upper", np.inf))
        found[f"depth in the stop of {joint}"] = max(0.0, depth)
    for name, push in run.contact_forces.items():
        found[f"pull of {name}"] = max(0.0, -push.min()) / (1 + np.abs(push).max())
    return found


def impacts_of(run: Any) -> Results:
    """Return times of impacts, and the rates after each."""
    found = [h for h in run.events if hasattr(h, "qd_after")]
    return {"impacts": [h.t for h in found], "rates after impacts": [h.qd_after for h in found]}


def simulated(given: Given) -> Results:
    """The motion by the usual method, with everything that acts, and its laws."""
    run = cf.simulate(mechanism_of(given), **arguments_of(given))
    return {**states(run), **impacts_of(run), **laws(given, run)}


def by_method(given: Given) -> Results:
    """The motion by the method of the case; with fixed steps also by steps of half the length."""
    method = given["motion"]["method"]
    steps = {"rk4": 1e-3, "heun": 5e-4, "euler": 2e-4, "semi_implicit": 2e-4}
    steps |= {"midpoint": 1e-3, "gauss4": 2e-3, "gauss6": 4e-3}
    mechanism, arguments = mechanism_of(given), arguments_of(given, method=method)
    if method not in steps:
        return states(cf.simulate(mechanism, **arguments))
    coarse, fine = (
        cf.simulate(mechanism, **arguments, step=steps[method] / part) for part in (1, 2)
    )
    spread = {
        f"spread of {name}": getattr(coarse, name) - getattr(fine, name) for name in ("q", "qd")
    }
    return {**states(fine), **spread}


def events(given: Given) -> Results:
    """Events of a law: when each happens, and in which state; one with `stop` ends the motion."""
    run = cf.simulate(mechanism_of(given), **arguments_of(given, events=given["motion"]["events"]))
    found = [h for h in run.events if h.name == "mark"]
    states = {f"{name} at events": [getattr(h, name) for h in found] for name in ("q", "qd")}
    return {"events": [h.t for h in found], **states}


def reduced(given: Given) -> Results:
    """The motion by reduced equations."""
    return states(cf.simulate(mechanism_of(given), **arguments_of(given, reduce="fast")))


def stabilised(given: Given) -> Results:
    """Loops held by Baumgarte's method, and by accelerations alone."""
    mechanism = mechanism_of(given)
    results: Results = {}
    for how in ("baumgarte", "none"):
        run = cf.simulate(mechanism, **arguments_of(given, stabilise=how))
        results |= {f"{name} {how}": getattr(run, name) for name in ("q", "qd")}
    return results


def reactions_of(run: Any) -> Results:
    """Return the reactions along a run, or why there are none."""
    try:
        return {"reactions along": run.reactions}
    except cf.Error as error:
        return {"refusal of reactions": error}


def outputs(given: Given) -> Results:
    """What follows from the states of a run: compared at these very states."""
    run = cf.simulate(mechanism_of(given), **arguments_of(given))
    found = {**states(run), "tau": run.tau, "qdd along": run.qdd}
    for name in ("kinetic_energy", "potential_energy", "momentum", "mass_matrix"):
        found[f"{name} along"] = run.output(name)
    name = given["mechanism"]["segments"][-1]["name"]
    found[f"pose({name}) along"] = run.output(f"pose({name})")
    found |= reactions_of(run)
    if run.mechanism.actuators:
        found |= {"x": run.x, "u": run.u, "drives along": run.drives}
    if run.multipliers.shape[1]:
        found |= {"multipliers along": run.multipliers, "sigma": run.sigma}
    return found


def with_values(given: Given) -> Results:
    """Parameters and numbers of the mechanism given to `simulate`."""
    mechanism, values, _ = with_wrong_values(given)
    run = cf.simulate(mechanism, **arguments_of(given, values=values))
    found = {**states(run), "tau": run.tau, "qdd along": run.qdd}
    found["kinetic_energy along"] = run.kinetic_energy
    found["potential_energy along"] = run.potential_energy
    found |= reactions_of(run)
    if run.multipliers.shape[1]:
        found |= {"multipliers along": run.multipliers, "sigma": run.sigma}
    if run.mechanism.actuators:
        found |= {"x": run.x, "u": run.u}
    return found


def starts_of(given: Given) -> dict[str, Any]:
    """Return states of their own for the motions of a batch; stops and contacts begin open."""
    motion, lanes = given["motion"], given["batch"]
    is_open = motion.get("stops") or motion.get("contacts")
    poses = [motion["q0"] if is_open else lane["q"] for lane in lanes]
    return {"q0": np.array(poses), "qd0": np.array([lane["qd"] for lane in lanes])}


def of_lanes(run: Any) -> Results:
    """Return the states of the first and of the last motion of a batch."""
    chosen = sorted({0, len(run.q) - 1})
    return {
        f"{name} of lane {lane}": getattr(run, name)[lane]
        for lane in chosen
        for name in ("q", "qd")
    }


def batch(given: Given) -> Results:
    """Many motions at once, from states of their own; with stops each has its impacts."""
    run = simulate_batch(mechanism_of(given), **arguments_of(given, **starts_of(given)))
    found = of_lanes(run)
    if given["motion"].get("stops"):
        last = len(run.q) - 1
        found[f"impacts of lane {last}"] = impacts_of(run.runs[last])["impacts"]
    return found


def batch_with_fixed_steps(given: Given) -> Results:
    """Many motions side by side in vector registers, and with steps of half the length."""
    mechanism, starts = mechanism_of(given), starts_of(given)
    coarse, fine = (
        of_lanes(
            simulate_batch(mechanism, **arguments_of(given, **starts, method="rk4", step=step))
        )
        for step in (1e-3, 5e-4)
    )
    return {**fine, **{f"spread of {name}": coarse[name] - fine[name] for name in fine}}


def batch_with_values(given: Given) -> Results:
    """Many motions with values of their own: the right ones in one lane, others elsewhere."""
    mechanism, values, _ = with_wrong_values(given)
    lanes = {name: np.linspace(0.8, 1.2, 9) * value for name, value in values.items()}
    fixed = {"method": "rk4", "step": 2e-4} if given["motion"].get("lanes") else {}
    run = simulate_batch(mechanism, **arguments_of(given, values=lanes, **fixed))
    return {"t": run.t, "q": run.q[4], "qd": run.qd[4]}


def resumed(given: Given) -> Results:
    """A motion in two parts."""
    mechanism, times = mechanism_of(given), given["motion"]["times"]
    middle = times[len(times) // 2]
    first = [t for t in times if t <= middle]
    half = cf.simulate(mechanism, **arguments_of(given, t=middle, t_eval=first))
    return states(cf.simulate(mechanism, **arguments_of(given, resume=half)))


def resumed_with_more_times(given: Given) -> Results:
    """A motion in two parts; the second asks for all times, the first for its end only."""
    mechanism, times = mechanism_of(given), given["motion"]["times"]
    middle = times[len(times) // 2]
    half = cf.simulate(mechanism, **arguments_of(given, t=middle, t_eval=[middle]))
    return states(cf.simulate(mechanism, **arguments_of(given, resume=half)))


def resumed_from_store(given: Given) -> Results:
    """A motion half of which was in a store, and half of which was in a file."""
    mechanism, times = mechanism_of(given), given["motion"]["times"]
    middle = times[len(times) // 2]
    first = [t for t in times if t <= middle]
    half = cf.simulate(mechanism, **arguments_of(given, t=middle, t_eval=first))
    with TemporaryDirectory() as folder, cf.open_store(f"{folder}/models.db") as store:
        store.save(cf.derive(mechanism, ["mass_matrix"]), "case")
        store.save_run(half, "case", "half")
        half.save(f"{folder}/half.npz")
        kept = cf.Run.load(store.run("case", "half")), cf.Run.load(f"{folder}/half.npz")
    one, other = (cf.simulate(mechanism, **arguments_of(given, resume=run)) for run in kept)
    same = {f"same {n} from a file": (getattr(other, n), getattr(one, n)) for n in ("q", "qd")}
    return {**states(one), **same}


def saved(given: Given) -> Results:
    """A run that was written to files and read again."""
    run = cf.simulate(mechanism_of(given), **arguments_of(given))
    names = ["t", "q", "qd", "tau", "qdd", "energy", "multipliers"]
    names += [name for name in ("reactions",) if f"{name} along" in reactions_of(run)]
    found: Results = states(run)
    with TemporaryDirectory() as folder:
        for ending in ("npz", "csv", "parquet"):
            run.save(Path(folder) / f"run.{ending}")
            again = cf.Run.load(Path(folder) / f"run.{ending}")
            for name in names:
                pair = (getattr(again, name), getattr(run, name))
                found[f"same {name} from {ending}"] = pair
    return found


def scenario(given: Given) -> Results:
    """The motion as a scenario file says it."""
    motion = given["motion"]
    table: dict[str, Any] = {"mechanism": given["mechanism"], "time": motion["times"][-1]}
    table["initial"] = {"q": motion["q0"], "qd": motion["qd0"]}
    table["output"] = {"times": motion["times"]}
    table["solver"] = {"rtol": 1e-9}
    names = ("forces", "signals", "controllers", "stops", "contacts")
    table |= {name: motion[name] for name in names if motion.get(name)}
    if motion.get("hold"):
        table["forces"] = {**motion.get("forces", {}), "hold": motion["hold"]}
    with TemporaryDirectory() as folder:
        file = Path(folder) / "case.json"
        file.write_text(json.dumps(table))
        return states(cf.simulate(file))


def sampled(given: Given) -> Results:
    """Controllers with a sample time of their own do what `hold` does to all efforts."""
    table: dict[str, Any] = {n: v for n, v in given["motion"]["controllers"].items() if v}
    if any(control["type"] == "pid" for control in table.values()):
        return {}
    mechanism = mechanism_of(given)
    alone: dict[str, Any] = {"forces": None, "signals": None}
    hold = 0.013
    own = {name: {**control, "sample": hold} for name, control in table.items()}
    each = cf.simulate(mechanism, **arguments_of(given, **alone, hold=None, controllers=own))
    every = cf.simulate(mechanism, **arguments_of(given, **alone, hold=hold))
    return {f"same {n} by samples": (getattr(each, n), getattr(every, n)) for n in ("q", "qd")}


def sensitivities(given: Given) -> Results:
    """How a motion changes along one direction of all starts and parameters."""
    mechanism, motion = mechanism_of(given), given["motion"]
    if mechanism.nq != mechanism.nv or motion.get("hold") or "coulomb" in str(given["mechanism"]):
        return {}
    names = list(given["mechanism"].get("parameters", ()))
    found = cf.sensitivities(mechanism, names, ["q0", "qd0"], **arguments_of(given))
    direction = np.cos(np.arange(2 * mechanism.nv + len(names)))
    slopes = np.concatenate([found["d(q)"], found["d(qd)"]], axis=1) @ direction
    return {"by": found.facts["by"], "direction": direction, "change of a motion": slopes}
