"""Paths to formulas and to sources of other languages: what is written is computed."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import math
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import chainform as cf
from tools.campaign.paths.statics import Given, Results, mechanism_of, state_of, wanted


def written(given: Given, mechanism: Any) -> list[str]:
    """Name outputs of which formulas and sources are written."""
    names = ("mass_matrix", "bias", "inverse_dynamics", "passive", "closure_jacobian")
    names += ("potential_energy", "kinetic_energy", "momentum", "constraint_right")
    return [output for output in wanted(given, mechanism) if output in names]


def stepped(x: float) -> float:
    """Return 1 from zero on, else 0."""
    return float(x >= 0)


def expanded(given: Given) -> Results:
    """Formulas over the inputs in all forms of sums of angles, computed as they are written."""
    mechanism = mechanism_of(given)
    if mechanism.nv > 3 or mechanism.nq != mechanism.nv:
        return {}
    model = cf.derive(mechanism, written(given, mechanism))
    state = state_of(given)
    space: dict[str, Any] = {**vars(math), "abs": abs, "sign": np.sign, "step": stepped}
    space["reciprocal"] = np.reciprocal
    for part in model.graph.inputs.values():
        values = np.atleast_1d(state[part.group])
        space[part.name] = float(values[part.index])
    results: Results = {}
    for angles in ("kept", "split", "collected", None):
        for output in model.outputs:
            try:
                whole = model[output].expand(angles=angles, limit=400)
            except cf.Error as error:
                results[f"refusal of {output} {angles}"] = error
                continue
            entries = [whole[index] for index in np.ndindex(whole.shape)]
            texts = [str(entry).replace("^", "**") for entry in entries]
            numbers = [float(eval(text, space)) for text in texts]  # noqa: S307
            results[f"{output} expanded {angles}"] = np.reshape(numbers, whole.shape)
    return results


def model_of(given: Given) -> Any:
    """Return a model with the outputs that are exported."""
    mechanism = mechanism_of(given)
    return cf.derive(mechanism, written(given, mechanism), reduce="fast")


def shapes(model: Any) -> dict[str, tuple[int, ...]]:
    """Return the shape of every output."""
    return {name: model[name].shape for name in model.outputs}


def in_c(given: Given) -> Results:
    """Functions in C, one state and two."""
    model, results = model_of(given), dict[str, Any]()
    with TemporaryDirectory() as folder:
        home = model.export("c", Path(folder) / "c", name="arm")
        library = str(home / "arm.so")
        command = ["cc", "-O1", "-shared", "-fPIC", "-o", library, str(home / "arm.c"), "-lm"]
        subprocess.run(command, check=True, capture_output=True)
        loaded, head = ctypes.CDLL(library), (home / "arm.h").read_text()
        for name, shape in shapes(model).items():
            text = re.search(rf"void arm_{name}\(([^)]*)\)", head)
            groups = re.findall(r"const double \*(\w+)", text[1]) if text else []
            arrays = [np.atleast_1d(np.array(given[g], dtype=float)) for g in groups]
            one, two = np.zeros(shape), np.zeros((2, *shape))
            pairs = [np.stack([a, a]) for a in arrays]
            at = lambda array: array.ctypes.data_as(ctypes.c_void_p)  # noqa: E731
            loaded[f"arm_{name}"](*map(at, arrays), at(one))
            loaded[f"arm_{name}_batch"](ctypes.c_size_t(2), *map(at, pairs), at(two))
            results |= {name: one, f"same {name} of two": (two, np.stack([one, one]))}
    return results


def in_numpy(given: Given) -> Results:
    """Functions in NumPy, one state and a batch of two."""
    model, results = model_of(given), dict[str, Any]()
    with TemporaryDirectory() as folder:
        home = model.export("numpy", Path(folder) / "numpy", name="arm")
        place = importlib.util.spec_from_file_location("exported_arm", home / "arm.py")
        if place is None or place.loader is None:
            return {"taken: no module": 1.0}
        arm = importlib.util.module_from_spec(place)
        place.loader.exec_module(arm)
        for name in model.outputs:
            function = getattr(arm, name)
            code = function.__code__
            groups = code.co_varnames[: code.co_argcount]
            arrays = [np.atleast_1d(np.array(given[g], dtype=float)) for g in groups]
            found = np.array(function(*arrays))
            both = np.array(function(*(np.stack([a, a]) for a in arrays)))
            two = np.broadcast_to(found, (2, *found.shape))
            results |= {name: found, f"same {name} of two": (both, two)}
    return results


def in_javascript(given: Given) -> Results:
    """Functions in JavaScript, called by node."""
    node = shutil.which("node")
    if node is None:
        return {}
    model, results = model_of(given), dict[str, Any]()
    with TemporaryDirectory() as folder:
        home = model.export("javascript", Path(folder) / "js", name="arm")
        text = (home / "arm.js").read_text()
        calls: list[str] = []
        for name in model.outputs:
            own = re.sub(r"_(\w)", lambda m: m[1].upper(), name)
            head = re.search(rf"export function {own}\(([^)]*)\)", text)
            groups = [g.strip() for g in head[1].split(",")] if head else []
            values = [json.dumps(np.atleast_1d(given[g]).tolist()) for g in groups if g in given]
            calls.append(f"{name}: Array.from([arm.{own}({', '.join(values)})].flat())")
        program = "import * as arm from './arm.js';\n"
        program += f"const all = {{{', '.join(calls)}}};\n"
        program += "for (const k in all) all[k] = all[k].flatMap(x => x.length ? Array.from(x) : x)"
        program += ";\nconsole.log(JSON.stringify(all));\n"
        (home / "call.mjs").write_text(program)
        done = subprocess.run([node, "call.mjs"], cwd=home, capture_output=True, check=True)
        for name, values in json.loads(done.stdout).items():
            results[name] = np.reshape(values, model[name].shape)
    return results
