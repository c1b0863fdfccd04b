"""What `print(model)` says."""

from __future__ import annotations

from pathlib import Path

import chainform as cf
from chainform.graph import graph_text, parse_graph

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_a_model_prints_as_a_summary() -> None:
    model = cf.derive(EXAMPLES / "four_bar.toml", ["mass_matrix", "gravity"], parameters=["a"])
    lines = str(model).splitlines()
    assert lines[:4] == [
        "four_bar, auto, not reduced",
        "3 joints with 3 coordinates, 1 loop",
        "  mass_matrix  3 × 3",
        "  gravity      3",
    ]
    assert "free parameters: a" in lines
    assert str(model.count()) in lines[-2]
    assert lines[-2].startswith(f"{len(model.graph)} variables; ")
    assert lines[-1] == 'formulas: model["mass_matrix"][0, 0], all of them: model.emit("text")'


def test_the_way_to_the_formulas_is_right() -> None:
    model = cf.derive(EXAMPLES / "six_axis_arm.toml", ["kinetic_energy"])
    assert 'formulas: model["kinetic_energy"], ' in str(model)
    assert model["kinetic_energy"].shape == ()
    text = model.emit("text")
    assert graph_text(parse_graph(text)) == text


def test_many_names_are_counted() -> None:
    model = cf.derive(
        EXAMPLES / "six_axis_arm.toml",
        ["mass_matrix"],
        formulation="closed_form",
        parameters="symbolic",
    )
    said = str(model)
    assert f" and {len(model.free_parameters) - 12} more" in said
    assert f"intermediate quantities: {len(model.quantities)}, in model.quantities" in said
    assert len(said.splitlines()) < 12


def test_repr_is_one_line() -> None:
    model = cf.derive(EXAMPLES / "four_bar.toml", ["gravity"])
    assert repr(model) == (
        "<Model four_bar, auto, not reduced, 3 freedoms: gravity; 3 multiplications, 1 additions>"
    )
    reduced = model.reduce("expand, merge_equal")
    assert repr(reduced).startswith("<Model four_bar, auto, reduced (expand, merge_equal), ")
    assert str(reduced).startswith("four_bar, auto, reduced (expand, merge_equal)\n")


def test_many_outputs_are_counted() -> None:
    model = cf.derive(EXAMPLES / "four_bar.toml", ["H", "hG", "com", "T", "V", "momentum"])
    assert "kinetic_energy and 2 more; " in repr(model)
