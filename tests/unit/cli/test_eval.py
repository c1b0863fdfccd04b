"""`chainform eval`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chainform.pipeline import available_outputs, derive
from chainform.readers import read

Q = [-1.5708, -0.5236, -2.09439, -0.5236, 0, 0]


def at(state: Any) -> bytes:
    return json.dumps(state).encode()


@pytest.mark.slow
def test_values_are_those_of_the_model(call: Callable[..., Any], arm: Path, state: Path) -> None:
    document = call("eval", arm, "--at", state, "--json").document
    model = derive(arm, available_outputs(read(arm)))
    expected = model.evaluate(q=Q, qd=[0] * 6, qdd=[0] * 6, tau=[0] * 6)
    others = {"forward_dynamics", "regressor", "base_regressor"}
    assert document["outputs"].keys() == expected.keys() - others
    for name, result in document["outputs"].items():
        np.testing.assert_array_equal(result["values"], expected[name])
        assert result["shape"] == list(expected[name].shape)
    assert document["left_out"] == [
        {"name": "forward_dynamics", "reason": "the state gives no tau", "missing": ["tau"]}
    ]


def test_closed_form_leaves_nothing_out(call: Callable[..., Any], arm: Path, state: Path) -> None:
    arguments = ("eval", arm, "--at", state, "--formulation", "closed_form", "--json")
    document = call(*arguments).document
    expected = derive(arm, formulation="closed_form").evaluate(q=Q, qd=[0] * 6, qdd=[0] * 6)
    for name, array in expected.items():
        np.testing.assert_array_equal(document["outputs"][name]["values"], array)
    assert document["left_out"] == []


def test_text_for_people(call: Callable[..., Any], arm: Path, state: Path) -> None:
    lines = call("eval", arm, "--at", state, "--outputs", "hG").out.splitlines()
    assert lines[1:] == ["", "gravity", "  0  70.632298  25.506203  3.1238059e-05  0  0"]


@pytest.mark.slow
def test_what_the_state_lacks_is_left_out(call: Callable[..., Any], arm: Path) -> None:
    result = call("eval", arm, "--at", "-", stdin=at({"q": Q}))
    assert result.code == 0
    rates = "coriolis_matrix, bias, kinetic_energy, com_velocity, momentum, centroidal_momentum"
    accelerations = "inverse_dynamics, reactions, com_acceleration, centroidal_momentum_rate"
    assert result.out.partition("\nleft out\n")[2].splitlines() == [
        f"  {accelerations}: the state gives no qd, qdd",
        "  forward_dynamics: the state gives no qd, tau",
        f"  {rates}, centroidal_momentum_matrix_rate: the state gives no qd",
    ]
    document = call("eval", arm, "--at", "-", "--json", stdin=at({"q": Q})).document
    missing = {row["name"]: row["missing"] for row in document["left_out"]}
    assert missing["inverse_dynamics"] == ["qd", "qdd"]
    assert list(document["outputs"]) == [
        *("mass_matrix", "coriolis", "gravity", "potential_energy", "com", "com_jacobian"),
        *("centroidal_momentum_matrix", "inverse_mass_matrix"),
    ]


def test_what_an_output_needs_is_what_its_formulas_name(
    call: Callable[..., Any], pendulum: Path
) -> None:
    """Nothing turns about a second axis here, so C is zero and needs no length, no q at all."""
    document = call("eval", pendulum, "--at", "-", "--json", stdin=at({})).document
    assert list(document["outputs"]) == ["coriolis", "coriolis_matrix"]
    missing = {row["name"]: row["missing"] for row in document["left_out"]}
    assert missing["gravity"] == ["q", "length"]
    assert missing["kinetic_energy"] == ["qd", "length"]


@pytest.mark.parametrize(
    ("state", "outputs"),
    [({"q": Q}, ["--outputs", "tau"]), ({}, []), ({"qd": [0] * 6}, []), ({}, ["--outputs", "H"])],
)
def test_state_that_does_not_suffice(
    call: Callable[..., Any],
    refused: Callable[[Any], str],
    arm: Path,
    state: Any,
    outputs: list[str],
) -> None:
    message = refused(call("eval", arm, "--at", "-", *outputs, stdin=at(state)))
    assert message.startswith("chainform: error: standard input: the state does not suffice")


def test_batch(call: Callable[..., Any], arm: Path) -> None:
    batch = np.linspace(-1, 1, 36).reshape(2, 3, 6)
    arguments = ("eval", arm, "--at", "-", "--outputs", "H", "--json")
    document = call(*arguments, stdin=at({"q": batch.tolist()})).document
    expected = derive(arm, ["mass_matrix"]).evaluate(q=batch)["mass_matrix"]
    assert document["batch"] == [2, 3]
    assert document["outputs"]["mass_matrix"]["shape"] == [2, 3, 6, 6]
    np.testing.assert_array_equal(document["outputs"]["mass_matrix"]["values"], expected)
    text = call("eval", arm, "--at", "-", "--outputs", "H", stdin=at({"q": batch.tolist()})).out
    assert "a batch of 2 × 3" in text
    assert "  [2,3]\n" in text


def test_batch_of_something_an_output_does_not_use(call: Callable[..., Any], arm: Path) -> None:
    state = at({"q": Q, "qd": [[0] * 6] * 2})
    document = call("eval", arm, "--at", "-", "--json", stdin=state).document
    assert document["outputs"]["gravity"]["shape"] == [2, 6]


def test_coordinates_by_name(call: Callable[..., Any], four_bar: Path) -> None:
    named = at({"q": {"rocker": 3, "crank": 1, "q2": 2}})
    listed = at({"q": [1, 2, 3]})
    arguments = ("eval", four_bar, "--at", "-", "--json")
    assert call(*arguments, stdin=named).out == call(*arguments, stdin=listed).out


def test_closed_loops_take_sigma(call: Callable[..., Any], four_bar: Path) -> None:
    state = {"q": [1, 2, 3], "qd": [0, 0, 0], "qdd": [0, 0, 0]}
    document = call("eval", four_bar, "--at", "-", "--json", stdin=at(state)).document
    assert [(row["name"], row["missing"]) for row in document["left_out"]] == [
        ("inverse_dynamics", ["sigma"]),
        ("forward_dynamics", ["tau", "sigma"]),
        ("reactions", ["sigma"]),
    ]
    full = at(state | {"sigma": [1, 2, 3], "tau": [0, 0, 0]})
    assert call("eval", four_bar, "--at", "-", "--json", stdin=full).document["left_out"] == []


def test_forward_dynamics_takes_tau(call: Callable[..., Any], arm: Path) -> None:
    def evaluate(state: Any, formulation: str) -> Any:
        arguments = ("eval", arm, "--at", "-", "--formulation", formulation, "--json")
        return call(*arguments, stdin=at(state)).document["outputs"]

    motion = {"q": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "qd": [1, 2, 3, 4, 5, 6]}
    qdd = [6, 5, 4, 3, 2, 1]
    tau = evaluate(motion | {"qdd": qdd}, "newton_euler")["inverse_dynamics"]["values"]
    result = evaluate(motion | {"tau": tau}, "articulated_body")["forward_dynamics"]["values"]
    np.testing.assert_allclose(result, qdd, rtol=1e-8)


def test_outputs_come_in_the_order_asked_for(call: Callable[..., Any], arm: Path) -> None:
    names = ["pose(hand)", "gravity", "mass_matrix"]
    arguments = ("eval", arm, "--at", "-", "--outputs", *names, "--json")
    assert list(call(*arguments, stdin=at({"q": Q})).document["outputs"]) == names


def test_scalars(call: Callable[..., Any], arm: Path) -> None:
    arguments = ("eval", arm, "--at", "-", "--outputs", "V")
    expected = derive(arm, ["potential_energy"]).evaluate(q=Q)["potential_energy"]
    document = call(*arguments, "--json", stdin=at({"q": Q})).document
    assert document["outputs"]["potential_energy"] == {"shape": [], "values": float(expected)}
    assert call(*arguments, stdin=at({"q": Q})).out.splitlines()[-1] == f"  {expected:.8g}"
    document = call(*arguments, "--json", stdin=at({"q": [Q, Q]})).document
    assert document["outputs"]["potential_energy"]["shape"] == [2]


def test_quantities_of_frames(call: Callable[..., Any], hand: Path) -> None:
    q = [0, 0, 0, 0, 0, 0.6, 0.8, 0.5]
    names = ["pose(grasp)", "jacobian(finger,local)"]
    arguments = ("eval", hand, "--at", "-", "--outputs", "T(grasp)", "J(finger, local)", "--json")
    document = call(*arguments, stdin=at({"q": q})).document
    expected = derive(hand, names).evaluate(q=q)
    assert list(document["outputs"]) == names
    for name in names:
        np.testing.assert_array_equal(document["outputs"][name]["values"], expected[name])


def test_wrenches(call: Callable[..., Any], refused: Callable[[Any], str], arm: Path) -> None:
    motion: dict[str, Any] = {"q": Q, "qd": [1] * 6, "qdd": [2] * 6}
    wrench = [1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1]
    arguments = ("eval", arm, "--at", "-", "--outputs", "tau", "--wrenches", "hand,wrist", "--json")
    document = call(*arguments, stdin=at(motion | {"wrench": wrench})).document
    model = derive(arm, ["inverse_dynamics"], wrenches=["hand", "wrist"])
    expected = model.evaluate(**motion, wrench=wrench)["inverse_dynamics"]
    np.testing.assert_array_equal(document["outputs"]["inverse_dynamics"]["values"], expected)
    assert document["wrenches"] == ["hand", "wrist"]
    assert "inverse_dynamics needs wrench" in refused(call(*arguments, stdin=at(motion)))
    message = refused(call(*arguments, stdin=at(motion | {"wrench": [0] * 6})))
    assert "its last dimension must be 12" in message
    assert "force, then moment" in message
    message = refused(call(*arguments[:6], stdin=at(motion | {"wrench": [0] * 6})))
    assert "--wrenches" in message


def test_wrench_that_no_output_uses(call: Callable[..., Any], arm: Path) -> None:
    state = at({"q": Q, "wrench": [[0] * 6] * 3})
    arguments = ("eval", arm, "--at", "-", "--outputs", "hG", "--wrenches", "hand", "--json")
    assert call(*arguments, stdin=state).document["outputs"]["gravity"]["shape"] == [3, 6]


def test_quaternions(call: Callable[..., Any], refused: Callable[[Any], str], hand: Path) -> None:
    def state(*quaternion: float) -> bytes:
        return at({"q": [0, 0, 0, *quaternion, 0], "qd": [0] * 7, "qdd": [0] * 7})

    document = call("eval", hand, "--at", "-", "--json", stdin=state(0, 0, 0.7071, 0.7071)).document
    assert "coriolis" not in document["outputs"]
    assert document["outputs"]["mass_matrix"]["shape"] == [7, 7]
    rows = document["left_out"]
    assert [row["name"] for row in rows] == ["forward_dynamics", "inverse_mass_matrix"]
    assert all(row["missing"] == [] for row in rows)
    assert all(row["reason"].startswith("nothing resists qd7") for row in rows)
    for wrong in ((0, 0, 0, 0), (1, 0, 0, 1)):
        message = refused(call("eval", hand, "--at", "-", stdin=state(*wrong)))
        assert "the quaternion of base has the length" in message


def test_values_make_parameters_free(call: Callable[..., Any], four_bar: Path) -> None:
    def gravity(values: dict[str, Any], *options: str) -> Any:
        state = at({"q": [1, 2, 3], "values": values})
        arguments = ("eval", four_bar, "--at", "-", "--outputs", "hG", "--json", *options)
        return call(*arguments, stdin=state).document["outputs"]["gravity"]["values"]

    plain = np.array(gravity({}))
    np.testing.assert_allclose(gravity({"g": 0}), 0)
    np.testing.assert_allclose(gravity({"g": 19.62}), 2 * plain)
    np.testing.assert_allclose(gravity({"g": [9.81, 19.62]}), [plain, 2 * plain])
    np.testing.assert_allclose(gravity({"g": 19.62}, "--parameters", "symbolic"), 2 * plain)
    # The inertia does not enter gravity; its value is welcome all the same.
    np.testing.assert_allclose(gravity({"rocker_mass": 0.8, "a": 0.2, "d": 0.7}), plain)


def test_parameter_without_a_value(
    call: Callable[..., Any], refused: Callable[[Any], str], pendulum: Path
) -> None:
    state = {"q": [0.5], "qd": [0], "qdd": [0]}
    arguments = ("eval", pendulum, "--at", "-", "--outputs", "H,hG,tau")
    message = refused(call(*arguments, stdin=at(state)))
    assert "gravity needs length" in message
    full = at(state | {"tau": [0], "values": {"length": 0.3}})
    document = call("eval", pendulum, "--at", "-", "--json", stdin=full).document
    assert document["left_out"] == []
    assert document["outputs"]["mass_matrix"]["values"] == [[pytest.approx(0.2 + 2 * 0.09)]]


@pytest.mark.parametrize("name", ["m_22", "crank_mas", "*", "q1", ""])
def test_unknown_parameters(
    call: Callable[..., Any], refused: Callable[[Any], str], four_bar: Path, name: str
) -> None:
    state = at({"q": [1, 2, 3], "values": {name: 1}})
    message = refused(call("eval", four_bar, "--at", "-", stdin=state))
    assert "standard input: values: there is no parameter" in message


def test_parameter_that_is_a_number(
    call: Callable[..., Any], refused: Callable[[Any], str], four_bar: Path
) -> None:
    state = at({"q": [1, 2, 3], "values": {"a": 1}})
    message = refused(call("eval", four_bar, "--at", "-", "--parameters", "b", stdin=state))
    assert "values a" in message


def test_numbers_that_are_not_finite_become_null(call: Callable[..., Any], pendulum: Path) -> None:
    state = at({"q": [0.5], "values": {"length": 1e300}})
    arguments = ("eval", pendulum, "--at", "-", "--formulation", "closed_form")
    result = call(*arguments, "--json", stdin=state)
    assert result.code == 0
    assert result.document["outputs"]["mass_matrix"]["values"] == [[None]]
    assert "inf" in call(*arguments, stdin=state).out


def test_bad_state_files(
    call: Callable[..., Any], refused: Callable[[Any], str], arm: Path, tmp_path: Path
) -> None:
    path = tmp_path / "state.json"
    path.write_text('{"q": [1, 2]}', encoding="utf-8")
    assert f"{path}: q: " in refused(call("eval", arm, "--at", path))
    refused(call("eval", arm, "--at", tmp_path))
    refused(call("eval", arm, "--at", "-"))
