"""Graph text in, a sequence of passes, graph text out: one file for each case.

A file has three parts, divided by lines of dashes: the graph, the sequence, the graph after it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from chainform.graph import graph_text, parse_graph, verify
from chainform.search.sequence import parse_sequence

CASES = sorted(Path(__file__).parent.glob("*.sop"))
DIVIDER = "\n---\n"


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path: Path, update_golden: bool) -> None:
    before, sequence, after = path.read_text().split(DIVIDER)
    graph = parse_graph(before, path.name)
    verify(graph)
    for step in parse_sequence(sequence):
        graph = step(graph)
        verify(graph)
    text = graph_text(graph)
    if update_golden:
        path.write_text(DIVIDER.join([before, sequence, text]))
        after = text
    assert text == after
