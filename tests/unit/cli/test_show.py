"""`chainform show`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chainform.model import Model
from chainform.pipeline import SOLVED, derive


@pytest.fixture(scope="module")
def model(arm: Path) -> Model:
    return derive(arm, formulation="closed_form")


BY_CLOSED_FORM = ("--formulation", "closed_form")


def test_definitions(call: Callable[..., Any], arm: Path, model: Model) -> None:
    result = call("show", arm, "mass_matrix[1,1]", "H_2_1", "hG", *BY_CLOSED_FORM)
    lines = result.out.splitlines()
    assert lines[0] == f"H_1_1 = {model['mass_matrix'][0, 0]}"
    assert lines[1] == f"H_2_1 = {model['mass_matrix'][1, 0]}"
    assert lines[2:] == str(model["gravity"]).splitlines()


def test_definitions_are_those_of_the_outputs_asked_for(
    call: Callable[..., Any], arm: Path
) -> None:
    model = derive(arm, ["mass_matrix", "jacobian(hand,local)"])
    result = call("show", arm, "H[1,1]", "jacobian(hand,local)[1,:]", "J_hand_local_4_1")
    assert result.out.splitlines() == [
        f"H_1_1 = {model['mass_matrix'][0, 0]}",
        *str(model["jacobian(hand,local)"][0]).splitlines(),
        f"J_hand_local_4_1 = {model['jacobian(hand,local)'][3, 0]}",
    ]


def test_steps_lead_to_the_quantity(call: Callable[..., Any], arm: Path) -> None:
    model = derive(arm, ["gravity"])
    entry = model["gravity"][1]
    document = call("show", arm, "hG[2]", "--steps", "--json").document
    inputs = {given.name for given in model.graph.inputs.values()}
    steps = [name for name in entry.needs() if name not in inputs]
    assert [row["name"] for row in document["steps"]] == steps
    lines = call("show", arm, "hG[2]", "--steps").out.splitlines()
    assert lines == [
        *(f"{row['name']} = {row['formula']}" for row in document["steps"]),
        f"hG_2 = {entry}",
    ]
    assert call("show", arm, "hG[2]", *steps).code == 0
    assert call("show", arm, "hG[2]", "--json").document["steps"] == []
    latex = call("show", arm, "hG[2]", "--steps", "--latex").out
    assert latex.startswith("\\")
    assert len(latex.splitlines()) == len(lines)


def test_variables_without_names_belong_to_the_outputs_beside_them(
    call: Callable[..., Any], refused: Callable[[Any], str], arm: Path
) -> None:
    model = derive(arm, ["mass_matrix"])
    name = next(name for name in model["mass_matrix"][0, 0].needs() if name.startswith("x_"))
    asked = ("H[1,1]", name, "q1", "sin_q2")
    line = call("show", arm, *asked).out.splitlines()[1]
    assert line == f"{name} = {model[name]}"
    refused(call("show", arm, name))
    refused(call("show", arm, name, "sin_q2"))
    assert "no quantity 'x_9999'" in refused(call("show", arm, "H", "x_9999"))


@pytest.mark.parametrize("options", [["H", "--expand"], ["H", "--sympy"], []])
def test_steps_stand_alone(
    call: Callable[..., Any], refused: Callable[[Any], str], arm: Path, options: list[str]
) -> None:
    assert "--steps" in refused(call("show", arm, *options, "--steps"))


def test_expanded(call: Callable[..., Any], arm: Path, model: Model) -> None:
    entry = model["mass_matrix"][3, 3].expand()
    assert call("show", arm, "H[4,4]", "--expand").out == f"H_4_4 = {entry}\n"
    document = call("show", arm, "H[4,4]", "--expand", "--json").document
    (row,) = document["quantities"][0]["entries"]
    assert row == {"name": "H_4_4", "index": [4, 4], "formula": str(entry), "terms": len(entry)}
    assert document["expanded"] is True


def test_latex(call: Callable[..., Any], arm: Path, model: Model) -> None:
    entry = model["gravity"][1]
    assert call("show", arm, "hG[2]", "--latex", *BY_CLOSED_FORM).out == entry.latex() + "\n"
    expanded = entry.latex(expanded=True)
    assert call("show", arm, "hG[2]", "--latex", "--expand").out == expanded + "\n"


def test_options_of_latex(
    call: Callable[..., Any], refused: Callable[[Any], str], arm: Path
) -> None:
    model = derive(arm, ["mass_matrix"])
    options = ("--latex", "--trig", "short", "--width", "60", "--symbol", r"waist=\alpha_1")
    given: Any = {"trig": "short", "width": 60, "symbols": {"waist": r"\alpha_1"}}
    assert call("show", arm, "H", *options).out == model["H"].latex(**given) + "\n"
    entry = call("show", arm, "H[4,4]", "--expand", "--json", *options).document
    assert entry["steps"] == [{"name": "c_{5}", "formula": r"\cos q_{5}"}]
    assert "--trig goes with --latex" in refused(call("show", arm, "H", "--trig", "short"))
    assert "NAME=LATEX" in refused(call("show", arm, "H", "--latex", "--symbol", "waist"))
    wrong = call("show", arm, "H", "--latex", "--symbol", "wast=a")
    assert "did you mean 'waist'" in refused(wrong)
    assert refused(call("show", arm, "H", "--latex", "--width", "1"))


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


def test_mathml(call: Callable[..., Any], refused: Callable[[Any], str], arm: Path) -> None:
    gravity = derive(arm, ["gravity"])["gravity"]
    options = ("--expand", "--mathml", "--symbol", r"waist=\alpha_1", "--trig", "short")
    given: Any = {"expanded": True, "symbols": {"waist": r"\alpha_1"}, "trig": "short"}
    assert call("show", arm, "hG", *options).out == gravity.mathml(**given) + "\n"
    document = call("show", arm, "hG[2]", "--mathml", "--steps", "--json").document
    assert document["form"] == "mathml"
    assert all(row["formula"].startswith("<math ") for row in document["steps"])
    assert "without --latex" in refused(call("show", arm, "H", "--mathml", "--latex"))
    assert "goes with --latex" in refused(call("show", arm, "H", "--mathml", "--width", "60"))


@pytest.mark.parametrize("other", ["--expand", "--latex", "--mathml"])
def test_sympy_stands_alone(
    call: Callable[..., Any], refused: Callable[[Any], str], arm: Path, other: str
) -> None:
    message = refused(call("show", arm, "H", "--sympy", other))
    assert "--sympy goes without --expand, --latex and --mathml" in message


def test_list(call: Callable[..., Any], arm: Path, model: Model) -> None:
    result = call("show", arm, *BY_CLOSED_FORM)
    assert re.search(r"\n  mass_matrix +H +6 × 6\n", result.out)
    assert "  Q_1 ... Q_6 " in result.out
    assert "  q: q1, q2, q3, q4, q5, q6\n" in result.out
    document = call("show", arm, *BY_CLOSED_FORM, "--json").document
    assert [given["name"] for given in document["intermediate"]] == list(model.quantities)
    letters = [given["letter"] for given in document["outputs"]]
    assert letters[:8] == ["H", "C", "hG", "tau", "T", "V", "R", None]
    assert letters[-3:] == ["AG", "AGd", "Hi"]


def test_forward_dynamics_is_left_out_where_nothing_resists(
    call: Callable[..., Any], refused: Callable[[Any], str], hand: Path
) -> None:
    reason = "nothing resists qd7: the mass matrix is singular"
    for command in ("show", "count"):
        result = call(command, hand)
        names = ["forward_dynamics", "inverse_mass_matrix"]
        lines = "".join(f"  {name}: {reason}\n" for name in names)
        assert result.out.endswith(f"\nleft out\n{lines}")
        document = call(command, hand, "--json").document
        assert document["left_out"] == [{"name": name, "reason": reason} for name in names]
    assert reason in refused(call("show", hand, "qdd"))
    assert reason in refused(call("show", hand, "qdd", "nothing"))
    assert reason in refused(call("count", hand, "--outputs", "qdd"))


def test_list_of_frames(call: Callable[..., Any], hand: Path) -> None:
    result = call("show", hand)
    assert re.search(r"\n  jacobian_rate\(F\) +Jd\(F\) +6 × 7\n", result.out)
    assert "  F: grasp, palm, finger, thumb\n" in result.out
    assert "intermediate" not in result.out
    document = call("show", hand, "--json").document
    assert document["frames"] == ["grasp", "palm", "finger", "thumb"]
    for row in document["of_frame"]:
        if row["name"].removesuffix("(F)") in SOLVED:
            continue
        name = row["name"].replace("(F)", "(grasp)")
        shown = call("show", hand, name, "--json").document["quantities"][0]
        assert shown["entries"][-1]["index"] == row["shape"]


def test_wrenches_are_listed(call: Callable[..., Any], arm: Path) -> None:
    assert "  wrench: wrench1, " in call("show", arm, "--wrenches", "gripper").out
    assert "wrench" in call("show", arm, "tau[6]", "--wrenches", "gripper", "--expand").out


def test_all_that_is_listed_can_be_shown(call: Callable[..., Any], four_bar: Path) -> None:
    document = call("show", four_bar, "--json").document
    groups = (document["outputs"], document["intermediate"], document["inputs"])
    names = [given["name"] for group in groups for given in group]
    assert call("show", four_bar, *names).code == 0


def test_symbolic_parameters(call: Callable[..., Any], pendulum: Path) -> None:
    shown = call("show", pendulum, "hG", "--parameters", "symbolic", "--expand").out
    name, formula = shown.strip().split(" = ")
    assert name == "hG_1"
    assert {"g", "length", "weight"} <= set(re.findall(r"\w+", formula))


def test_indices_in_documents(call: Callable[..., Any], arm: Path) -> None:
    asked = ("H[2,:]", "Q_3[1,2]", "e_2_x")
    document = call("show", arm, *asked, *BY_CLOSED_FORM, "--json").document
    rows = [[entry["index"] for entry in item["entries"]] for item in document["quantities"]]
    assert rows == [[[2, k] for k in range(1, 7)], [[1, 2]], [[]]]
    assert [item["asked"] for item in document["quantities"]] == ["H[2,:]", "Q_3[1,2]", "e_2_x"]


@pytest.mark.parametrize(
    ("quantity", "reason"),
    [
        ("H[0,0]", "there is no entry [0,0]"),
        ("H[7,1]", "there is no entry [7,1]"),
        ("H[1", "'H[1' is not a quantity"),
        ("nothing", "no quantity 'nothing'"),
        ("H_9_9", "no quantity 'H_9_9'"),
        ("", "'' is not a quantity"),
        ("J", "closure_jacobian needs a closed loop"),
        ("closure", "closure needs a closed loop"),
        ("H[1,1,1]", "there is no entry [1,1,1]"),
        ("Q_2", "no quantity 'Q_2'"),
    ],
)
def test_bad_quantities(
    call: Callable[..., Any], refused: Callable[[Any], str], arm: Path, quantity: str, reason: str
) -> None:
    assert reason in refused(call("show", arm, quantity))
    assert reason in refused(call("show", arm, "H[1,1]", quantity, "--json"))


def test_names_of_the_closed_form_are_offered(
    call: Callable[..., Any], refused: Callable[[Any], str], arm: Path
) -> None:
    assert "--formulation closed_form" in refused(call("show", arm, "Q_2"))
    assert "--formulation" not in refused(call("show", arm, "Q_9", *BY_CLOSED_FORM))


@pytest.mark.parametrize(
    "quantity", ["jacobian", "J(nothing)", "J(hand)[7,1]", "J(hand,upside)", "H(hand)", "x_40"]
)
def test_bad_quantities_of_frames(
    call: Callable[..., Any], refused: Callable[[Any], str], arm: Path, quantity: str
) -> None:
    assert "remedy: " in refused(call("show", arm, quantity))


def test_other_formulation(
    call: Callable[..., Any], refused: Callable[[Any], str], arm: Path
) -> None:
    assert call("show", arm, "bias", "--formulation", "newton_euler").code == 0
    message = refused(call("show", arm, "H", "--formulation", "newton_euler"))
    assert "newton_euler does not give mass_matrix" in message


def test_without_sympy_the_remedy_installs_it(
    call: Callable[..., Any], arm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sympy", None)
    result = call("show", arm, "hG", "--sympy")
    assert (result.code, result.out) == (1, "")
    assert "remedy: pip install 'chainform[sympy]'" in result.err


def test_angles_kept_split_or_collected(call: Callable[..., Any], arm: Path) -> None:
    texts = {
        angles: call("show", arm, "H[1,5]", "--expand", "--angles", angles).out
        for angles in ("kept", "split", "collected")
    }
    assert "sin(q2 + q3 + q4)" in texts["kept"]
    assert "sin(q2)*sin(q3)*sin(q4)" in texts["split"]
    assert "(" not in texts["split"].replace("sin(q", "").replace("cos(q", "")
    assert call("show", arm, "H[1,5]", "--expand").out == texts["collected"]
    refused = call("show", arm, "H[1,5]", "--angles", "split")
    assert refused.code == 2
    assert "--angles goes with --expand" in refused.err


def test_a_matrix_is_expanded_with_each_formula_once(call: Callable[..., Any], arm: Path) -> None:
    printed = call("show", arm, "H", "--expand").out.splitlines()
    assert len(printed) == 18
    assert printed[-1] == "H_4_5 = H_5_4 = H_5_6 = H_6_5 = 0"
    assert "H_1_6 = H_6_1 = 0.002*cos(q5)*cos(q2 + q3 + q4)" in printed
    document = json.loads(call("show", arm, "H", "--expand", "--json").out)
    entries = document["quantities"][0]["entries"]
    assert len(entries) == 36
    assert sum(row["terms"] for row in entries if row["name"] == "H_1_1") == 11
    latex = call("show", arm, "H", "--expand", "--latex").out.splitlines()
    assert latex[-2] == "H_{4,5} &= H_{5,4} = H_{5,6} = H_{6,5} = 0"


def test_a_limit_of_terms(call: Callable[..., Any], arm: Path) -> None:
    refused = call("show", arm, "H[1,1]", "--expand", "--limit", "2")
    assert (refused.code, refused.out) == (1, "")
    assert "the limit is 2" in refused.err
    shown = call("show", arm, "H[1,1]", "--expand")
    assert call("show", arm, "H[1,1]", "--expand", "--limit", "100").out == shown.out
    for wrong in (["--limit", "5"], ["--expand", "--limit", "0"], ["--expand", "--limit", "x"]):
        assert call("show", arm, "H[1,1]", *wrong).code == 2


def test_numbers_are_rounded(call: Callable[..., Any], arm: Path) -> None:
    result = call("show", arm, "H[4,4]", "--expand", "--digits", "3", "--json")
    document = json.loads(result.out)
    assert document["quantities"][0]["entries"][0]["formula"] == (
        "0.194*cos(q5)^2 + 0.202*cos(q5) + 0.0791"
    )
    for options in (
        ("--digits", "3"),
        ("--digits", "0", "--expand"),
        ("--digits", "99", "--latex"),
    ):
        refused = call("show", arm, "H[4,4]", *options)
        assert refused.code == 2
        assert "digits" in refused.err


def test_letters_of_energies_within_derivatives(call: Callable[..., Any], arm: Path) -> None:
    for text in ("d(T)/d(q)", "d(V)/d(q)[2]", "nonzeros(derivative(T,qd,qd))"):
        assert call("show", arm, text).code == 0
