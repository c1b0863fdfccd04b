"""Reports: what is in them, that pdflatex compiles them, and that checks can fail."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import chainform as cf
from chainform.cli import main
from chainform.emitters import formula_latex, tex_text
from chainform.errors import Error
from chainform.graph import GROUPS, builder_of
from chainform.reports import ModelReport
from chainform.reports.blocks import EquationList, Paragraph
from chainform.reports.quantity_blocks import INPUTS, MOST_DEFINITIONS, equation_of_motion
from chainform.reports.tex import block_tex
from chainform.verification import verify

SECTIONS = (
    *("Mechanism", "Topology", "Parameters", "Quantities", "Formulas written out"),
    *("Formulas as they are computed, by level", "Operations", "Verification", "References"),
)
NASTY = r"""50% of $x_1^2$ & {#~} \input{/etc/passwd} "q" 'r' `s` | <a> → 中 ž ß α"""


@pytest.fixture(scope="module")
def made() -> ModelReport:
    return cf.report("examples/slider_crank.toml", reduce="fast", outputs=["H", "hG"])


@pytest.mark.slow
def test_a_page_has_all_sections_and_loads_nothing(made: ModelReport, tmp_path: Path) -> None:
    file = made.save(tmp_path / "report.html")
    text = file.read_text()
    for title in SECTIONS:
        assert f">{title}</h2>" in text
    assert "http" not in text.replace("http-equiv", "").replace(
        "http://www.w3.org/1998/Math/MathML", ""
    )
    assert "data:image/png" in text
    assert "<code>" not in text  # every formula could be written in MathML


@pytest.mark.slow
def test_a_pdf_is_compiled(made: ModelReport, tmp_path: Path) -> None:
    file = made.save(tmp_path / "report.pdf")
    assert file.read_bytes().startswith(b"%PDF")
    text = subprocess.run(
        ["pdftotext", str(file), "-"], capture_output=True, text=True, check=True
    ).stdout
    for title in SECTIONS:
        assert title in text


@pytest.mark.slow
def test_all_laws_hold(made: ModelReport) -> None:
    assert made.holds
    assert {check.holds for check in made.checks} == {True}


@pytest.mark.slow
def test_a_mechanism_that_cannot_move(tmp_path: Path) -> None:
    builder = cf.Mechanism.builder("bracket", gravity=(0, 0, -10))
    builder.segment("plate", parent="ground", joint="fixed", mass=2, com=[1, 0, 0])
    report = cf.report(builder.build())
    for name in ("report.html", "report.tex"):
        assert "bracket" in report.save(tmp_path / name).read_text()


@pytest.mark.slow
def test_a_wrong_model_fails() -> None:
    model = cf.derive("examples/slider_crank.toml", ["H"])
    builder = builder_of(model.graph)
    block = model.graph.outputs["mass_matrix"]
    wrong = builder.variable_of(builder.scalar(block.variables[1]) * 2)
    variables = (block.variables[0], wrong, *block.variables[2:])
    graph = builder.finish()
    graph = replace(graph, outputs={"mass_matrix": replace(block, variables=variables)})
    found = verify(replace(model, graph=graph), only=["laws", "formulations"], states=1)
    failed = [check.law for check in found.failed]
    assert "H is symmetric" in failed
    assert "other formulations give the same mass_matrix" in failed


@pytest.mark.slow
def test_names_that_mean_something_to_latex(tmp_path: Path) -> None:
    builder = cf.Mechanism.builder(NASTY)
    builder.segment("a_b%$&#^~\\", joint="revolute", axis="z", mass=1, com=[1, 0, 0])
    made = cf.report(builder.build(), tmp_path / "r.pdf", outputs=["H"], verified=False)
    assert (tmp_path / "r.pdf").read_bytes().startswith(b"%PDF")
    assert "\\input{/etc" not in made.tex()


def test_text_is_escaped() -> None:
    assert "\\input{" not in tex_text(NASTY)
    assert "U+4E2D" in tex_text(NASTY)
    assert re.search(r"(?<!\\)[%&#$]", tex_text(NASTY)) is None


@pytest.mark.slow
def test_long_formulas_are_bounded() -> None:
    model = cf.derive("examples/biped.toml", ["C"])
    made = cf.report(model, verified=False)
    words = f"These are {MOST_DEFINITIONS} of"
    assert any(words in getattr(block, "text", "") for block in made.blocks)
    assert "$C_{1,1,2}$, " in made.tex()


@pytest.mark.slow
def test_numbers_are_rounded() -> None:
    model = cf.derive("examples/biped.toml", ["H"])
    exact, short = (cf.report(model, verified=False, digits=n).tex() for n in (None, 5))
    assert r"\tfrac{" in exact
    assert r"\tfrac{" not in short
    assert "rounded to 5 digits" in short
    with pytest.raises(Error, match="digits"):
        cf.report(model, digits=0)


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Error, match="cannot be written"):
        cf.report("examples/slider_crank.toml", tmp_path / "report.doc")


def test_without_pdflatex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = cf.derive("examples/slider_crank.toml", ["H"])
    made = cf.report(model, verified=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Error, match="needs pdflatex") as caught:
        made.save(tmp_path / "report.pdf")
    assert "texlive" in str(caught.value.remedy)


