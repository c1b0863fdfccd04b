"""The pages whose examples run: README, walk, formulations. Others are run beside their rooms."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs import DOCS, blocks_of, run_page

ROOT = DOCS.parent


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/index.md",
        "docs/walk.md",
        "docs/examples.md",
        "docs/formulations.md",
        "docs/derivatives.md",
        "docs/quantities.md",
        "docs/closed-form.md",
        "docs/elements.md",
        "docs/expressions.md",
        "docs/actuators.md",
        "docs/identification.md",
        "docs/closed-loops.md",
        "docs/linearisation.md",
        "docs/oscillations.md",
        "docs/statics.md",
        "docs/periodic.md",
        "docs/sensitivities.md",
        "docs/design.md",
        "docs/tasks.md",
        "docs/inverse-kinematics.md",
        "docs/programs.md",
        "docs/languages.md",
        "docs/simulation.md",
        "docs/stops.md",
        "docs/solvers.md",
        "docs/thesis-reduction.md",
        "docs/report.md",
        "docs/verification.md",
        "docs/formulas.md",
    ],
)
def test_page_runs(page: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert "cf" in run_page(ROOT / page)


@pytest.mark.slow
def test_the_demo_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    source = (ROOT / "examples" / "demo.py").read_text()
    names = {"__name__": "demo", "__file__": str(ROOT / "examples" / "demo.py")}
    exec(compile(source, "demo.py", "exec"), names)  # noqa: S102
    main = names["main"]
    assert callable(main)
    main()
    printed = capsys.readouterr().out
    assert "H[1,1]" in printed
    assert "70.632298" in printed


def test_blocks_are_closed() -> None:
    for page in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]:
        blocks_of(page)


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text()
    for page in [*DOCS.glob("*.md"), *(DOCS / "decisions").glob("*.md")]:
        assert str(page.relative_to(DOCS)) in navigation, Path(page).name
