"""Languages in Python: broadcasting, NaN, kinds of numbers, derivatives, names, refusals."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import sympy

import chainform as cf

EXAMPLES = Path(__file__).parents[3] / "examples"
STAND_IN = Path(__file__).parents[2] / "stand_in"
LANGUAGES = ("numpy", "casadi", "sympy", "jax", "torch")


def imported(model: cf.Model, language: str, folder: Path, **options: Any) -> ModuleType:
    """Export a model and import what was written."""
    folder.mkdir(exist_ok=True)
    model.export(language, folder / language, name="exported", **options)
    found = importlib.util.spec_from_file_location(
        f"exported_{language}", folder / language / "exported.py"
    )
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def printed(folder: Path, script: str) -> list[str]:
    """Run a script beside an exported module, and return the lines it prints."""
    stand_in = f":{STAND_IN}" if importlib.util.find_spec("torch") is None else ""
    places = {**os.environ, "PYTHONPATH": f"{folder}{stand_in}"}
    command = [sys.executable, "-W", "error", "-c", script]
    done = subprocess.run(command, env=places, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def arm(outputs: list[str]) -> cf.Model:
    """Return a six-axis arm."""
    return cf.derive(EXAMPLES / "six_axis_arm.toml", outputs)


# --- what all have in common ----------------------------------------------------------------------


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["class", "random", "numpy"])
def test_a_name_that_hides_a_module_is_refused(language: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(cf.Error, match="cannot be the name of a module") as problem:
        arm(["hG"]).export(language, tmp_path / "new", name=name)
    assert problem.value.element == "name"
    assert f"{name}_model" in str(problem.value.remedy)
    assert not (tmp_path / "new").exists()


AWKWARD = {
    "_1": "x + 1",
    "lambda": "y",
    "np": "2*x",
    "batch": "[x, class]",
    "a__b": "x*y",
    "a_b": "x",
    "jac": "y + 2",
    "Results": "[[x, y], [0, class]]",
    "steps": "x^2",
    "mass": "y",
    "mass_steps": "x + y",
    "number": "1/3",
}
"""Outputs with names that Python, a library or the text itself has; the last has no arguments."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_outputs_may_have_any_name(language: str, tmp_path: Path) -> None:
    model = cf.read_expressions(AWKWARD)
    text = model.emit(language)
    assert "def lambda_v2(" in text
    assert "def v_1(" in text
    folder = model.export(language, tmp_path / "new")
    example, test = ((folder / f"{name}.py").read_text() for name in ("example", "test"))
    *results, last = printed(folder, f"{example}\n{test}")
    assert len(results) >= len(AWKWARD)
    assert re.fullmatch(r"\d\d passed, 0 failed", last)


