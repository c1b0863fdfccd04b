"""A report on a model: mechanism, parameters, topology, formulas, counts, verification, works.

It is made for the appendix of a paper: one page of HTML that needs no network, a LaTeX document,
or a PDF file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from chainform.display import Displayed
from chainform.errors import RunError
from chainform.files import check_target, write_whole
from chainform.given import counted
from chainform.graph import Cost, digits_of
from chainform.mechanism import Mechanism
from chainform.model import Model, read_expressions
from chainform.pipeline import derive
from chainform.readers import EXPRESSIONS, read
from chainform.reports.blocks import (
    DataTable,
    EquationList,
    Paragraph,
    PictureBlock,
    ReportBlock,
    Title,
)
from chainform.reports.html import fragment, page_html
from chainform.reports.mechanism_blocks import (
    body_blocks,
    note_blocks,
    parameter_blocks,
    picture_blocks,
    topology_blocks,
)
from chainform.reports.quantity_blocks import (
    entry_blocks,
    equation_of_motion,
    formula_blocks,
    level_blocks,
    level_words,
    quantity_blocks,
)
from chainform.reports.tex import compiled, document_tex
from chainform.search import path_of
from chainform.verification import Check, verify
from chainform.version import VERSION

RACKOVIC = (
    "M. Racković, Formiranje matematičkih modela složenih robotskih mehanizama u simboličkom "
    "obliku (Mathematical models of complex robotic mechanisms in symbolic form), PhD thesis, "
    "University of Novi Sad, 1996."
)
FEATHERSTONE = "R. Featherstone, Rigid Body Dynamics Algorithms, Springer, 2008."
FORMULATIONS = {
    "closed_form": RACKOVIC,
    "newton_euler": "J. Y. S. Luh, M. W. Walker, R. P. C. Paul, On-line computational scheme for "
    "mechanical manipulators, ASME Journal of Dynamic Systems, Measurement, and Control 102, 1980.",
    "composite_body": FEATHERSTONE,
    "articulated_body": FEATHERSTONE,
    "kinetostatic": "Z. Turek, Kinetostatyczna komputerowa metoda matematycznego modelowania "
    "łańcuchów kinematycznych, IPPT PAN reports 15/1993, Warsaw.",
    "lagrange": "A. Obradović, S. Marković, Simulacija kretanja sistema krutih tela, 1991.",
    "gibbs_appell": "M. H. Korayem, A. M. Shafei, Application of recursive Gibbs-Appell "
    "formulation in deriving the motion equation of revolute-prismatic joints, Iran University of "
    "Science and Technology, Tehran.",
    "elements": "Yu. M. Andrieiev, V. L. Dziuba, on inverse problems of dynamics of robotic "
    "devices in the computer algebra system KiDyM, NTU KhPI, Kharkiv, 2023.",
    "auto": FEATHERSTONE,
}
"""Where each formulation comes from; `auto` takes the cheapest of several."""

REPORT_FORMS = (".html", ".tex", ".pdf")
SIZE = (1600, 1200)
"""The size of the picture, in pixels."""
COLUMNS = ("multiplications", "additions", "sin", "cos", "angle sums", "other calls")

Stages = Sequence[tuple[str, Cost]]


@dataclass(frozen=True, eq=False)
class ModelReport(Displayed):
    """A report: `save("report.pdf")` writes it, `checks` are the laws that were verified."""

    title: str
    blocks: tuple[ReportBlock, ...] = field(repr=False)
    checks: tuple[Check, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether no law that was checked fails."""
        return all(check.holds is not False for check in self.checks)

    @property
    def html(self) -> str:
        """The report as a page of HTML that loads nothing."""
        return page_html(self.title, [Title(self.title, 0), *self.blocks])

    def tex(self, pictures: str = "report") -> str:
        """Return the report as a LaTeX document; names of its pictures begin with `pictures`."""
        return document_tex(self.title, self.blocks, pictures)

    def save(self, file: str | PathLike[str]) -> Path:
        """Write the report; the ending of the file tells the form: .html, .tex or .pdf.

        Pictures of a LaTeX document lie in its folder: report-mechanism.png.
        """
        path = _target(file)
        ending = path.suffix.lower()
        if ending == ".html":
            return write_whole(path, self.html.encode("utf-8"))
        pictures = {f"report-{block.name}.png": block.png for block in self._pictures}
        if ending == ".pdf":
            return write_whole(path, compiled(self.tex(), pictures))
        for block in self._pictures:
            write_whole(picture_path(path, block.name), block.png)
        return write_whole(path, self.tex(path.stem).encode("utf-8"))

    @property
    def _pictures(self) -> list[PictureBlock]:
        return [block for block in self.blocks if isinstance(block, PictureBlock)]

    def __repr__(self) -> str:
        return f"<ModelReport {self.title}: {verdict(self.checks)}>"

    def _repr_html_(self) -> str:
        return fragment([Title(self.title, 1), *self.blocks])


