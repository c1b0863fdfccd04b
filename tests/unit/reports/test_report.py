"""Reports: what is in them, that pdflatex compiles them, and that checks can fail."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

import chainform as cf
from chainform.cli import main
from chainform.errors import Error
from chainform.graph import builder_of
from chainform.reports import ModelReport
from chainform.reports.formulas import MOST_DEFINITIONS
from chainform.reports.mathml import mathml, terms_of
from chainform.reports.tex import tex_text
from chainform.reports.verification import verify

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
def test_a_wrong_model_fails() -> None:
    model = cf.derive("examples/slider_crank.toml", ["H"])
    builder = builder_of(model.graph)
    block = model.graph.outputs["mass_matrix"]
    wrong = builder.variable_of(builder.scalar(block.variables[1]) * 2)
    variables = (block.variables[0], wrong, *block.variables[2:])
    graph = builder.finish()
    graph = replace(graph, outputs={"mass_matrix": replace(block, variables=variables)})
    failed = [check.law for check in verify(replace(model, graph=graph)) if check.holds is False]
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


def test_long_formulas_are_bounded() -> None:
    model = cf.derive("examples/biped.toml", ["C"])
    made = cf.report(model, verified=False)
    words = f"These are {MOST_DEFINITIONS} of"
    assert any(words in getattr(block, "text", "") for block in made.blocks)


@pytest.mark.parametrize(
    "latex",
    [
        r"\tau_{1}",
        r"0.5 \, \dot{q}_{1}^{2} \, \cos^{2} q_{2} - \tfrac{1}{3} \, \mathrm{crank\_mass}",
        r"\sqrt{a + b} + \frac{1}{x'}",
        r"\sin \left(q_{1} + q_{2}\right) + \left|x\right| + \operatorname{sign} y",
    ],
)
def test_mathml_is_well_formed(latex: str) -> None:
    assert ElementTree.fromstring(mathml(latex)).tag.endswith("math")


def test_what_is_not_read_stays_text() -> None:
    assert mathml(r"\unknown{<x>}") == r"<code>\unknown{&lt;x&gt;}</code>"


def test_terms() -> None:
    assert terms_of(r"-a + \left(b - c\right) - {d + e}") == [
        "-a",
        r"+ \left(b - c\right)",
        "- {d + e}",
    ]


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
