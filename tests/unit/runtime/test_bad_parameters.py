"""Values of parameters that cannot be, in calls and in bindings: what is said about them."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import RunError
from chainform.runtime import Program
from unit.runtime.programs import arm
from zoo import random_tree


@cache
def compiled() -> Program:
    return arm().compile()


@pytest.mark.parametrize("output", ["gravity", "inverse_dynamics"])
def test_unknown_names(output: str) -> None:
    arguments = [[0.0, 0.0]] * (1 if output == "gravity" else 3)
    with pytest.raises(RunError, match="no free parameter 'mass'") as e:
        compiled()[output](*arguments, values={"mass": 1})
    assert e.value.element == "mass"
    assert "m_1" in (e.value.remedy or "")


def test_unknown_names_where_nothing_is_free() -> None:
    numeric = cf.derive(random_tree(41), ["gravity"]).compile()
    for give in (lambda v: numeric.gravity([0, 0], values=v), numeric.bind):
        with pytest.raises(RunError, match="no free parameter 'm_1'") as e:
            give({"m_1": 2})
        assert e.value.remedy == "the model has no free parameters"


BAD: dict[str, Any] = {
    "m_1 is not an array of real numbers": {"m_1": "heavy"},
    "com_1_z is not an array of real numbers": {"com_1_z": None},
    "g is not an array of real numbers": {"g": 1j},
    "m_2 is not an array of real numbers": {"m_2": [[1], [1, 2]]},
    "do not fit together": {"m_1": np.ones(3), "m_2": np.ones(4)},
    "expected a table, got a list": [("m_1", 2)],
    "no free parameter '1'": {1: 2},
    r"no free parameter '\(1, 2\)'": {(1, 2): 2},
    "no free parameter 'None'": {None: 2},
    "m_1 is not an array of real numbers but of bool": {"m_1": True},
    "I_1_xx is not an array of real numbers but of bool": {"I_1_xx": np.True_},
    "I_1_yy is not an array of real numbers but of bool": {"I_1_yy": [Fraction(1), True]},
    "I_1_zz is not an array of real numbers but of object": {"I_1_zz": 10**400},
    "expected a table, got a number": 5,
}


@pytest.mark.parametrize("message", BAD)
def test_bad_values(message: str) -> None:
    for q in ([0.0, 0.0], np.zeros(2), np.zeros((3, 2))):
        with pytest.raises(RunError, match=message) as e:
            compiled().gravity(q, values=BAD[message])
        assert message.replace("\\", "") in str(e.value)


def test_values_that_do_not_fit_the_states() -> None:
    with pytest.raises(RunError, match=r'q \(4,\), values\["m_1"\] \(3,\)'):
        compiled().gravity(np.zeros((4, 2)), values={"m_1": np.ones(3)})


# --- binding --------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["x", None, [1, 2], 1j, True, [[1], [1, 2]], object()])
def test_bad_bindings(bad: Any) -> None:
    with pytest.raises(RunError, match="m_1") as e:
        compiled().bind({"m_1": bad})
    assert e.value.element == "m_1"


@pytest.mark.parametrize("bad", [["g"], None, "g", 5, {"g"}, [("g", 1)]])
def test_bindings_that_are_none(bad: Any) -> None:
    with pytest.raises(RunError, match="expected a table") as e:
        compiled().bind(bad)
    assert (e.value.element, e.value.remedy) == ("bind", 'write {"name": number}')


def test_names_that_are_none() -> None:
    with pytest.raises(RunError, match="no free parameter '1'") as e:
        compiled().bind({1: 2})  # type: ignore[dict-item]
    assert "there are m_1" in str(e.value)
