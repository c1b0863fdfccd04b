"""Damaged models with forces, drives, elements and constraints, from the file to the numbers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import chainform as cf
from chainform.errors import Error
from chainform.formulations import FORMULATIONS
from chainform.pipeline import available_outputs
from chainform.readers import native_text, read_text
from damaged import MODELS, damaged


def plain(mechanism: cf.Mechanism) -> cf.Mechanism:
    return replace(mechanism, notes=(), file=None, source=None)


def values(model: cf.Model) -> dict[str, Any]:
    """Return the outputs at a state of small numbers, whatever inputs there are."""
    mechanism, rng = model.mechanism, np.random.default_rng(3)
    lengths = {"q": mechanism.nq, "qd": mechanism.nv, "qdd": mechanism.nv, "tau": mechanism.nv}
    lengths |= {"x": len(mechanism.states), "u": len(mechanism.signals)}
    lengths |= {"force": len(mechanism.unknowns)}
    state: dict[str, Any] = {group: rng.uniform(0.1, 1, n) for group, n in lengths.items()}
    free = {name: 1.3 for name, value in model.free_parameters.items() if value is None}
    with np.errstate(all="ignore"):
        return model.evaluate(**state, t=0.7, values=free)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_the_models_are_whole(name: str) -> None:
    mechanism = read_text(json.dumps(MODELS[name]), "json")
    assert mechanism.nv == 3
    for output in available_outputs(mechanism):
        found = values(cf.derive(mechanism, [output], reduce="none"))
        assert np.isfinite(found[output]).all(), output


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_damaged_models(name: str, data: st.DataObject) -> None:
    """What is read can be told, written and derived; else the error says where and what to do."""
    try:
        use(read_text(json.dumps(damaged(data, name)), "json", "file.json"), data)
    except Error as error:
        problem = error
    else:
        return
    assert problem.element, problem
    assert problem.remedy, problem


def use(mechanism: cf.Mechanism, data: st.DataObject) -> None:
    """Describe a mechanism, write it, read it again, and derive the same from both."""
    mechanism.describe()
    again = read_text(native_text(mechanism), "json")
    assert plain(again) == plain(mechanism)
    formulation = data.draw(st.sampled_from(list(FORMULATIONS)))
    outputs = available_outputs(mechanism, formulation)
    if not outputs:
        return
    output = data.draw(st.sampled_from(outputs))
    parameters = data.draw(st.sampled_from(["numeric", "symbolic"]))
    first, second = (
        cf.derive(one, [output], formulation=formulation, parameters=parameters, reduce="none")
        for one in (mechanism, again)
    )
    np.testing.assert_array_equal(values(first)[output], values(second)[output])
