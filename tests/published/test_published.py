"""Results that others published come out again, to the accuracy that is claimed for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.published.cases import CASES
from tests.published.page import PAGE, Row, page_of, picture_of, rows_of
from tests.published.records import Case, Result
from tools import published

PAIRS = [
    pytest.param(
        case,
        result,
        id=f"{case.name}: {result.quantity}",
        marks=[pytest.mark.slow] if case.is_slow else [],
    )
    for case in CASES
    for result in case.results
]
NOISE = 1e-9
"""Deviations below this are rounding, which differs between processors."""
RATIO = 3
"""By how much a larger deviation may differ from the one on the page, which has one digit."""


def as_on_the_page(found: Row, shown: Row) -> bool:
    """Tell whether a row of the page is that of what was found, but for rounding."""
    if replace(found, deviation=0) != replace(shown, deviation=0):
        return False
    low, high = sorted((found.deviation, shown.deviation))
    return high < NOISE or high <= RATIO * low


@pytest.mark.parametrize(("case", "result"), PAIRS)
def test_a_published_result_comes_out(case: Case, result: Result) -> None:
    assert 0 < result.limit <= result.accuracy
    assert result.deviation() <= result.limit


@pytest.mark.any_processor
def test_every_source_is_named() -> None:
    """With repository, commit, path and licence; no case and no quantity stands there twice."""
    for case in CASES:
        source = case.source
        assert len(source.commit) == 40, case.name
        assert all([source.name, source.repository, source.licence, case.path, case.note])
        assert all(result.claim for result in case.results)
        quantities = [result.quantity for result in case.results]
        assert len(set(quantities)) == len(quantities) > 0, case.name
        assert bool(case.picture) == (case.draw is not None)
    assert len({case.name for case in CASES}) == len({case.title for case in CASES}) == len(CASES)


def test_the_command_prints_and_counts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends with 1 where a result is too far from the published one, and knows its cases."""
    assert published.main(["spring_mass"]) == 0
    rows = rows_of(capsys.readouterr().out)
    assert {row.case for row in rows} == {"Masses on springs"}
    monkeypatch.setattr(Result, "limit", 1e-9)
    assert published.main(["spring_mass"]) == 1
    assert f"{len(rows)} too far" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        published.main(["spring_mas"])


@pytest.mark.slow
def test_the_page_has_these_results() -> None:
    """All rows with their deviations, all notes and all pictures; and a row that differs shows."""
    text = PAGE.read_text("utf-8")
    found = [Row.of(case, result) for case in CASES for result in case.results]
    shown = rows_of(text)
    assert [row.quantity for row in shown] == [row.quantity for row in found]
    for one, other in zip(found, shown, strict=True):
        assert as_on_the_page(one, other), (one, other)
        assert not as_on_the_page(replace(one, deviation=10 * one.deviation + NOISE), other)
    assert text == page_of(CASES, shown)
    for case in CASES:
        assert not case.picture or picture_of(case).is_file(), case.name
