"""Names of quantities on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from chainform.cli.selection import LETTERS, Request, letter_of, outputs_for, parse_request, select
from chainform.errors import ReadError
from chainform.model import Model
from chainform.pipeline import OUTPUTS, derive


@pytest.fixture(scope="module")
def model(arm: Path) -> Model:
    return derive(arm)


def names(model: Model, text: str) -> list[str]:
    return [entry.name for entry in select(model, parse_request(text)).entries]


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("H", Request("H", "mass_matrix")),
        ("tau[3]", Request("tau[3]", "inverse_dynamics", (3,))),
        (" C [ 1, 2 ,3 ] ", Request(" C [ 1, 2 ,3 ] ", "coriolis", (1, 2, 3))),
        ("gravity[:]", Request("gravity[:]", "gravity", (None,))),
        ("Q_2", Request("Q_2", "Q_2")),
    ],
)
def test_parse(text: str, request_: Request) -> None:
    assert parse_request(text) == request_


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "[", "H[", "H]", "H[]", "H[1,]", "H[a]", "H[-1]", "H[1.5]", "H[1][2]", "a b"),
        *("H[1;2]", "[1]", "H[9999999]", "H[٣]", "H[1]x", "H[\0]"),
    ],
)
def test_parse_refuses(text: str) -> None:
    with pytest.raises(ReadError):
        parse_request(text)


def test_whole_outputs_in_order(model: Model) -> None:
    assert names(model, "hG") == [f"hG_{i}" for i in range(1, 7)]
    assert names(model, "gravity") == names(model, "hG[:]") == names(model, "hG")
    assert len(names(model, "C")) == 216


def test_entries_count_from_one(model: Model) -> None:
    assert names(model, "H[1,2]") == ["H_1_2"]
    assert names(model, "mass_matrix[6,6]") == ["H_6_6"]
    assert names(model, "H[2]") == names(model, "H[2,:]") == [f"H_2_{k}" for k in range(1, 7)]
    assert names(model, "H[:,3]") == [f"H_{k}_3" for k in range(1, 7)]
    assert names(model, "C[1,2,3]") == ["C_1_2_3"]


def test_labels_of_shared_variables(model: Model) -> None:
    (entry,) = select(model, parse_request("H_2_1")).entries
    (mirror,) = select(model, parse_request("H_1_2")).entries
    assert entry.name == "H_2_1"
    assert entry.variable == mirror.variable


@pytest.mark.parametrize("text", ["Q_2", "Q_2[1,2]", "e_2_x", "e_2[1]", "r_2_1", "sin_q1", "q3"])
def test_intermediate_quantities(model: Model, text: str) -> None:
    assert names(model, text)


def test_coordinates_by_their_own_names(model: Model) -> None:
    assert names(model, "elbow") == ["q3"]


@pytest.mark.parametrize(
    "text",
    [
        *("H[0,1]", "H[7,1]", "H[1,2,3]", "hG[1,1]", "H_1_1[1]", "H_7_7", "H_0_0"),
        *("nothing", "q7", "\0", "H_²", "mass_matrix_1_1", "x" * 5000),
    ],
)
def test_what_is_not_there(model: Model, text: str) -> None:
    with pytest.raises(ReadError):
        select(model, parse_request(text))


def test_close_names_are_offered(model: Model) -> None:
    with pytest.raises(ReadError) as caught:
        select(model, parse_request("mas_matrix"))
    assert "mass_matrix" in str(caught.value)


def test_only_what_is_needed_is_derived() -> None:
    def outputs(*texts: str) -> list[str]:
        return outputs_for([parse_request(text) for text in texts], OUTPUTS)

    assert outputs("H[1,1]") == ["mass_matrix"]
    assert outputs("hG_2", "H") == ["gravity", "mass_matrix"]
    assert outputs("J") == ["closure_jacobian"]
    assert outputs("Q_2", "J") == [*OUTPUTS, "closure_jacobian"]
    assert outputs() == list(OUTPUTS)


def test_letters() -> None:
    assert [letter_of(name) for name in LETTERS.values()] == list(LETTERS)
    assert letter_of("bias") is None
