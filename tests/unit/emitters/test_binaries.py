"""Folders of machine code: objects that need no library, and WebAssembly that imports nothing."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wasmtime

import chainform as cf
from chainform.emitters import parameters_of
from chainform.runtime import BINARIES, PLATFORMS

EXAMPLES = Path(__file__).parents[3] / "examples"


@cache
def arm() -> cf.Model:
    """Return a six-axis arm."""
    return cf.derive(EXAMPLES / "six_axis_arm.toml", ["tau", "H"])


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("target", [name for name in PLATFORMS if name != "wasm"])
def test_objects_need_no_library(target: str, precision: str, tmp_path: Path) -> None:
    model, folder = arm(), tmp_path / "exported"
    model.export("object", folder, ["tau"], target=target, precision=precision)
    command = ["llvm-nm", "six_axis_arm.o"]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    kinds = {line.split()[-1]: line.split()[-2] for line in found.stdout.splitlines()}
    assert kinds["six_axis_arm_inverse_dynamics"] == "T"
    assert "U" not in kinds.values()


def test_machine_code_that_needs_a_library_is_refused(tmp_path: Path) -> None:
    model = cf.read_expressions({"a": "asin(x) + exp(y)"})
    for language in BINARIES:
        with pytest.raises(cf.Error, match="would need asin, exp of a C library"):
            model.export(language, tmp_path / "a")
    assert not list(tmp_path.iterdir())


def test_a_missing_linker_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chainform.runtime.binaries.find_spec", lambda _: None)
    with pytest.raises(cf.Error, match="a linker is needed") as caught:
        arm().export("wasm", tmp_path / "a", ["H"])
    assert "chainform[link]" in (caught.value.remedy or "")


def test_targets_are_those_of_objects(tmp_path: Path) -> None:
    with pytest.raises(cf.Error, match="c has no target"):
        arm().export("c", tmp_path / "a", ["H"], target="arm")
    with pytest.raises(cf.Error, match="no target 'z80'"):
        arm().export("object", tmp_path / "a", ["H"], target="z80")


def test_an_object_for_another_processor_says_what_its_test_needs(tmp_path: Path) -> None:
    folder = arm().export("object", tmp_path / "a", ["H"], target="thumbv7em")
    command = ["make", "--no-print-directory", "test"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "the object is for thumbv7em: set CC and RUN" in line
    # With both, the program is built and run by them.
    command += ["CC=touch test.out; echo built by", "RUN=echo run by"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "run by ./test.out"


def called_in_wasmtime(module: Path, function: str, given: Any, count: int) -> Any:
    """Return so many results of a function of one array, or of arrays of the same length."""
    engine = wasmtime.Engine()
    loaded = wasmtime.Module.from_file(engine, str(module))
    assert not loaded.imports
    store = wasmtime.Store(engine)
    exports: Any = wasmtime.Instance(store, loaded, []).exports(store)
    base, (arrays, length) = exports["__heap_base"].value(store), given.shape
    exports["memory"].write(store, given.tobytes(), base)
    places = [base + 8 * length * k for k in range(arrays + 1)]
    exports[function](store, *places)
    return np.frombuffer(exports["memory"].read(store, places[-1], places[-1] + 8 * count))


def test_the_module_runs_in_wasmtime(tmp_path: Path) -> None:
    """It imports nothing, and computes what `evaluate` does."""
    model = cf.derive(EXAMPLES / "pick_arm.urdf", ["tau"])
    model.export("wasm", tmp_path / "a", name="arm")
    nv = model.mechanism.nv
    given = np.linspace(-1, 1, 3 * nv).reshape(3, nv)
    found = called_in_wasmtime(tmp_path / "a" / "arm.wasm", "arm_inverse_dynamics", given, nv)
    q, qd, qdd = given
    (expected,) = model.evaluate(q, qd, qdd).values()
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_far_angles_in_the_module(tmp_path: Path) -> None:
    """Their products have 128 bits, which WebAssembly has not."""
    names = [f"x{k}" for k in range(40)]
    model = cf.read_expressions({"s": f"[{', '.join(f'sin({name})' for name in names)}]"})
    model.export("wasm", tmp_path / "a", name="far")
    random = np.random.default_rng(5)
    angles = random.choice([-1, 1], 40) * 2.0 ** random.uniform(17, 1020, 40)
    angles[0] = 6381956970095103 * 2.0**797  # the double that is nearest to a multiple of pi/2
    order = [names.index(model.graph.inputs[v].name) for v in parameters_of(model.graph)]
    found = called_in_wasmtime(tmp_path / "a" / "far.wasm", "far_s", angles[None, order], 40)
    np.testing.assert_allclose(found, np.sin(angles), rtol=4e-16)