def test_a_wrong_result_fails(tmp_path: Path) -> None:
    folder = arm(["hG"]).export("numpy", tmp_path / "new", name="exported")
    source = folder / "exported.py"
    source.write_text(source.read_text().replace("9.81*", "9.82*"))
    command = [sys.executable, "test.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "0 passed, 2 failed"


@pytest.mark.parametrize("language", ["numpy", "casadi"])
def test_entries_have_names(language: str, tmp_path: Path) -> None:
    text = (EXAMPLES / "pick_arm.urdf").read_text().replace('name="yaw"', "name='the \"first\"'")
    (tmp_path / "arm.urdf").write_text(text)
    mechanism = cf.read(tmp_path / "arm.urdf", base="floating")
    model = cf.derive(mechanism, ["tau"], parameters=["m_*"])
    names = imported(model, language, tmp_path).NAMES
    assert names["q"] == list(mechanism.coordinates)
    assert names["qd"] == list(mechanism.rates)
    assert 'the "first"' in names["q"]
    assert names["parameters"] == ["m_2", "m_3", "m_4", "m_5"]
    assert set(names) == {"q", "qd", "parameters"}


# --- NumPy ----------------------------------------------------------------------------------------


def test_leading_dimensions_broadcast(tmp_path: Path) -> None:
    model = arm(["tau", "H", "C"])
    module = imported(model, "numpy", tmp_path)
    random = np.random.default_rng(3)
    q, qd, qdd = (random.uniform(-1, 1, size) for size in [(5, 1, 6), (4, 6), (6,)])
    tau = module.inverse_dynamics(q, qd, qdd)
    assert tau.shape == (5, 4, 6)
    expected = model.evaluate(q=q[3, 0], qd=qd[2], qdd=qdd)
    assert np.allclose(tau[3, 2], expected["inverse_dynamics"], rtol=1e-12)
    found = module.all(q, qd, qdd)
    assert found.H.shape == (5, 4, 6, 6)
    assert found.C.shape == (5, 4, 6, 6, 6)
    assert np.allclose(found.C[3, 2], expected["coriolis"], rtol=1e-12)
    assert module.mass_matrix(np.zeros((0, 6))).shape == (0, 6, 6)


def test_a_wrong_shape_or_kind_is_refused(tmp_path: Path) -> None:
    module = imported(arm(["hG"]), "numpy", tmp_path)
    with pytest.raises(ValueError, match=r"q has the shape \(..., 6\), not \(7,\)"):
        module.gravity(np.zeros(7))
    with pytest.raises(ValueError, match="q has the shape"):
        module.gravity(0.0)
    with pytest.raises(TypeError, match="same_kind"):
        module.gravity(np.zeros(6) + 1j)


def test_integers_are_taken_as_numbers_and_precision_is_kept(tmp_path: Path) -> None:
    model, q = arm(["hG"]), [1, 0, 2, 0, 1, 0]
    double = imported(model, "numpy", tmp_path)
    assert double.gravity(q).dtype == np.float64
    single = imported(model, "numpy", tmp_path / "single", precision="float32")
    assert single.gravity(np.array(q, dtype=np.float64)).dtype == np.float32
    assert np.allclose(single.gravity(q), double.gravity(q), rtol=1e-5)


# --- CasADi ---------------------------------------------------------------------------------------


@pytest.fixture
def casadi() -> Any:
    """Return CasADi, which has no types."""
    return importlib.import_module("casadi")


def test_casadi_has_natural_shapes_and_derivatives(tmp_path: Path, casadi: Any) -> None:
    model = arm(["tau", "H", "C", "d(tau)/d(q)"])
    module = imported(model, "casadi", tmp_path)
    tau, whole = module.inverse_dynamics(), module.all()
    assert [tau.name_in(k) for k in range(3)] == ["q", "qd", "qdd"]
    assert whole.size_out("H") == (6, 6)
    assert whole.size_out("C") == (36, 6)
    assert not module.mass_matrix().sparsity_out(0).is_dense()
    random = np.random.default_rng(4)
    q, qd, qdd = (random.uniform(-1, 1, 6) for _ in range(3))
    symbols = [casadi.SX.sym(name, 6) for name in ("q", "qd", "qdd")]
    jacobian = casadi.Function("jacobian", symbols, [casadi.jacobian(tau(*symbols), symbols[0])])
    expected = model.evaluate(q=q, qd=qd, qdd=qdd)
    found = jacobian(q, qd, qdd).full()
    assert np.allclose(found, expected["derivative(inverse_dynamics,q)"], rtol=1e-10, atol=1e-12)
    three = whole(q=q, qd=qd, qdd=qdd)["C"].full().reshape(6, 6, 6)
    assert np.allclose(three, expected["coriolis"], rtol=1e-10, atol=1e-12)


def test_casadi_generates_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gravity = imported(arm(["hG"]), "casadi", tmp_path).gravity()
    monkeypatch.chdir(tmp_path)
    gravity.generate("gravity.c")
    assert "int exported_gravity(" in (tmp_path / "gravity.c").read_text()


@pytest.mark.parametrize("language", ["casadi", "sympy"])
def test_single_precision_is_refused(language: str, tmp_path: Path) -> None:
    with pytest.raises(cf.Error, match="no single precision") as problem:
        arm(["hG"]).export(language, tmp_path / "new", precision="float32")
    assert "float64" in str(problem.value.remedy)
    assert not (tmp_path / "new").exists()


# --- SymPy ----------------------------------------------------------------------------------------


def test_sympy_is_exact(tmp_path: Path) -> None:
    model = arm(["H"])
    module = imported(model, "sympy", tmp_path)
    found, (q1, q2, *_) = module.mass_matrix(), module.q
    assert found.shape == (6, 6)
    assert found.free_symbols <= set(module.q)
    assert q1.is_real
    assert not found.has(sympy.Float)
    own = sympy.Matrix(model["H"].sympy().tolist())
    assert sympy.simplify((found - own).diff(q2)[0, 0]) == 0
    assert sympy.simplify((found - own)[0, 0]) == 0


def test_sympy_refuses_formulas_that_are_too_long(tmp_path: Path) -> None:
    module = imported(arm(["qdd"]), "sympy", tmp_path)
    with pytest.raises(ValueError, match="call the function with the ending _steps"):
        module.forward_dynamics()
    steps, found = module.forward_dynamics_steps()
    assert len(steps) > 100
    assert found.shape == (6, 1)


# --- NaN ------------------------------------------------------------------------------------------


def jumps() -> cf.Model:
    """Return expressions that decide: each is NaN where its inputs are."""
    text = "[sign(q1), abs(q1), step(q1), min(q1, q2), max(q2, q1), sqrt(q1^2), 1/q1, atan(q1)]"
    return cf.read_expressions({"f": text})


def sympy_values(function: Any, q: list[float]) -> Any:
    """Return what formulas give for numbers."""
    numbers = dict(zip(function.__globals__["q"], map(sympy.sympify, q), strict=True))
    return np.array([float(entry.xreplace(numbers)) for entry in function()])


VALUES: Mapping[str, Callable[[Any, list[float]], Any]] = {
    "numpy": lambda function, q: function(np.array(q)),
    "casadi": lambda function, q: function()(q).full().ravel(),
    "sympy": sympy_values,
}
"""How a function of q is called with numbers."""


@pytest.mark.parametrize("language", VALUES)
def test_nan_gives_nan(language: str, tmp_path: Path) -> None:
    found = VALUES[language](imported(jumps(), language, tmp_path).f, [float("nan"), 1.0])
    assert np.isnan(found).all()
    found = VALUES[language](imported(jumps(), language, tmp_path / "again").f, [-2.0, 1.0])
    assert np.array_equal(found[:7], [-1, 2, 0, -2, 1, 2, -0.5])


# --- JAX and PyTorch, in processes of their own ---------------------------------------------------


SCRIPTS: Mapping[str, str] = {
    "jax": """
import jax
jax.config.update("jax_enable_x64", True)
import exported
for q in ([float("nan"), 1.0], [-2.0, 1.0]):
    print(exported.f(q).tolist())
""",
    "torch": """
import torch, exported
for q in ([float("nan"), 1.0], [-2.0, 1.0]):
    print(exported.f(torch.tensor(q, dtype=torch.float64)).tolist())
""",
}


@pytest.mark.parametrize("language", SCRIPTS)
def test_nan_gives_nan_there(language: str, tmp_path: Path) -> None:
    jumps().export(language, tmp_path / language, name="exported")
    of_nan, of_numbers = printed(tmp_path / language, SCRIPTS[language])
    assert of_nan == f"[{', '.join(['nan'] * 8)}]"
    assert json.loads(of_numbers)[:7] == [-1, 2, 0, -2, 1, 2, -0.5]


DERIVATIVES = """
import jax, numpy as np
import exported
try:
    exported.mass_matrix([0.1]*6)
except RuntimeError as problem:
    print(problem)
jax.config.update("jax_enable_x64", True)
try:
    exported.mass_matrix([0.1]*7)
except ValueError as problem:
    print(problem)
try:
    exported.mass_matrix([1j]*6)
except TypeError as problem:
    print(problem)
q, qd, qdd = np.random.default_rng(5).uniform(-1, 1, (3, 6))
found = jax.jacfwd(exported.inverse_dynamics)(q, qd, qdd)
expected = exported.inverse_dynamics_by_q(q, qd, qdd)
print(np.abs(found - expected).max() < 1e-10 and np.abs(expected).max() > 1)
energy = lambda qd: qd @ exported.mass_matrix(q) @ qd / 2
print(np.abs(jax.grad(energy)(qd) - exported.mass_matrix(q) @ qd).max() < 1e-12)
print(exported.mass_matrix(np.zeros((4, 1, 6))).shape)
"""


@pytest.mark.slow
def test_jax_differentiates_and_refuses(tmp_path: Path) -> None:
    arm(["tau", "H", "d(tau)/d(q)"]).export("jax", tmp_path / "jax", name="exported")
    assert printed(tmp_path / "jax", DERIVATIVES) == [
        'first say jax.config.update("jax_enable_x64", True)',
        "q has the shape (..., 6), not (7,)",
        "q is real, not complex128",
        "True",
        "True",
        "(4, 1, 6, 6)",
    ]