@pytest.mark.slow
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "report.tex"
    words = ["report", "examples/slider_crank.toml", "--outputs", "H", "-o", str(target)]
    assert main(words) == 0
    assert "holds" in capsys.readouterr().out
    assert "\\begin{document}" in target.read_text()
    assert (tmp_path / "report-mechanism.png").exists()
    assert main(words) == 2  # the file is there
    assert main(["report", "examples/slider_crank.toml", "-o", str(tmp_path / "x.doc")]) == 2


@pytest.mark.parametrize(
    ("file", "options", "there", "absent"),
    [
        ("slider_crank", {}, [r"- J^{T} \, \sigma", r"J \, \dot{q} = 0"], ["B", "+ P", "- Q"]),
        ("slider_crank", {"closure": "basic"}, [r"+ B \, \sigma", "basic joints"], ["- J^{T}"]),
        ("six_axis_arm", {"wrenches": ["gripper"]}, [r"- J^{T}_{F} \, w"], ["sigma", "+ P"]),
        (
            "manipulator_forces",
            {},
            [r"\tau = H \, \ddot{q} + c + h^{G}", "- Q"],
            ["sigma", "wrench"],
        ),
        ("stanford_elements", {}, [r"\tau = H \, \ddot{q} + c + h^{G} - Q"], ["P"]),
        ("rolling_disc", {}, ["c + h^{G},", "forces of the constraints"], ["P", "Q"]),
        ("pick_arm.urdf", {}, ["h^{G} + P,"], ["Q"]),
        ("stewart", {}, [r"c = C_{m} \, \dot{q}"], ["Christoffel"]),
        ("pick_arm.urdf", {"without": ["friction"]}, ["h^{G},"], ["P", "Q"]),
    ],
)
def test_the_equation_of_motion_has_what_the_mechanism_has(
    file: str, options: dict[str, Any], there: list[str], absent: list[str]
) -> None:
    name = file if "." in file else f"{file}.toml"
    model = cf.derive(f"examples/{name}", ["tau"], **options)
    equations, text = equation_of_motion(model)
    words = f"{', '.join(map(formula_latex, equations))}, {block_tex(Paragraph(text), '')}"
    assert [text for text in there if text not in words] == []
    assert [text for text in absent if text in words] == []


def test_symbols_are_those_of_formulas(tmp_path: Path) -> None:
    builder = cf.Mechanism.builder("pendulum", gravity=(0, "-9.81", 0))
    builder.parameter("bob_mass", 2, unit="kg", symbol=r"m_{\mathrm{b}}").parameter("l", 1)
    joint = {"name": "theta1", "type": "revolute"}
    builder.segment("rod", joint=joint, axis="z", mass="bob_mass", com=["l", 0, 0])
    model = cf.derive(builder.build(), ["H", "qdd"], parameters=["bob_mass"])
    file = cf.report(model, verified=False).save(tmp_path / "report.tex")
    text = file.read_text()
    assert r"bob\_\allowbreak{}mass & 2 & kg & $m_{\mathrm{b}}$ \\" in text
    assert r"l & 1 &  & number \\" in text
    assert r"\ddot{\theta}_{1} &=" in text
    assert r"\ddot{q}_{1}" not in text
    page = cf.report(model, verified=False).save(tmp_path / "report.html").read_text()
    assert '<mi mathvariant="normal">b</mi>' in page


def test_entries_that_turn_out_as_zero_are_left_out() -> None:
    made = cf.report("examples/rolling_disc.toml", outputs=["H", "hG", "P"], verified=False)
    titles = [getattr(block, "text", "") for block in made.blocks]
    written = made.blocks[: titles.index("Formulas as they are computed, by level")]
    lines = [e for block in written if isinstance(block, EquationList) for e in block.equations]
    shown = [formula_latex(line) for line in lines]
    assert r"h^{G}_{4} = -5.886 \, \sin \theta" in shown
    assert [line for line in shown if line.endswith("= 0")] == []
    assert titles[titles.index("passive") + 1] == "All entries are zero."


def test_the_inputs_of_formulas_are_named() -> None:
    assert INPUTS.keys() == GROUPS.keys()
    made = cf.report("examples/driven_arm.toml", outputs=["xd"], verified=False).tex()
    assert "Level 0 are the inputs: states of actuators $x$, signals $u$." in made


def test_expressions_have_no_meaning_in_mechanics() -> None:
    """Their Y is no regressor."""
    made = cf.report("examples/polynomials.expr", verified=False)
    text = made.tex()
    assert made.title == "Expressions: polynomials"
    for words in ("Equations of motion", "regressor", "efforts for", "SI units", "u_{i}"):
        assert words not in text


def test_tables_have_symbols_and_units_as_papers_do() -> None:
    made = cf.report("examples/stanford_elements.toml", outputs=["H", "C", "tau"], verified=False)
    text = made.tex()
    for words in (
        r"$T$ = $\dot{q}^{T}$ $H$ $\dot{q}$ / 2",
        r"$C_{ikl}$ = (d$H_{ik}$/d$q_{l}$ + d$H_{il}$/d$q_{k}$ \ensuremath{-} d$H_{kl}$/d$q_{i}$)",
        r"kg m\ensuremath{^2}/($u_{i}$ $u_{k}$ $u_{l}$)",
        r"J1z & 5 & kg m\ensuremath{^2} &",
        r"inertia = ((0, 0, 0), (0, 0, 0), (0, 0, J1z))",
        r"at = \{on = L\}",
        r"$J^{T}_{F}$ wrench",
    ):
        assert words in text
    assert "<mi>u</mi>" in made.html
