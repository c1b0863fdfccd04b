"""Derivatives as outputs: where they may stand, their names and shapes, and what is refused."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import chainform as cf
from chainform.graph import EXACT, builder_of, evaluate_variables, jacobian, verify
from chainform.readers import read_text
from strategies import POLYNOMIAL, Point, Program, examples, graph_of, points, programs
from zoo import random_tree

ROOT = Path(__file__).parents[3]


@cache
def arm() -> cf.Mechanism:
    return cf.read(ROOT / "examples" / "pick_arm.urdf")


@cache
def model() -> cf.Model:
    return cf.derive(arm(), ["H", "tau", "hG", "T"], parameters=["m_*"])


def state(**more: Any) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    q, qd, qdd = rng.uniform(-1, 1, (3, arm().nv))
    return {"q": q, "qd": qd, "qdd": qdd, **more}


# --- forward and reverse --------------------------------------------------------------------------


@given(programs(POLYNOMIAL), points)
@examples(40)
def test_both_ways_give_the_same_derivatives(program: Program, point: Point) -> None:
    graph = graph_of(program)
    values: dict[str, list[Any]] = {}
    for mode in ("forward", "reverse"):
        builder = builder_of(graph)
        inputs = {item.name: {v: builder.number(1)} for v, item in graph.inputs.items()}
        results = list(graph.outputs["out"].variables)
        rows = jacobian(builder, results, inputs, mode=mode)
        numbers = [builder.variable_of(value) for row in rows for value in row]
        extended = builder.finish()
        verify(extended)
        found = evaluate_variables(extended, point.values(), EXACT, numbers)
        values[mode] = [found[v] for v in numbers]
    assert values["forward"] == values["reverse"]


# --- everywhere an output may stand ---------------------------------------------------------------


def test_a_derivative_is_a_quantity_of_any_model() -> None:
    quantity = model()["d(hG)/d(q)"]
    assert quantity.shape == (4, 4)
    assert quantity[1, 2].name == "hG_2_by_q3"
    assert model()["d(H[1,1])/d(m_2)"].shape == ()
    assert model()["derivative(mass_matrix, parameters)"].shape[:2] == (4, 4)
    assert "d(tau)/d(qd)" in model()
    assert "d(tau)/d(nothing)" not in model()


def test_derivatives_in_time_and_of_energies() -> None:
    found = model().evaluate(
        **state(), outputs=["H", "d(T)/d(qd)", "derivative(T,qd,qd)", "d(T)/d(t)"]
    )
    H, momenta = found["H"], found["d(T)/d(qd)"]
    np.testing.assert_allclose(momenta, H @ state()["qd"], rtol=1e-12)
    np.testing.assert_allclose(found["derivative(T,qd,qd)"], H, rtol=1e-12)
    assert found["d(T)/d(t)"] == 0


def test_reduced_compiled_emitted_and_stored(tmp_path: Path) -> None:
    outputs = ["d(tau)/d(q)", "d(qdd)/d(tau)", "weights*d(tau)/d(q)"]
    derived = cf.derive(arm(), outputs)
    weights, tau = np.array([1.0, -2.0, 0.5, 3.0]), np.zeros(4)
    expected = derived.evaluate(**state(weights=weights, tau=tau))
    reduced = derived.reduce("fast")
    assert reduced.outputs == derived.outputs
    assert reduced.count().multiplications <= derived.count().multiplications
    program = reduced.compile()
    s = state()
    found = program["derivative(inverse_dynamics,q)"](s["q"], s["qd"], s["qdd"])
    np.testing.assert_allclose(found, expected["derivative(inverse_dynamics,q)"], atol=1e-12)
    product = program["product(weights,derivative(inverse_dynamics,q))"]
    found = product(s["q"], s["qd"], s["qdd"], weights)
    np.testing.assert_allclose(
        found, weights @ expected["derivative(inverse_dynamics,q)"], atol=1e-12
    )
    assert "tau_2_by_q3" in reduced.emit("text")
    with cf.open_store(tmp_path / "models.db") as store:
        store.save(reduced, "arm")
        loaded = store.load("arm")
        assert loaded.outputs == derived.outputs
        in_sql = store.evaluate("arm", **state(), outputs=["d(tau)/d(q)[2,:]"])
        whole = expected["derivative(inverse_dynamics,q)"]
        np.testing.assert_allclose(in_sql["d(tau)/d(q)[2,:]"], whole[1], atol=1e-12)
        again = loaded.evaluate(**state(), outputs=["derivative(tau,q,qd)"])
        fresh = derived.evaluate(**state(), outputs=["derivative(tau,q,qd)"])
        for text, value in again.items():
            np.testing.assert_allclose(value, fresh[text], atol=1e-12)


def test_entries_that_are_not_zero_come_in_order_of_rows() -> None:
    tree = random_tree(7009, quaternions=True)
    text = "derivative(tau,q)"
    derived = cf.derive(tree, [text, f"nonzeros({text})"])
    sparsity = derived.sparsity(text)
    mask = sparsity.dense()
    assert len(sparsity) == mask.sum() < mask.size
    inputs = derived.graph.inputs.values()
    rng = np.random.default_rng(3)
    qd, qdd = rng.uniform(-1, 1, (2, tree.nv))
    found = derived.evaluate(q=tree.neutral(), qd=qd, qdd=qdd)
    whole = found["derivative(inverse_dynamics,q)"]
    np.testing.assert_array_equal(found[f"nonzeros({derived.outputs[0]})"], whole[mask])
    assert not whole[~mask].any()
    assert sparsity.indptr[-1] == len(sparsity.indices)
    assert any(item.group == "q" for item in inputs)


def test_entries_may_be_derived_alone() -> None:
    derived = cf.derive(arm(), ["d(H[1,1])/d(q2)", "derivative(tau,q)[1,:]"])
    assert derived.outputs == (
        "derivative(mass_matrix[1,1],q2)",
        "derivative(inverse_dynamics,q)[1,:]",
    )
    whole = model().evaluate(**state(), outputs=["derivative(H,q2)", "derivative(tau,q)"])
    found = derived.evaluate(**state())
    np.testing.assert_allclose(found[derived.outputs[0]], whole["derivative(H,q2)"][0, 0])
    np.testing.assert_allclose(found[derived.outputs[1]], whole["derivative(tau,q)"][0], atol=1e-14)


def test_a_joint_is_named_by_its_own_name() -> None:
    named, numbered = (model()[f"d(hG[2])/d({name})"] for name in ("elbow", "q3"))
    assert str(named) == str(numbered)


# --- jumps and corners ----------------------------------------------------------------------------


def test_how_a_jump_was_taken_is_told() -> None:
    mechanism = cf.derive(arm(), ["tau"]).mechanism.with_forces(
        {"elbow": "abs(elbow) - sign(der(elbow))"}
    )
    derived = cf.derive(mechanism, ["d(tau)/d(qd)", "d(tau)/d(q)", "H"])
    assert any("sign(qd3) jumps at 0" in note for note in derived.notes)
    assert any("abs(q3) has a corner at 0" in note for note in derived.notes)
    assert all(note in str(derived) for note in derived.notes)
    assert model().notes == ()
    rough = arm().with_forces({name: f"-sign(der({name}))" for name in ("shoulder", "elbow")})
    (note,) = cf.derive(rough, ["d(tau)/d(qd)"]).notes
    assert note.endswith("sign(qd2), sign(qd3) jump at 0 and are taken as constants")


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("d(tau)/d(elbw)", "did you mean 'elbow'"),
        ("d(tau)/d(wrench)", "name frames in wrenches"),
        ("derivative(tau)", "by what"),
        ("d(tua)/d(q)", "did you mean 'tau'"),
        ("d(tau)", "write d(tau)/d(q)"),
        ("d(H[1,1])/d(m_2)", 'parameters=["m_2"]'),
        ("d(tau)/d(parameters)", "has to be free"),
        ("d(tau)/d(q)*v", "weights and direction"),
        ("d(T[1])/d(q)", "kinetic_energy is one number"),
        ("weights*d(H)/d(q)", "take a row: mass_matrix[1,:]"),
        ("weights*d(C)/d(q)", "take a row: coriolis[1,1,:]"),
        ("weights*d(T)/d(q)", "take the derivative itself"),
        ("d(tau)/d(q1)*direction", "no columns"),
        ("product(tau,direction)", "not a product"),
        ("product(direction,derivative(tau,q))", "not a product"),
        ("nonzeros(H,tau)", "2 outputs"),
        ("derivative(tau,q)[9,1]", "no such entry"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(cf.Error) as problem:
        cf.derive(arm(), [text])
    assert message in f"{problem.value}"


@pytest.mark.parametrize("word", ["x", "u", "force", "time"])
def test_a_parameter_may_be_called_like_a_group_of_inputs(word: str) -> None:
    model = cf.read_expressions({"Y": f"{word}^3*a"})
    found = model.evaluate(values={word: 2.0, "a": 5.0}, outputs=[f"d(Y)/d({word})"])
    assert found[f"d(Y)/d({word})"] == 60


def test_a_word_for_a_parameter_and_a_group_is_refused() -> None:
    model = cf.read_expressions({"Y": "time*t + parameters"})
    for word in ("time", "parameters"):
        with pytest.raises(cf.Error, match="another name"):
            model.evaluate(
                values={"time": 1.0, "parameters": 1.0}, t=1.0, outputs=[f"d(Y)/d({word})"]
            )


def test_part_of_a_quaternion_does_not_change_alone() -> None:
    builder = cf.Mechanism.builder("top")
    builder.segment("body", joint="spherical", mass=1, inertia=[1, 2, 3])
    for word in ("q2", "body"):
        with pytest.raises(cf.Error, match=r"cannot change alone(.|\n)*derivative by q"):
            cf.derive(builder.build(), [f"d(T)/d({word})"])


def test_an_array_that_is_too_large_names_the_product() -> None:
    builder = cf.Mechanism.builder("chain")
    for k in range(60):
        builder.segment(
            f"s{k}", parent=f"s{k - 1}" if k else "ground", joint="revolute", axis=[0, 0, 1], mass=1
        )
    with pytest.raises(cf.Error, match=r"216,000 entries(.|\n)*product\(weights"):
        cf.derive(builder.build(), ["derivative(tau,q,q)"])
    with pytest.raises(cf.Error, match=r"216,000 entries(.|\n)*direction\)$"):
        cf.derive(builder.build(), ["d(H)/d(q)"])


def test_a_parameter_may_be_called_as_a_group_that_there_is_not() -> None:
    model = cf.read_expressions({"Y": "x^2*u", "Z": "force*x"})
    assert f"{model['d(Y)/d(x)'].expand()}" == "2*u*x"
    assert f"{model['derivative(Y,x,u)'].expand()}" == "2*x"
    assert f"{model['d(Z)/d(force)'].expand()}" == "x"


@pytest.mark.parametrize("text", ["d(qdd)/d(q)", "d(bias)/d(q)"])
def test_what_a_model_lacks_is_not_taken_for_another(text: str) -> None:
    with pytest.raises(cf.Error) as problem:
        model()[text]
    assert "are to be derived" in f"{problem.value.remedy}"
    assert "did you mean" not in f"{problem.value.remedy}"


def test_products_of_a_vector_without_entries() -> None:
    nothing = "nonzeros(d(T)/d(qdd))"
    outputs = [f"weights*d({nothing})/d(q)", f"d({nothing})/d(q)*direction"]
    found = cf.derive(arm(), outputs).evaluate(**state(direction=np.ones(4))).values()
    assert [value.tolist() for value in found] == [[0.0] * 4, []]


def slider(name: str, **base: Any) -> cf.Mechanism:
    """Return a mass on a slide with the name of a group of inputs, and a spring on it."""
    table = {
        "parameters": {"weights1": 3},
        "base": base,
        "segments": [
            {
                "name": "cart",
                "joint": {"name": name, "type": "prismatic", "axis": "x"},
                "mass": "weights1",
            }
        ],
        "springs": [{"joint": name, "stiffness": 5}],
    }
    return read_text(json.dumps(table), "json")


def test_joints_with_the_name_of_a_group() -> None:
    for name in ("x", "u", "force", "t", "time"):
        for text in (f"d(tau)/d({name})", f"derivative(tau,{name})"):
            model = cf.derive(slider(name), [text])
            assert next(iter(model.evaluate(q=[0.3]).values())).tolist() == [5]
    assert cf.derive(slider("q"), ["d(tau)/d(q)"])["d(tau)/d(q)"].shape == (1, 1)


def test_names_that_may_mean_two_inputs() -> None:
    moving = slider("t", position=["sin(t)", 0, 0])
    for mechanism, text, words in (
        (moving, "d(tau)/d(t)", "may mean the joint t or the time"),
        (slider("qd1"), "d(tau)/d(qd1)", "may mean q1 or qd1"),
    ):
        with pytest.raises(cf.Error, match=words) as caught:
            cf.derive(mechanism, [text])
        assert "rename the joint" in str(caught.value.remedy)
    with pytest.raises(cf.Error, match="weights1 is declared twice") as caught:
        cf.derive(slider("s"), ["weights*d(tau)/d(q)"], parameters=["weights1"])
    assert "another name" in str(caught.value.remedy)
