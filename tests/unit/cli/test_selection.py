"""Names of quantities on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from chainform.cli.selection import named_outputs, parse_request, refuse_numbered, select
from chainform.errors import Error, ReadError
from chainform.mechanism import Mechanism
from chainform.model import Model
from chainform.model.names import FRAME_LETTERS, LETTERS, EntryRequest, letter_of
from chainform.pipeline import OUTPUTS, derive
from chainform.readers import read


@pytest.fixture(scope="module")
def mechanism(arm: Path) -> Mechanism:
    return read(arm)


@pytest.fixture(scope="module")
def model(mechanism: Mechanism) -> Model:
    outputs = [*OUTPUTS, "jacobian(hand)"]
    return derive(mechanism, outputs, formulation="closed_form", reduce="none")


def names(model: Model, text: str) -> list[str]:
    return [entry.name for entry in select(model, parse_request(text)).entries]


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("H", EntryRequest("H", "mass_matrix")),
        ("tau[3]", EntryRequest("tau[3]", "inverse_dynamics", (3,))),
        (" C [ 1, 2 ,3 ] ", EntryRequest(" C [ 1, 2 ,3 ] ", "coriolis", (1, 2, 3))),
        ("gravity[:]", EntryRequest("gravity[:]", "gravity", (None,))),
        ("Q_2", EntryRequest("Q_2", "Q_2")),
        ("pose(a tool)", EntryRequest("pose(a tool)", "pose(a tool)")),
        (
            "jacobian( tool ,local)[1,:]",
            EntryRequest("jacobian( tool ,local)[1,:]", "jacobian(tool,local)", (1, None)),
        ),
        ("J(tool)[2]", EntryRequest("J(tool)[2]", "jacobian(tool)", (2,))),
        ("T(x[1])", EntryRequest("T(x[1])", "pose(x[1])")),
    ],
)
def test_parse(text: str, request_: EntryRequest) -> None:
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


@pytest.mark.parametrize("text", ["J()", "J(,local)", "J( )"])
def test_parse_refuses_frames(text: str) -> None:
    with pytest.raises(Error):
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


def test_entries_of_frames(model: Model) -> None:
    assert names(model, "jacobian(hand)[1,2]") == ["J_hand_1_2"]
    assert names(model, "J(hand)[:,6]") == [f"J_hand_{k}_6" for k in range(1, 7)]
    assert names(model, "J_hand_6_5") == ["J_hand_6_5"]


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


def test_outputs_that_are_named(mechanism: Mechanism) -> None:
    def outputs(*texts: str) -> list[str]:
        return named_outputs([parse_request(text) for text in texts], OUTPUTS, mechanism)

    assert outputs("H[1,1]") == ["mass_matrix"]
    assert outputs("hG_2", "H") == ["gravity", "mass_matrix"]
    assert outputs("J") == ["closure_jacobian"]
    assert outputs("Q_2", "J") == ["closure_jacobian"]
    assert outputs() == outputs("Q_2", "q1", "x_40") == []
    assert outputs("J(hand)[1,2]") == ["jacobian(hand)"]
    assert outputs("J_hand_1_2", "Jd_wrist_mixed_1_2") == [
        "jacobian(hand)",
        "jacobian_rate(wrist,mixed)",
    ]
    assert outputs("v_upper_arm_local_3") == ["velocity(upper_arm,local)"]
    assert outputs("R_upper_arm_3") == ["reaction(upper_arm)"]
    assert outputs("R_upper_arm_world_3") == ["reaction(upper_arm,world)"]
    assert outputs("R_2_3") == ["reactions"]
    assert outputs("v_2_1") == []
    assert outputs("jacobian") == ["jacobian"]


def test_variables_without_names_are_refused_alone(mechanism: Mechanism) -> None:
    refuse_numbered([parse_request(text) for text in ("q1", "Q_2", "sin_q1", "H")], mechanism)
    for text in ("x_40", "constant_3", "cos_x_24", "x_7_"):
        with pytest.raises(ReadError, match="name them with it"):
            refuse_numbered([parse_request("q1"), parse_request(text)], mechanism)


def test_parameters_may_be_called_like_variables_without_names() -> None:
    builder = Mechanism.builder("rod").parameter("x_1", 2)
    mechanism = builder.segment("rod", joint="revolute", axis="z", mass="x_1").build()
    refuse_numbered([parse_request("x_1")], mechanism)
    with pytest.raises(ReadError, match="name them with it"):
        refuse_numbered([parse_request("x_2")], mechanism)


def test_letters() -> None:
    assert [letter_of(name) for name in LETTERS.values()] == list(LETTERS)
    for letter, name in FRAME_LETTERS.items():
        assert letter_of(f"{name}(hand,local)") == f"{letter}(hand,local)"
    assert letter_of("com") is None
