"""Formulas of quantities in LaTeX, MathML and SymPy, with the names of the user."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import numpy as np
import pytest
import sympy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import chainform as cf
from chainform.emitters import Letters, NameFormula, Notation, formula_latex
from chainform.errors import Error, RunError
from chainform.expressions import parse_symbol
from chainform.readers import native_text, read_text

DOUBLE_PENDULUM = """
name = "double pendulum"
gravity = [0, -9.81, 0]

[parameters]
crank_mass = { value = 2, unit = "kg", symbol = "m_{crank}" }
m2 = 1
l1 = { value = 1, unit = "m" }
l2 = 0.5

[[segments]]
name = "upper"
joint = { name = "theta1", type = "revolute" }
parent = "ground"
axis = "z"
mass = "crank_mass"
com = ["l1", 0, 0]

[[segments]]
name = "lower"
joint = { name = "theta2", type = "revolute" }
parent = "upper"
axis = "z"
position = ["l1", 0, 0]
mass = "m2"
com = ["l2", 0, 0]
"""


@cache
def pendulum() -> cf.Model:
    mechanism = read_text(DOUBLE_PENDULUM, "toml")
    return cf.derive(mechanism, ["H", "C", "hG", "tau"], parameters="symbolic")


@cache
def arm() -> cf.Model:
    return cf.derive("examples/six_axis_arm.toml", ["H", "C", "tau"])


@cache
def slider_crank() -> cf.Model:
    return cf.derive("examples/slider_crank.toml", ["H", "hG", "J"], parameters=["r", "l"])


# --- LaTeX ------------------------------------------------------------------------------------


def test_names_of_the_user() -> None:
    entry = pendulum()["H"][0, 1]
    assert entry.latex(expanded=True) == (
        r"H_{1,2} = m_{2} \, l_{1} \, l_{2} \, \cos \theta_{2} + m_{2} \, l_{2}^{2}"
    )
    rates = pendulum()["tau"][0].latex(expanded=True, width=None)
    assert r"\ddot{\theta}_{1}" in rates
    assert r"\left(m_{crank} + m_{2}\right) \, l_{1}^{2} \, \ddot{\theta}_{1}" in rates
    assert r"\dot{q}" not in rates


@pytest.mark.parametrize("name", ["1", "2", "\u00b2", "1_2", "\u0662"])
def test_a_digit_is_no_symbol(name: str) -> None:
    """The sine of a joint that is called 1 is not sin 1."""
    text = DOUBLE_PENDULUM.replace("theta2", name)
    entry = cf.derive(read_text(text, "toml"), ["H"])["H"][0, 1]
    assert r"\cos q_{2}" in entry.latex(expanded=True)


def test_symbols_may_be_given() -> None:
    hG = slider_crank()["hG"]
    text = hG.latex(expanded=True, symbols={"crank": r"\theta", "r": r"r_{\mathrm{c}}"})
    assert r"\cos \theta" in text
    assert r"r_{\mathrm{c}}" in text
    assert r"\cos \left(\theta + q_{2}\right)" in text
    with pytest.raises(Error, match="no coordinate or parameter"):
        hG.latex(symbols={"crnk": "a"})
    with pytest.raises(Error, match="is not a symbol"):
        hG.latex(symbols={"crank": r"\input{x}"})
    with pytest.raises(Error, match="expected a table"):
        hG.latex(symbols=cast("Any", ["crank"]))


def test_symbols_of_names_with_two_meanings_are_refused() -> None:
    text = DOUBLE_PENDULUM.replace("theta1", "q2").replace("theta2", "q1")
    hG = cf.derive(read_text(text, "toml"), ["hG"])["hG"]
    with pytest.raises(Error, match="q1 may mean q1 or q2"):
        hG.latex(symbols={"q1": r"\alpha"})
    with pytest.raises(Error, match="q1 has two symbols"):
        pendulum()["hG"].latex(symbols={"theta1": r"\alpha", "q1": r"\beta"})


def test_what_is_multiplied_out_takes_symbols() -> None:
    hG = slider_crank()["hG"]
    symbols = {"crank": r"\theta", "r": r"r_{\mathrm{c}}"}
    expanded = hG.expand()
    assert expanded.latex(symbols=symbols) == hG.latex(expanded=True, symbols=symbols)
    assert expanded[0].mathml(symbols=symbols) == hG[0].mathml(expanded=True, symbols=symbols)
    with pytest.raises(Error, match="no coordinate or parameter"):
        expanded.latex(symbols={"crnk": "a"})
    with pytest.raises(Error, match="multiplied out already"):
        expanded.latex(angles="split")


def test_symbols_that_look_alike_are_refused() -> None:
    alike = {"crank": r"\theta_1", "rod": r"\theta_{1}"}
    crank = cf.derive("examples/slider_crank.toml", ["H"])["H"]
    with pytest.raises(Error, match="looks like the symbol of crank"):
        crank.latex(expanded=True, symbols=alike)
    with pytest.raises(Error, match="no coordinate or parameter") as caught:
        crank.latex(expanded=True, symbols={"nonsense": "a"})
    assert str(caught.value.remedy) == "there are crank, rod, piston, r, l"


def test_derivatives_stand_as_fractions_of_partial_signs() -> None:
    outputs = ["H", "tau", "derivative(tau,q)"]
    model = cf.derive(read_text(DOUBLE_PENDULUM, "toml"), outputs, parameters="symbolic")
    by_angle = model["H"][0, 0].diff("q2")
    left = r"\frac{\partial H_{1,1}}{\partial \theta_{2}} = "
    assert by_angle.latex(expanded=True).startswith(left)
    assert by_angle.expand().latex().startswith(left)
    assert by_angle.latex().startswith(left)
    twice = by_angle.diff("q2").latex(expanded=True)
    assert twice.startswith(r"\frac{\partial^{2} H_{1,1}}{\partial \theta_{2} \, ")
    whole = model["derivative(tau,q)"].latex(expanded=True, width=None)
    assert whole.startswith(r"\frac{\partial \tau}{\partial q} = \begin{bmatrix}")
    cube = model["H"].diff("q").latex(expanded=True)
    assert left.replace(" = ", " &= ") in cube
    assert "\u2202" in by_angle.mathml(expanded=True)
    own = model.with_outputs({"drive_by_wire": "q1 + q2"})["drive_by_wire"]
    assert own.latex() == r"\mathrm{drive}_{\mathrm{by},\mathrm{wire}} = \theta_{1} + \theta_{2}"


def test_matrices_and_vectors() -> None:
    model = pendulum()
    assert model["hG"].latex().startswith(r"h^{G} = \begin{bmatrix}")
    H = model["H"].latex(expanded=True)
    assert H.count("&") == 2
    assert H.count(r"\\") == 1
    C = model["C"].latex(expanded=True)
    assert r"C_{1} &= \begin{bmatrix} 0 & -m_{2}" in C
    assert r"C_{2} &= \begin{bmatrix}" in C
    # A part of a matrix must not be called by the name of the whole.
    row = model["H"][0].latex(expanded=True)
    assert row.startswith("\\begin{aligned}\nH_{1,1} &=")
    assert "H =" not in row


def test_short_sines_have_a_legend() -> None:
    text = arm()["H"][3, 3].latex(expanded=True, trig="short")
    assert text == (
        "\\begin{aligned}\n"
        "H_{4,4} &= 0.193625 \\, c_{5}^{2} + 0.2025 \\, c_{5} + 0.079125 \\\\\n"
        "&c_{5} = \\cos q_{5}\n\\end{aligned}"
    )
    steps = arm()["H"].latex(trig="short")
    assert r"c_{234} = \cos \left(q_{2} + q_{3} + q_{4}\right)" in steps
    # Where the definitions are listed, those of sines are the legend.
    assert r"s_{2} &= \sin q_{2} \\" in arm().emit("latex", ["H"])


def test_numbers_are_rounded_where_that_is_asked_for() -> None:
    entry = cf.derive("examples/biped.toml", ["H"])["H"][9, 11]
    exact = entry.latex(expanded=True)
    assert r"\tfrac{473936248790470719}{9671091141789031250}" in exact
    text = entry.latex(expanded=True, digits=4)
    assert "0.04901" in text
    assert "frac" not in text
    assert entry.expand().latex(digits=4) == text
    assert "0.04901" in entry.mathml(expanded=True, digits=4)
    assert str(entry.expand().rounded(4)).startswith("0.04635*cos(q12) - 0.04901*sin(q11 + q12)")
    with pytest.raises(Error, match="whole number from 1 to 50"):
        entry.expand().rounded(0)
    with pytest.raises(Error, match="digits: expected a whole number"):
        entry.latex(expanded=True, digits=cast("Any", "six"))


def test_definitions_are_rounded_too() -> None:
    model = cf.derive("examples/biped.toml", ["H"])
    variable = next(n for n in model.graph.names if "/" in str(model[n]) and n.startswith("x_"))
    assert "frac" in model[variable].latex()
    assert "frac" not in model[variable].latex(digits=5)


def test_rounded_numbers_have_so_many_digits_and_the_same_value() -> None:
    model = cf.derive("examples/biped.toml", ["H"])
    q = np.linspace(0.2, 1.5, 14)
    values = model.evaluate(q)["mass_matrix"]
    for i, j in ((0, 0), (0, 10), (1, 9), (9, 11)):
        text = str(model["H"][i, j].expand().rounded(7))
        again = model.with_outputs({"again": text}).evaluate(q, outputs=["again"])["again"]
        assert again == pytest.approx(values[i, j], abs=1e-5)
        digits = [t.replace(".", "").lstrip("0") for t in re.findall(r"\d*\.\d+", text)]
        assert max(map(len, digits)) == 7


def test_nothing_is_lost() -> None:
    """All terms of all entries are there, whatever the width."""
    H = arm()["H"]
    for width in (20, 90):
        text = H.latex(expanded=True, width=width, environment="align*")
        # Lines that may need more than a page: it may end between them.
        assert text.startswith("{\\allowdisplaybreaks[1]\n\\begin{align*}\n")
        assert text.endswith("\n\\end{align*}}")
        for i, j in np.ndindex(6, 6):
            assert f"H_{{{i + 1},{j + 1}}}" in text
        signs = text.count(" + ") + text.count("- ") + text.count("\n&\\quad + ")
        assert signs > len(H[0, 0].expand()) + len(H[1, 1].expand())
    whole = H[0, 0].latex(expanded=True, width=None)
    broken = H[0, 0].latex(expanded=True, width=40)
    broken = broken.replace(" \\\\\n&\\quad", "").replace("&=", "=")
    # Brackets that are broken cannot grow by themselves.
    assert broken.replace("\\bigl", "\\left").replace("\\bigr", "\\right").split() == [
        "\\begin{aligned}",
        *whole.split(),
        "\\end{aligned}",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trig": "none"}, "trig"),
        ({"width": 3}, "width"),
        ({"environment": "gather"}, "environ"),
        ({"symbol": {"theta1": "x"}}, "did you mean 'symbols'"),
    ],
)
def test_wrong_options(options: Any, message: str) -> None:
    for made in (pendulum()["H"], pendulum()["H"].expand()):
        with pytest.raises(Error, match=message):
            made.latex(**options)


def test_symbols_in_files() -> None:
    mechanism = read_text(DOUBLE_PENDULUM, "toml")
    assert mechanism.parameters[0].symbol == "m_{crank}"
    again = read_text(native_text(mechanism), "json")
    assert again.parameters == mechanism.parameters
    builder = cf.Mechanism.builder("one").parameter("m", 1, symbol=r"\mu_0")
    built = builder.segment("a", joint="revolute", axis="z", mass="m", com=[1, 0, 0]).build()
    model = cf.derive(built, ["H"], parameters="symbolic")
    assert r"\mu_{0}" in model["H"].latex()
    for wrong in (r"\input{x}", "a b", 1):
        text = DOUBLE_PENDULUM.replace('"m_{crank}"', f"'{wrong}'" if wrong != 1 else "1")
        with pytest.raises(Error) as caught:
            read_text(text, "toml")
        assert caught.value.element == "parameter 'crank_mass', symbol"


def test_symbols_are_stored(tmp_path: Path) -> None:
    with cf.open_store(str(tmp_path / "models.db")) as store:
        store.save(pendulum(), "pendulum")
        loaded = store.load("pendulum")
        assert loaded["H"].latex(expanded=True) == pendulum()["H"].latex(expanded=True)


def test_names_of_outputs_of_frames_and_of_accelerations() -> None:
    mechanism = read_text(DOUBLE_PENDULUM, "toml")
    model = cf.derive(mechanism, ["pose(lower)", "qdd"])
    whole = model["pose(lower)"].latex(expanded=True, trig="short", width=None)
    assert r"T_{\mathrm{lower}} &= \begin{bmatrix} c_{12}" in whole
    accelerations = model["qdd"].latex(expanded=True, width=30)
    assert r"\ddot{\theta}_{1} &=" in accelerations
    assert r"\ddot{\theta}_{2} &=" in accelerations
    assert r"\ddot{q}" not in accelerations
    assert model["qdd"][1].latex().startswith(r"\ddot{\theta}_{2} =")


# --- documents --------------------------------------------------------------------------------

DOCUMENT = r"""\documentclass[10pt,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage[margin=25mm]{geometry}
\usepackage{amsmath}
\begin{document}
%s
\end{document}
"""


def compiled(formulas: Sequence[str], folder: Path, document: str = DOCUMENT) -> str:
    """Return the log of pdflatex for a document with formulas; it must compile."""
    program = shutil.which("pdflatex")
    assert program is not None
    shown = [t if r"\begin{align*}" in t else f"\\[\n{t}\n\\]" for t in formulas]
    (folder / "f.tex").write_text(document % "\n\n".join(shown), encoding="utf-8")
    command = [program, "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "f.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log = done.stdout.decode("utf-8", errors="replace")
    assert done.returncode == 0, [line for line in log.splitlines() if line.startswith("!")]
    return log


@pytest.mark.slow
def test_papers_compile(tmp_path: Path) -> None:
    """All of it stands on the page: no line is wider than the text."""
    symbols = {"crank": r"\theta", "rod": r"\beta", "piston": r"\gamma"}
    formulas = [
        pendulum()["H"].latex(expanded=True),
        pendulum()["C"].latex(expanded=True),
        pendulum()["tau"].latex(expanded=True, trig="short"),
        arm()["H"].latex(expanded=True, trig="short", environment="align*"),
        arm()["H"].latex(trig="short"),
        slider_crank()["H"].latex(expanded=True, symbols=symbols),
        slider_crank()["hG"].latex(expanded=True, symbols=symbols, trig="short"),
        slider_crank()["J"].latex(expanded=True, symbols=symbols),
        (pendulum()["H"] @ pendulum()["hG"]).latex(),
        pendulum()["H"].diff("q2").latex(expanded=True),
        arm().emit("latex", ["H"]),
    ]
    assert "Overfull" not in compiled(formulas, tmp_path)


FRAGMENTS = st.sampled_from(
    [*"abmxJ12_^{},'+-", r"\theta", r"\dot", r"\mathrm{ab}", r"\hat{", "}", r"\varphi", "_{", "^{"]
)
PRINTABLE = st.text(min_size=1, max_size=8).filter(
    lambda name: name.isprintable() and name == name.strip()
)


@pytest.mark.slow
@settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.large_base_example,
        HealthCheck.data_too_large,
    ],
)
@given(
    st.lists(PRINTABLE, min_size=100, max_size=200, unique=True),
    st.lists(st.lists(FRAGMENTS, max_size=7).map("".join), max_size=400),
)
def test_hostile_names_compile(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], texts: list[str]
) -> None:
    """Any name can be printed, and every symbol that is taken."""
    symbols = {f"given {k}": symbol for k, text in enumerate(texts) for symbol in accepted(text)}
    letters = Letters(Notation(symbols), names)
    written = [formula_latex(NameFormula(letters(name))) for name in (*symbols, *names)]
    assert len(set(written)) == len(written)
    lines = [f"{text}^{{2}} " if "'" not in text and "^" not in text else text for text in written]
    compiled(lines, tmp_path_factory.mktemp("names"))


def accepted(text: str) -> list[Any]:
    try:
        return [parse_symbol(text)]
    except Error:
        return []


# --- MathML -----------------------------------------------------------------------------------


def test_mathml_of_arrays() -> None:
    for text in (
        pendulum()["H"].mathml(expanded=True),
        pendulum()["C"].mathml(trig="short"),
        pendulum()["tau"][0].expand().mathml(trig="short"),
    ):
        root = ElementTree.fromstring(text)
        assert root.tag == "{http://www.w3.org/1998/Math/MathML}math"
    assert "<mtable>" in pendulum()["H"].mathml()


# --- SymPy ------------------------------------------------------------------------------------


def state(model: cf.Model, seed: int) -> dict[str, list[float]]:
    numbers = random.Random(seed)
    return {g: [numbers.uniform(-1, 1) for _ in range(6)][: model.mechanism.nv] for g in GROUPS}


GROUPS = ("q", "qd", "qdd")


@pytest.mark.parametrize("name", ["H", "hG", "C", "tau"])
def test_sympy_gives_the_same_numbers(name: str) -> None:
    model = pendulum()
    found = model[name].sympy()
    given = state(model, 7)
    numbers = {f"{g}{i + 1}": x for g in GROUPS for i, x in enumerate(given[g])}
    defaults = {n: float(v) for n, v in model.free_parameters.items() if v is not None}
    values = {s: (numbers | defaults)[s.name] for s in found.free_symbols}
    expected = model[name].evaluate(**given)
    got = np.array(found.subs(values).tolist(), dtype=float).reshape(expected.shape)
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_sympy_shapes_and_assumptions() -> None:
    model = pendulum()
    assert model["H"].sympy().shape == (2, 2)
    assert isinstance(model["H"].sympy(), sympy.MatrixBase)
    assert model["hG"].sympy().shape == (2, 1)
    assert model["C"].sympy().shape == (2, 2, 2)
    by_name = {s.name: s for s in model["tau"].sympy().free_symbols}
    assert all(symbol.is_real for symbol in by_name.values())
    assert by_name["crank_mass"].is_nonnegative
    assert by_name["l1"].is_nonnegative is None
    assert arm()["H"][5, 5].sympy() == sympy.Rational(1, 500)


@pytest.mark.slow
def test_sympy_refuses_what_is_nested_too_deep() -> None:
    chain = {f"a{i + 1}": f"sqrt(a{i}) + 1/(a{i} + y)" for i in range(1200)}
    model = cf.read_expressions({"a0": "x", **chain}, outputs=["a1200"])
    with pytest.raises(RunError, match="nested deeper"):
        model["a1200"].sympy()


def test_sympy_of_time() -> None:
    """With coordinates as functions of time H' is found by differentiation."""
    model = pendulum()
    H, t = model["H"].sympy(time=True), sympy.Symbol("t")
    rate = H.diff(t)
    theta = sympy.Function("q2", real=True)(t)
    values = {theta.diff(t): 0.7, theta: 0.4, "l1": 1, "l2": 0.5, "m2": 1, "crank_mass": 2}
    found = sympy.simplify(rate).subs(list(values.items())[:2])
    found = found.subs({s: values[s.name] for s in found.free_symbols})
    expected = model["H"].diff("q2").evaluate(q=[0.1, 0.4]) * 0.7
    np.testing.assert_allclose(np.array(found.tolist(), dtype=float), expected)
    free = cf.Mechanism.builder("ball").segment("a", joint="free", mass=1).build()
    with pytest.raises(Error, match="quaternion"):
        cf.derive(free, ["H"])["H"].sympy(time=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("points", "millimetres", "width"), [(10, 160, 90), (11, 160, 80), (10, 121, 65), (10, 84, 42)]
)
def test_the_widths_of_the_docs_fit(
    points: int, millimetres: int, width: int, tmp_path: Path
) -> None:
    """A slider-crank with long names in the widths that the page of formulas gives."""
    symbols = {"crank": r"\theta", "rod": r"\beta", "piston": r"\gamma", "m_1": "m_{crank}"}
    model = cf.derive("examples/slider_crank.toml", ["tau", "T"], parameters="symbolic")
    formulas = [
        model[name].latex(expanded=True, symbols=symbols, width=width) for name in ("tau", "T")
    ]
    document = DOCUMENT.replace("10pt", f"{points}pt")
    document = document.replace("margin=25mm", f"textwidth={millimetres}mm")
    assert "Overfull" not in compiled(formulas, tmp_path, document)