def picture_path(path: Path, name: str = "mechanism") -> Path:
    """Return where a picture of a LaTeX document lies: in its folder."""
    return path.with_name(f"{path.stem}-{name}.png")


def _target(file: str | PathLike[str]) -> Path:
    path = Path(file)
    if path.suffix.lower() not in REPORT_FORMS:
        raise RunError(
            f"a report cannot be written as {path.suffix or 'a file without an ending'}",
            file=str(path),
            element="file",
            remedy="let the name end in .html, .tex or .pdf",
        )
    check_target(path)
    return path


def report(
    source: Model | Mechanism | str | PathLike[str],
    file: str | PathLike[str] | None = None,
    *,
    reduce: str = "none",
    stages: Stages | None = None,
    verified: bool = True,
    digits: int | None = None,
    **options: Any,
) -> ModelReport:
    """Return a report on a model, and write it to `file` (.html, .tex or .pdf), if one is given.

    In place of a model, a mechanism or its file may be given: it is derived first, by the
    `options` of `derive`. `reduce` is an effort by which the model is reduced for the report.
    `stages` are counts of operations by name, where the model itself does not know them: those of
    the revisions of a stored model. Without `verified` no law is checked. With `digits` the
    numbers of formulas are rounded to so many.
    """
    if file is not None:
        _target(file)
    digits = digits_of(digits)
    model = _model(source, options)
    model = model if reduce == "none" else model.reduce(reduce)
    checks = verify(model, only=("laws", "formulations"), states=1).checks if verified else ()
    what = "Equations of motion" if model.has_bodies else "Expressions"
    made = ModelReport(
        f"{what}: {model.mechanism.name}",
        _blocks(model, stages, checks, digits),
        checks,
    )
    if file is not None:
        made.save(file)
    return made


def _model(source: Model | Mechanism | str | PathLike[str], options: dict[str, Any]) -> Model:
    if isinstance(source, str | PathLike) and Path(source).suffix.lower() == EXPRESSIONS:
        source = read_expressions(source, options.pop("outputs", None))
    if isinstance(source, Model):
        if options:
            remedy = "give them to derive, or give the mechanism in place of the model"
            element = next(iter(options))
            raise RunError("a model takes no options of derive", element=element, remedy=remedy)
        return source
    return derive(source if isinstance(source, Mechanism) else read(source), **options)


