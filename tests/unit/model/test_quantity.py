"""Quantities compute: numbers, programs, arithmetic as that of numpy."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import chainform as cf
from chainform.errors import RunError

pytestmark = pytest.mark.usefixtures("short_walks")

Q, QD = np.array([0.3, -0.4, 0.6]), np.array([0.2, 0.9, -0.5])


@cache
def model() -> cf.Model:
    return cf.derive(three(), ["H", "hG", "kinetic_energy"])


@cache
def three() -> cf.Mechanism:
    builder = cf.Mechanism.builder("three")
    for number, axis in enumerate("zyx", 1):
        builder.segment(
            f"s{number}",
            parent=f"s{number - 1}" if number > 1 else "ground",
            axis=axis,
            position=[0.1, 0.2, 0.3],
            mass=number,
            com=[0.1, 0, 0.2],
            inertia=[0.1, 0.2, 0.15],
        )
    return builder.build()


class Operands(NamedTuple):
    """The mass matrix, gravity and the kinetic energy, as quantities or as numbers."""

    H: Any
    g: Any
    T: Any


OPERATIONS: dict[str, Callable[[Operands], Any]] = {
    "sum": lambda x: x.H + x.H,
    "rows": lambda x: x.H + x.g,
    "difference": lambda x: 1 - x.H / 2 - 0.25,
    "scaled": lambda x: x.T * x.H * 3,
    "entrywise": lambda x: x.H * x.H,
    "quotient": lambda x: x.g / x.T,
    "reciprocal": lambda x: 2 / x.T,
    "product": lambda x: x.H @ x.g,
    "products": lambda x: x.g @ x.H @ x.H.T @ x.g,
    "left": lambda x: np.arange(1.0, 7).reshape(2, 3) @ x.H,
    "right": lambda x: x.H @ [1, 2, 3],
    "negative": lambda x: -x.g + +x.g - x.g,
    "squares": lambda x: x.H**2 - x.T**3,
    "inverse": lambda x: x.T**-2,
    "root": lambda x: x.T**0.5,
    "power": lambda x: 2**x.T,
    "transposed": lambda x: (x.H * x.g).T,
    "slices": lambda x: x.H[1:, 0] - x.g[:2],
    "subtracted from": lambda x: np.ones(3) - x.g,
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_arithmetic_is_that_of_numpy(name: str) -> None:
    quantities = [model()[text] for text in ("H", "hG", "T")]
    arrays = [quantity.evaluate(Q, QD) for quantity in quantities]
    found = OPERATIONS[name](Operands(*quantities))
    expected = OPERATIONS[name](Operands(*arrays))
    assert found.shape == np.shape(expected)
    assert found.evaluate(Q, QD) == pytest.approx(expected, rel=1e-12)


def test_derivatives_by_a_group_have_one_more_index() -> None:
    H, qd = model()["H"], model()["qd"]
    energy = qd @ H @ qd / 2
    slope = energy.diff("q")
    assert slope.shape == (3,)
    each = [energy.diff(f"q{k + 1}").evaluate(Q, QD) for k in range(3)]
    np.testing.assert_allclose(slope.evaluate(Q, QD), each, rtol=1e-12, atol=1e-15)
    assert H.diff("q").shape == (3, 3, 3)
    np.testing.assert_allclose(energy.diff("qd").diff("qd").evaluate(Q, QD), H.evaluate(Q, QD))
    # It computes on, with quantities of the same model.
    rate = (H.diff("q") @ qd).evaluate(Q, QD)
    np.testing.assert_allclose(rate, model()["d(H)/d(q)"].evaluate(Q, QD) @ QD, atol=1e-15)
    kept = model().with_outputs({"slope": slope})
    np.testing.assert_allclose(kept.evaluate(Q, QD, outputs=["slope"])["slope"], each, atol=1e-15)
    with pytest.raises(cf.Error, match="wrench"):
        H.diff("wrench")


def test_numbers_and_programs() -> None:
    H = model()["H"]
    expected = model().evaluate(Q, outputs=["mass_matrix"])["mass_matrix"]
    assert np.array_equal(H.evaluate(Q), expected)
    assert H.compile()(Q) == pytest.approx(expected, rel=1e-12)
    assert H[0].compile()(np.stack([Q, Q]))[1] == pytest.approx(expected[0], rel=1e-12)
    text: dict[str, Any] = {}
    exec(H[0, 0].emit("python"), text)  # noqa: S102, our own program
    assert text["model"](Q)["H_1_1"] == pytest.approx(expected[0, 0], rel=1e-12)
    assert (H @ H).count().multiplications > H.count().multiplications
    assert H.diff("q2").evaluate(q=Q).shape == (3, 3)


def test_vectors_of_inputs() -> None:
    momentum = model()["H"] @ model()["qd"]
    assert momentum.evaluate(Q, QD) == pytest.approx(model()["H"].evaluate(Q) @ QD, rel=1e-12)
    energy = model()["qd"] @ momentum / 2 - model()["T"]
    assert abs(energy.evaluate(Q, QD)) < 1e-12
    assert len(energy.expand()) == 0


def test_results_are_outputs() -> None:
    p = model()["H"] @ model()["qd"]
    more = model().with_outputs({"p": p, "twice": "2*p[1] + p_2", "rows": [p, 2 * p]})
    numbers = more.reduce("fast").evaluate(Q, QD)
    expected = p.evaluate(Q, QD)
    assert numbers["p"] == pytest.approx(expected, rel=1e-12)
    assert numbers["twice"] == pytest.approx(2 * expected[0] + expected[1], rel=1e-12)
    assert numbers["rows"] == pytest.approx(np.stack([expected, 2 * expected]), rel=1e-12)
    assert more["p"].labels.tolist() == ["p_1", "p_2", "p_3"]


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda m: m["hG"] @ m["qd"], "gravity @ qd"),
        (lambda m: -m["hG"] / 2 + m["qd"], "((-gravity) / 2) + qd"),
        (lambda m: 3 - m["hG"][1] ** 2, "3 - (hG_2 ** 2)"),
        (lambda m: m["H"][0, 1:], "[H_1_2, H_1_3]"),
        (
            lambda m: m["H"].T,
            "[[H_1_1, H_2_1, H_3_1], [H_1_2, H_2_2, H_3_2], [H_1_3, H_2_3, H_3_3]]",
        ),
        (lambda m: m["H"], "mass_matrix"),
        (lambda m: (m["H"] @ m["qd"])[1:], "(mass_matrix @ qd)[2:]"),
        (lambda m: [m["H"][0, 0], "2*qd1"], "[H_1_1, 2*qd1]"),
        (lambda m: m["H"][0].diff("q2"), "d([H_1_1, H_1_2, H_1_3])/d(q2)"),
        (lambda m: (m["H"] * [[1, 2, 3]]).T[0], None),
    ],
)
def test_outputs_tell_how_they_were_computed(
    made: Callable[[cf.Model], Any], text: str | None, tmp_path: Path
) -> None:
    own = model().with_outputs({"own": made(model())})
    assert text is None or own.defined["own"] == text
    assert "result" not in own.defined["own"]
    with cf.open_store(tmp_path / "models.db") as store:
        store.save(own, "own")
        assert store.load("own").defined == own.defined
    wanted, found = (m.evaluate(Q, QD)["own"] for m in (own, own.reduce("fast")))
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_a_quantity_of_another_model_keeps_its_values() -> None:
    """The text of the output means another formula in this model; it is not derived from it."""
    damped = three().with_forces({"s2": "-3*der(s2)"})
    own, other = (cf.derive(damped, ["tau"], without=parts) for parts in ([], ["forces"]))
    more = own.with_outputs({"share": own["tau"] - other["tau"]})
    found = more.reduce("fast").evaluate(Q, QD, np.ones(3))["share"]
    assert found == pytest.approx([0, 3 * QD[1], 0], abs=1e-12)


def test_two_models_of_one_mechanism() -> None:
    other = cf.derive(three(), ["H"], formulation="lagrange")
    difference = model()["H"] - other["H"].diff("q1") * 0 - other["H"]
    assert np.abs(difference.evaluate(Q)).max() < 1e-12


def test_quantities_of_different_models_are_refused() -> None:
    other = cf.derive(three().with_payload("s3", 2), ["H"])["H"]
    for operation in (lambda: model()["H"] + other, lambda: model().with_outputs({"p": other})):
        with pytest.raises(RunError, match="another model") as caught:
            operation()
        assert "three" in str(caught.value.remedy)


@pytest.mark.parametrize("other", ["x", None, object(), [1, 2], [[1, "a"]], 1j, float("nan")])
def test_what_does_not_fit(other: Any) -> None:
    for operation in (operator.add, operator.matmul):
        with pytest.raises(RunError):
            operation(model()["H"], other)


def test_a_product_of_matrices_needs_arrays() -> None:
    with pytest.raises(RunError, match="do not fit"):
        operator.matmul(model()["H"], 2)
