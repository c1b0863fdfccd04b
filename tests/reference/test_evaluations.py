"""Every number of the reference cases that a mechanism and a state give."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import chainform as cf
from zoo import REFERENCE, reference, reference_data

NAMES = {
    "H": "mass_matrix",
    "C": "coriolis",
    "hG": "gravity",
    "tau": "inverse_dynamics",
}


def model_of(name: str, parameters: str, formulation: str = "closed_form") -> cf.Model:
    data = reference_data(name)
    given = {key for state in data["evaluations"] for key in state}
    outputs = [NAMES[key] for key in NAMES if key in given]
    return cf.derive(reference(name), outputs, formulation=formulation, parameters=parameters)


@pytest.mark.parametrize("parameters", ["numeric", "symbolic"])
@pytest.mark.parametrize("name", REFERENCE)
def test_evaluations(name: str, parameters: str) -> None:
    data = reference_data(name)
    model = model_of(name, parameters)
    tolerance = data.get("tolerance", {"relative": 1e-9, "absolute": 1e-9})
    for state in data["evaluations"]:
        if state.get("d22_sign", 1) == -1:
            outputs = model.outputs
            model = cf.derive(stanford_arm(-1), outputs, parameters=parameters)
        got = model.evaluate(q=state["q"], qd=state["qd"], qdd=state["qdd"])
        for key in NAMES:
            if key in state:
                np.testing.assert_allclose(
                    got[NAMES[key]],
                    state[key],
                    rtol=tolerance["relative"],
                    atol=tolerance["absolute"] * max(1.0, np.abs(state[key]).max()),
                    err_msg=f"{name} {key}",
                )


def test_all_reference_states_as_one_batch() -> None:
    states = reference_data("rackovic_2_1")["evaluations"]
    model = model_of("rackovic_2_1", "numeric")
    columns = {key: [state[key] for state in states] for key in ("q", "qd", "qdd")}
    batch = model.evaluate(q=columns["q"], qd=columns["qd"], qdd=columns["qdd"])
    for row, state in enumerate(states):
        np.testing.assert_allclose(batch["coriolis"][row], state["C"], rtol=1e-9, atol=1e-10)


def test_table_2_2_as_printed_but_for_its_misprint() -> None:
    table = reference_data("rackovic_2_1")["printed_table_2_2"]
    got = model_of("rackovic_2_1", "numeric").evaluate(q=table["q"], qd=[0] * 6, qdd=[0] * 6)
    printed = np.array(table["C"])
    (misprint,) = table["misprints"]
    place = tuple(index - 1 for index in misprint["one_based_index"])
    assert abs(got["coriolis"][place] - misprint["correct"]) < 5e-7
    # The table prints the entry under its mirror image as well, in only one of the two places.
    mirrored = (place[0], place[2], place[1])
    for wrong in (place, mirrored):
        printed[wrong] = misprint["correct"]
    np.testing.assert_allclose(got["coriolis"], printed, rtol=0, atol=5e-7)
    np.testing.assert_allclose(got["mass_matrix"], table["H"], rtol=0, atol=5e-7)
    np.testing.assert_allclose(got["gravity"], table["hG"], rtol=0, atol=5e-7)


@pytest.mark.parametrize("sign", [1, -1])
def test_stanford_arm_forces_along_the_given_motions(sign: int) -> None:
    data = reference_data("stanford_arm")
    mechanism = stanford_arm(sign)
    model = cf.derive(mechanism, ["inverse_dynamics"])
    motions = [m for m in data["trajectories"] if m["d22_sign"] == sign]
    assert motions
    for motion in motions:
        got = model.evaluate(q=motion["q"], qd=motion["qd"], qdd=motion["qdd"])
        np.testing.assert_allclose(got["inverse_dynamics"], motion["tau"], rtol=1e-9, atol=1e-8)


def stanford_arm(sign: int) -> cf.Mechanism:
    """Return the arm of Andrieiev and Dziuba 2023, body L shifted as printed or the other way."""
    mechanism = reference("stanford_arm")
    if sign == 1:
        return mechanism
    segments = tuple(
        replace(s, position=(-Fraction(1, 2), s.position[1], s.position[2])) if s.name == "L" else s
        for s in mechanism.segments
    )
    return replace(mechanism, segments=segments)
