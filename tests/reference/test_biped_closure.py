"""The closed row of the biped: B, the complete Jacobian and the reactions in inverse dynamics."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.mechanism import GROUND, Attachment, Loop
from chainform.mechanism.pose import float_vector, poses_of
from zoo import reference, reference_data

OUTPUTS = ["closure", "closure_jacobian", "inverse_dynamics"]


def biped(basic: tuple[int, ...] | None = None) -> cf.Mechanism:
    """Return the biped with its second foot held to the ground by a frame."""
    x, y, z = reference_data("rackovic_4_1")["closure"]["closing_point_in_body_8_frame"]
    point = (Fraction(str(x)), Fraction(str(y)), Fraction(str(z)))
    loop = Loop("foot", "frame", Attachment(7, point), Attachment(GROUND), basic)
    return replace(reference("rackovic_4_1"), loops=(loop,))


@cache
def model(basic: tuple[int, ...] | None, closure: str) -> cf.Model:
    return cf.derive(biped(basic), OUTPUTS, closure=closure)


def assert_close(got: Any, expected: Any) -> None:
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("basic", [None, (0, 1, 2)])
@pytest.mark.parametrize("row", range(4))
def test_closure_matrix_and_forces(row: int, basic: tuple[int, ...] | None) -> None:
    state = reference_data("rackovic_4_1")["evaluations"][row]
    given = {key: state[key] for key in ("q", "qd", "qdd", "sigma")}
    complete = model(basic, "complete").evaluate(**given)
    paper = model(basic, "basic").evaluate(**given)
    assert_close(complete["closure"], state["B"])
    assert_close(-complete["closure_jacobian"].T, state["B_all_chain_joints"])
    assert_close(paper["inverse_dynamics"], state["tau_with_closure"])
    assert_close(complete["inverse_dynamics"], state["tau_with_closure_all_joints"])


def test_printed_number_of_elements() -> None:
    """924 entries of H, C and hG differ from zero by structure, and 942 with B."""
    counts = reference_data("rackovic_4_1")["topology"]["distinct_nonzero_elements"]
    mechanism = biped()
    paths = {i: set(mechanism.path_to(i)) for i in range(mechanism.nv)}

    def one_path(*joints: int) -> bool:
        return any(set(joints) <= paths[tip] for tip in joints)

    n = range(mechanism.nv)
    h = sum(one_path(i, k) for i in n for k in n if i <= k)
    c = sum(one_path(i, k, l) for i in n for k in n for l in n if l <= k)
    assert len(n) + h + c == counts["H_C_hG"]
    b = cf.derive(mechanism, ["closure"])["closure"]
    basic_rows = sum(any(int(v) != b.graph.numbers["zero"] for v in row) for row in b.variables)
    assert counts["H_C_hG"] + 6 * basic_rows == counts["with_B"]


def test_a_loop_between_two_bodies_is_relative() -> None:
    """Column by column, the Jacobian is the rate of the gap between the two points."""
    mechanism = biped()
    ends = (Attachment(11, (Fraction(0), Fraction(1, 5), Fraction(-3, 10))), Attachment(13))
    held = replace(mechanism, loops=(Loop("hand in hand", "point", *ends),))
    q = np.random.default_rng(5).uniform(-1, 1, mechanism.nv)
    jacobian = cf.derive(held, ["closure_jacobian"]).evaluate(q=q)["closure_jacobian"]

    def gap(q: np.ndarray) -> np.ndarray:
        places = [point_position(mechanism, end, q) for end in ends]
        return places[0] - places[1]

    step = 1e-6
    for i, unit in enumerate(np.eye(mechanism.nv)):
        rate = (gap(q + step * unit) - gap(q - step * unit)) / (2 * step)
        np.testing.assert_allclose(jacobian[:, i], rate, atol=1e-8)


def point_position(mechanism: cf.Mechanism, end: Attachment, q: np.ndarray) -> np.ndarray:
    return poses_of(mechanism, q).point(end.segment, float_vector(end.point, {}))
