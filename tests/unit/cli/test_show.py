"""`chainform show`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chainform.model import Model
from chainform.pipeline import derive


@pytest.fixture(scope="module")
def model(arm: Path) -> Model:
    return derive(arm)


def test_definitions(call: Callable[..., Any], arm: Path, model: Model) -> None:
    result = call("show", arm, "mass_matrix[1,1]", "H_2_1", "hG")
    lines = result.out.splitlines()
    assert lines[0] == f"H_1_1 = {model['mass_matrix'][0, 0]}"
    assert lines[1] == f"H_2_1 = {model['mass_matrix'][1, 0]}"
    assert lines[2:] == str(model["gravity"]).splitlines()


def test_expanded(call: Callable[..., Any], arm: Path, model: Model) -> None:
    entry = model["mass_matrix"][3, 3].expand()
    assert call("show", arm, "H[4,4]", "--expand").out == f"H_4_4 = {entry}\n"
    document = call("show", arm, "H[4,4]", "--expand", "--json").document
    (row,) = document["quantities"][0]["entries"]
    assert row == {"name": "H_4_4", "index": [4, 4], "formula": str(entry), "terms": len(entry)}
    assert document["expanded"] is True


def test_latex(call: Callable[..., Any], arm: Path, model: Model) -> None:
    entry = model["gravity"][1]
    assert call("show", arm, "hG[2]", "--latex").out == entry.latex() + "\n"
    expanded = entry.latex(expanded=True)
    assert call("show", arm, "hG[2]", "--latex", "--expand").out == expanded + "\n"


def test_sympy(call: Callable[..., Any], pendulum: Path) -> None:
    result = call("show", pendulum, "H", "--sympy")
    assert result.code == 0
    assert result.out.startswith("H_1_1 = ")


def test_sympy_may_be_missing(
    call: Callable[..., Any], pendulum: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sympy", None)
    result = call("show", pendulum, "H", "--sympy")
    assert result.code == 1
    assert result.out == ""
    assert "SymPy is not installed" in result.err


@pytest.mark.parametrize("other", ["--expand", "--latex"])
def test_sympy_stands_alone(
    call: Callable[..., Any], refused: Callable[[Any], str], arm: Path, other: str
) -> None:
    refused(call("show", arm, "H", "--sympy", other))


def test_list(call: Callable[..., Any], arm: Path, model: Model) -> None:
    result = call("show", arm)
    assert "  mass_matrix       H       6 × 6\n" in result.out
    assert "  Q_1 ... Q_6 " in result.out
    assert "  q: q1, q2, q3, q4, q5, q6\n" in result.out
    document = call("show", arm, "--json").document
    assert [given["name"] for given in document["intermediate"]] == list(model.quantities)
    assert [given["letter"] for given in document["outputs"]] == ["H", "C", "hG", "tau"]


def test_all_that_is_listed_can_be_shown(call: Callable[..., Any], four_bar: Path) -> None:
    document = call("show", four_bar, "--json").document
    groups = (document["outputs"], document["intermediate"], document["inputs"])
    names = [given["name"] for group in groups for given in group]
    assert call("show", four_bar, *names).code == 0


def test_symbolic_parameters(call: Callable[..., Any], pendulum: Path) -> None:
    assert "g" in call("show", pendulum, "hG", "--parameters", "symbolic", "--expand").out


def test_indices_in_documents(call: Callable[..., Any], arm: Path) -> None:
    document = call("show", arm, "H[2,:]", "Q_3[1,2]", "e_2_x", "--json").document
    rows = [[entry["index"] for entry in item["entries"]] for item in document["quantities"]]
    assert rows == [[[2, k] for k in range(1, 7)], [[1, 2]], [[]]]
    assert [item["asked"] for item in document["quantities"]] == ["H[2,:]", "Q_3[1,2]", "e_2_x"]


@pytest.mark.parametrize(
    "quantity", ["H[0,0]", "H[7,1]", "H[1", "nothing", "H_9_9", "", "J", "closure", "H[1,1,1]"]
)
def test_bad_quantities(
    call: Callable[..., Any], refused: Callable[[Any], str], arm: Path, quantity: str
) -> None:
    refused(call("show", arm, quantity))
    refused(call("show", arm, "H[1,1]", quantity, "--json"))


def test_other_formulation(
    call: Callable[..., Any], refused: Callable[[Any], str], arm: Path
) -> None:
    assert call("show", arm, "bias", "--formulation", "newton_euler").code == 0
    refused(call("show", arm, "H", "--formulation", "newton_euler"))