def _blocks(
    model: Model, stages: Stages | None, checks: Sequence[Check], digits: int | None
) -> tuple[ReportBlock, ...]:
    mechanism = model.mechanism
    words = f" Numbers in formulas are rounded to {counted(digits, 'digit')}." if digits else ""
    blocks: list[ReportBlock] = [Paragraph(_abstract(model) + words)]
    if model.has_bodies:
        lines, words = equation_of_motion(model)
        blocks += [Paragraph("The equation of motion is"), EquationList(lines), Paragraph(words)]
        blocks += [Title("Mechanism"), *picture_blocks(mechanism, SIZE)]
        blocks += [Title("Topology"), *topology_blocks(mechanism)]
        blocks += [Title("Parameters"), *body_blocks(mechanism)]
        blocks += parameter_blocks(mechanism, list(model.free_parameters))
        blocks += note_blocks(mechanism)
    blocks += [Title("Quantities"), *quantity_blocks(model)]
    blocks += [Title("Formulas written out"), *formula_blocks(model, digits)]
    blocks += [Title("Formulas as they are computed, by level"), Paragraph(level_words(model))]
    blocks += [*level_blocks(model, digits), *entry_blocks(model, digits)]
    blocks += [Title("Operations"), *count_blocks(model, stages)]
    if checks:
        blocks += [Title("Verification"), *verification_blocks(checks)]
    references = [(str(k), text) for k, text in enumerate(_references(model), start=1)]
    blocks += [Title("References"), DataTable.of(("no", "work"), references)]
    return tuple(blocks)


def _abstract(model: Model) -> str:
    state = f"reduced by the effort {model.reduction}" if model.is_reduced else "not reduced"
    made = "This report was made by a program from the"
    if not model.has_bodies:
        return f"{made} expressions {model.mechanism.name}, which are {state}."
    free = model.parameters if isinstance(model.parameters, str) else ", ".join(model.parameters)
    return (
        f"{made} mechanism {model.mechanism.name}. The "
        f"formulas were derived by the formulation {model.formulation} and are {state}; "
        f"parameters: {free}. All units are SI units."
    )


def count_blocks(model: Model, stages: Stages | None = None) -> list[ReportBlock]:
    """Return the operations of one evaluation: by stage of the reduction, and by output."""
    path = path_of(model.stages)
    known = [(stage.name, stage.cost) for stage in path] or [("as derived", model.count())]
    if model.is_reduced and not model.stages:
        known = [(f"after {model.reduction}", model.count())]
    rows = [(name, *figures(cost)) for name, cost in (known if stages is None else stages)]
    by_output = [(name, *figures(model.count([name]))) for name in model.outputs]
    blocks: list[ReportBlock] = [
        DataTable.of(("stage", *COLUMNS), rows, COLUMNS, "All outputs together, by stage."),
    ]
    if len(by_output) > 1:
        words = "Each output by itself, in the formulas above."
        blocks.append(DataTable.of(("output", *COLUMNS), by_output, COLUMNS, words))
    once = model.count(once=True)
    if any(once.as_dict().values()):
        blocks.append(Paragraph(f"Once, from the parameters alone: {once}."))
    return blocks


def figures(cost: Cost) -> list[str]:
    """Return the columns of a count as texts."""
    return [str(number) for number in cost.as_dict().values()]


def verification_blocks(checks: Sequence[Check]) -> list[ReportBlock]:
    """Return the laws that were checked as a table, with what was compared and the figure."""
    rows = [(check.law, check.compared, check.figure, check.verdict) for check in checks]
    words = f"The laws were checked when the report was made: {verdict(checks)}."
    return [Paragraph(words), DataTable.of(("law", "compared", "figure", "result"), rows)]


def verdict(checks: Sequence[Check]) -> str:
    """Return how many laws hold, in words."""
    if not checks:
        return "nothing was verified"
    done = [check for check in checks if check.holds is not None]
    failed = sum(check.holds is False for check in done)
    left = len(checks) - len(done)
    words = f"{len(done) - failed} hold" if not failed else f"{failed} of {len(done)} FAIL"
    return f"{words}, {left} could not be checked" if left else words


def _references(model: Model) -> list[str]:
    """Return the works that a report on a model cites, with the program itself."""
    used = [FORMULATIONS[model.formulation]] if model.formulation in FORMULATIONS else []
    if model.reduction == "thesis":
        used.append(RACKOVIC)
    return [*dict.fromkeys(used), f"chainform {VERSION}, which made this report."]
