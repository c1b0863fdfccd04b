"""Options of `derive` and `compare`: whatever is given, what is wrong is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.analysis import compare
from chainform.analysis.comparison import exact_state
from chainform.errors import Error
from chainform.graph import Input

STRANGE: list[Any] = [5, 1.5, b"x", [1], {1: 2}, object(), np.zeros(3), [None], lambda: 1]


def arm() -> cf.Mechanism:
    builder = cf.Mechanism.builder("arm")
    return builder.segment("a", axis="z", mass=1, com=[1, 0, 0]).build()


@pytest.mark.parametrize("value", STRANGE)
@pytest.mark.parametrize(
    "option",
    [
        *("outputs", "formulation", "parameters", "closure", "wrenches", "without", "forces"),
        "reduce",
    ],
)
def test_options_of_derive(option: str, value: Any) -> None:
    given: dict[str, Any] = {"outputs": ["gravity"], option: value}
    with pytest.raises(Error) as caught:
        cf.derive(arm(), **given)
    assert caught.value.element
    assert str(caught.value)


@pytest.mark.parametrize("value", STRANGE)
def test_efforts(value: Any) -> None:
    with pytest.raises(Error) as caught:
        cf.derive(arm(), ["gravity"]).reduce(value)
    assert caught.value.element == "reduce"


def test_outputs_by_letters() -> None:
    model = cf.derive(arm(), ["tau", "H", "J(a)", "gravity", "T", "T(a)", "hG"])
    names = ["inverse_dynamics", "mass_matrix", "jacobian(a)", "gravity", "kinetic_energy"]
    assert list(model.outputs) == [*names, "pose(a)"]
    assert cf.derive(arm(), "H").outputs == ("mass_matrix",)
    with pytest.raises(Error, match="there is no output"):
        cf.derive(arm(), ["G"])


def test_outputs_come_in_the_order_in_which_they_are_given() -> None:
    for outputs in (["gravity", "mass_matrix", "com"], ["com", "mass_matrix", "bias", "gravity"]):
        assert list(cf.derive(arm(), outputs).outputs) == outputs


@pytest.mark.parametrize("value", STRANGE)
@pytest.mark.parametrize("option", ["outputs", "formulations", "without"])
def test_options_of_compare(option: str, value: Any) -> None:
    given: dict[str, Any] = {"outputs": ["gravity"], option: value}
    with pytest.raises(Error) as caught:
        compare(arm(), **given)
    assert caught.value.element


@pytest.mark.parametrize(
    ("options", "element"),
    [
        ({"outputs": []}, "outputs"),
        ({"formulations": []}, "formulations"),
        ({"formulations": "articulated_body", "outputs": "gravity"}, "formulations"),
        ({"seed": "x"}, "seed"),
        ({"seed": True}, "seed"),
    ],
)
def test_nothing_to_compare_is_no_agreement(options: dict[str, Any], element: str) -> None:
    with pytest.raises(Error) as caught:
        compare(arm(), **options)
    assert caught.value.element == element
    assert caught.value.remedy


def test_no_forces_leave_the_mechanism_as_it_is() -> None:
    mechanism = arm()
    assert cf.derive(mechanism, ["gravity"], forces={}).mechanism is mechanism


def test_formulations_are_compared_where_they_are_finite() -> None:
    """At the first state a force has no value; no finite field knows quaternions of length 1."""
    builder = cf.Mechanism.builder("body")
    builder.segment("body", joint="spherical", mass=1, com=[1, 0, 0], inertia=[1, 2, 3])
    time = exact_state(builder.build(), [Input("t", "t", 0)], seed=0)["t"]
    body = builder.force("body_wx", f"1/(t - {time})").build()
    for seed in (0, 1):
        found = compare(body, ["inverse_dynamics"], seed=seed)
        assert found.agree
        assert ("doubles" in {row.how for row in found.rows}) == (seed == 0)
