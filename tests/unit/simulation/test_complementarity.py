"""Forces within bounds: the conditions hold, whatever the rows are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainform.simulation.solvers.contact.balance_rows import ContactSolution
from chainform.simulation.solvers.contact.complementarity import Balancing, depends
from chainform.simulation.solvers.contact.force_rows import (
    JOINT,
    LASTING,
    PLANE,
    PUSH,
    ForceRow,
    RowForces,
    relaxed,
    solve,
)

SORTS = {"l": ForceRow(LASTING), "u": ForceRow(PUSH), "f": ForceRow(JOINT, 1.0)}


def solved(S: np.ndarray, b: np.ndarray, rows: list[ForceRow]) -> RowForces:
    found = Balancing(S, b, rows).found()
    assert found is not None
    return found


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 5), st.text("luf", min_size=1, max_size=7), st.integers(0, 10_000))
def test_conditions(n: int, kinds: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    J = random.integers(-2, 3, (len(kinds), n)).astype(float)
    # b = J a with some a: what rows that depend on each other ask for agrees.
    S, b = J @ J.T, J @ random.normal(size=n)
    found = solved(S, b, [SORTS[kind] for kind in kinds])
    s, w = found.s, S @ found.s + b
    for kind, force, pace in zip(kinds, s, w, strict=True):
        if kind == "l":
            assert pace == pytest.approx(0, abs=1e-8)
        elif kind == "u":
            assert force >= 0
            assert pace > -1e-8
            assert force * pace == pytest.approx(0, abs=1e-8)
        else:
            assert abs(force) <= 1 + 1e-9
            assert pace == pytest.approx(0, abs=1e-8) or force == pytest.approx(-np.sign(pace))
    np.testing.assert_allclose(w[found.holds], 0, atol=1e-8)


def test_a_table_on_four_legs_stands_on_three() -> None:
    corners = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)], dtype=float)
    J = np.column_stack([np.ones(4), corners])
    weight = np.array([-1.0, -0.2, -0.3])
    found = solved(J @ J.T, J @ weight, [ForceRow(PUSH)] * 4)
    assert found.holds.sum() == 3
    np.testing.assert_allclose(J.T @ found.s, -weight, atol=1e-12)
    (left,) = np.flatnonzero(~found.holds)
    assert depends(J @ J.T, found.holds, int(left))


def test_a_row_of_its_own_does_not_depend() -> None:
    assert not depends(np.eye(2), np.array([True, False]), 1)
    assert depends(np.zeros((2, 2)), np.array([False, False]), 1)


def test_friction_holds_up_to_its_bound() -> None:
    for push, force, left in ((0.5, -0.5, 0.0), (3.0, -1.0, 2.0), (-3.0, 1.0, -2.0)):
        found = solved(np.eye(1), np.array([push]), [ForceRow(JOINT, 1.0)])
        assert found.s == pytest.approx([force])
        assert found.w == pytest.approx([left])


@pytest.mark.parametrize(("pull", "force"), [(0.3, -0.3), (2.0, -0.5), (-2.0, 0.5)])
def test_friction_in_a_plane_holds_in_proportion_to_the_push(pull: float, force: float) -> None:
    rows = [ForceRow(PUSH), ForceRow(PLANE, 0.5, 0)]
    found = solved(np.eye(2), np.array([-1.0, pull]), rows)
    assert found.s == pytest.approx([1.0, force])
    lifted = solved(np.eye(2), np.array([1.0, pull]), rows)
    assert lifted.s == pytest.approx([0.0, 0.0])


@settings(max_examples=80, deadline=None)
@given(
    st.integers(1, 6),
    st.tuples(st.integers(0, 2), st.integers(1, 4), st.integers(0, 2)),
    st.sampled_from([0.1, 0.3]),
    st.integers(0, 10_000),
)
def test_cones(n: int, counts: tuple[int, int, int], mu: float, seed: int) -> None:
    """Contacts in any direction, loops and dry joints: what is found fits."""
    random, (loops, contacts, joints) = np.random.default_rng(seed), counts
    gaps = range(loops, loops + contacts)
    rows = [ForceRow(LASTING)] * loops + [ForceRow(PUSH)] * contacts
    rows += [ForceRow(PLANE, mu, gap) for gap in gaps for _ in range(2)] + [
        ForceRow(JOINT, 1.0)
    ] * joints
    J = random.integers(-2, 3, (len(rows), n)).astype(float)
    S, b = J @ J.T, J @ random.normal(size=n)
    tries = (Balancing(S, b, rows, start).found() for start in (False, True))
    found = next((forces for forces in tries if forces is not None), None)
    if found is None:
        return
    s, w = found.s, S @ found.s + b
    least = 1e-8 * (1 + np.abs(S) @ np.abs(s))
    np.testing.assert_array_less(np.abs(w[:loops]), least[:loops] + 1e-12)
    for i, gap in enumerate(gaps):
        plane = [loops + contacts + 2 * i, loops + contacts + 2 * i + 1]
        assert s[gap] >= 0
        assert w[gap] > -least[gap]
        assert s[gap] * w[gap] < 1e-6
        assert np.hypot(*s[plane]) <= mu * s[gap] * (1 + 1e-9) + 1e-9
        speed = float(np.hypot(*w[plane]))
        if speed > 10 * least[plane].max():
            np.testing.assert_allclose(s[plane], -mu * s[gap] * w[plane] / speed, atol=1e-5)


def fits(S: np.ndarray, b: np.ndarray, rows: list[ForceRow], found: RowForces) -> bool:
    """Tell whether forces and motions satisfy all conditions."""
    s, w = found.s, S @ found.s + b
    least = 1e-7 * (1 + np.abs(S) @ np.abs(s))
    good = True
    for place, row in enumerate(rows):
        if row.sort == PUSH:
            plane = [i for i, other in enumerate(rows) if other.gap == place]
            size, speed = (float(np.hypot.reduce(x[plane])) for x in (s, w))
            bound = rows[plane[0]].bound * s[place]
            good &= s[place] >= 0 and w[place] > -least[place]
            good &= s[place] * w[place] < 1e-6 and size <= bound * (1 + 1e-8) + 1e-9
            if speed > 10 * least[plane].max():
                good &= bool(np.allclose(s[plane], -bound * w[plane] / speed, atol=1e-5))
    return bool(good)


@pytest.mark.parametrize("mu", [0.1, 0.8, 1.5])
def test_contacts_at_rest_always_have_forces(mu: float) -> None:
    """The directions of sliding are free: then a solution exists, and is found without circles.

    Number 144 leads successive projections in circles unless they are short.
    """
    for seed in (144, *range(25)):
        random = np.random.default_rng(seed)
        n, contacts = int(random.integers(3, 9)), int(random.integers(1, 5))
        rows = [ForceRow(PUSH)] * contacts
        rows += [ForceRow(PLANE, mu, gap) for gap in range(contacts) for _ in range(2)]
        J = random.integers(-2, 3, (len(rows), n)).astype(float)
        S, b = J @ J.T, J @ random.normal(size=n)
        tries = (Balancing(S, b, rows, start).found() for start in (False, True))
        found = next((forces for forces in tries if forces is not None), None)
        assert found is not None, seed
        assert fits(S, b, rows, found), seed


def test_a_body_at_rest_beside_one_that_is_struck() -> None:
    """Rounding of the one is not taken for motion of the other."""
    random = np.random.default_rng(4)
    J = random.normal(size=(3, 6))
    block = J @ J.T
    S = np.block([[block, np.zeros((3, 3))], [np.zeros((3, 3)), block]])
    rows = [ForceRow(PUSH), ForceRow(PLANE, 0.8, 0), ForceRow(PLANE, 0.8, 0)]
    rows += [ForceRow(PUSH), ForceRow(PLANE, 0.8, 3), ForceRow(PLANE, 0.8, 3)]
    for rest in random.normal(size=(10, 3)):
        found = solved(S, np.array([-0.4, 0.02, 0.2, *(1e-34 * rest)]), rows)
        assert found.s[0] > 0
        np.testing.assert_allclose(found.s[3:], 0, atol=1e-15)


def test_projections_lead_to_the_solution() -> None:
    """Without planes they lower an energy, whatever they begin with."""
    random = np.random.default_rng(2)
    J = random.normal(size=(5, 7))
    S, b = J @ J.T, random.normal(size=5)
    rows = [ForceRow(PUSH)] * 3 + [ForceRow(JOINT, 0.1)] * 2
    energies = []
    for sweeps in (0, 1, 2, 5, 300):
        s = relaxed(S, b, rows, np.zeros(5), sweeps, 1.0)
        energies.append(float(s @ S @ s / 2 + b @ s))
    assert energies == sorted(energies, reverse=True)
    np.testing.assert_allclose(s, solved(S, b, rows).s, atol=1e-8)


@pytest.mark.parametrize("pull", [0.3, 0.7, 2.0])
@pytest.mark.parametrize("angle", [0.0, 0.6, 2.5, 4.0])
def test_a_cone_holds_alike_in_all_directions(angle: float, pull: float) -> None:
    way = np.array([np.cos(angle), np.sin(angle)])
    rows = [ForceRow(PUSH), ForceRow(PLANE, 0.5, 0), ForceRow(PLANE, 0.5, 0)]
    found = solved(np.eye(3), np.array([-1.0, *(pull * way)]), rows)
    assert found.s == pytest.approx([1.0, *(-min(pull, 0.5) * way)])


def test_sliding_turns_to_where_the_body_gives_way() -> None:
    """A body that is moved more easily along x: friction is against the motion, not the pull."""
    S, b = np.diag([1.0, 4.0, 1.0]), np.array([-1.0, 2.0, 2.0])
    found = solved(S, b, [ForceRow(PUSH), ForceRow(PLANE, 0.5, 0), ForceRow(PLANE, 0.5, 0)])
    assert np.hypot(*found.s[1:]) == pytest.approx(0.5)
    assert found.s[1] * found.w[2] == pytest.approx(found.s[2] * found.w[1])
    assert found.s[1] * found.w[1] < 0


@pytest.mark.parametrize("pace", [-105.8, 3.0])
def test_friction_is_against_a_motion_that_loops_dictate(pace: float) -> None:
    """A slide in a dead centre: it follows from the loop, whatever force acts on it."""
    S, b = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-40.0, pace + 40.0])
    found = solved(S, b, [ForceRow(LASTING), ForceRow(JOINT, 0.01)])
    assert found.s[1] == pytest.approx(-0.01 * np.sign(pace))
    assert found.w == pytest.approx([0, pace])
    assert not found.holds[1]


def test_of_two_that_cannot_both_hold_one_gives_way() -> None:
    """Two dry joints that move alike, but for what a third motion does to one of them."""
    S, b = np.ones((2, 2)), np.array([1.0, 3.0])
    found = solved(S, b, [ForceRow(JOINT, 5.0), ForceRow(JOINT, 0.5)])
    assert found.s == pytest.approx([-0.5, -0.5])
    assert found.w == pytest.approx([0, 2])


def test_pushes_against_each_other_have_no_solution() -> None:
    S, b = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([-1.0, -1.0])
    assert Balancing(S, b, [ForceRow(PUSH), ForceRow(PUSH)]).found() is None


def test_a_leaning_rod_on_rough_ground_has_no_solution() -> None:
    """Friction against the way lifts the tip off and presses it down at once: the rod is jammed."""
    S, b = np.array([[1.0, -2.0], [-2.0, 8.0]]), np.array([-1.0, 0.0])
    sliding = [ForceRow(PUSH), ForceRow(PLANE, 1.0, 0, way=-1.0)]
    assert Balancing(S, b, sliding).found() is None
    held = [ForceRow(PUSH), ForceRow(PLANE, 1.0, 0)]
    assert solved(S, b, held).holds.all()


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rows_that_agree_have_a_solution_whatever_the_signs(sign: float) -> None:
    right = sign * np.array([1.0, 1.0 + 1e-13])
    found = solve(np.ones((2, 2)), right, np.ones(2))
    assert found.endless is None
    np.testing.assert_allclose(found.x, 0.5 * right, rtol=1e-12)


@pytest.mark.parametrize("loose", [False, True])
def test_what_slides_in_any_case_does_not_hold_at_first(loose: bool) -> None:
    """Also where everything is to hold that can."""
    sliding = ForceRow(PLANE, 0.5, 0, way=1.0, is_loose=loose)
    still = ForceRow(PLANE, 0.5, 1)
    rows = [ForceRow(PUSH), ForceRow(PUSH), sliding, still]
    balancing = Balancing(np.eye(4), -np.ones(4), rows, is_held=True)
    assert balancing.holds.tolist() == [True, True, False, True]
    assert balancing.sides.tolist() == [0.0, 0.0, -1.0, 0.0]


def test_what_is_taken_keeps_what_follows_from_it() -> None:
    """Of two equal rows that rest without a force one may hold, and a third row as well."""
    S = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    none = np.zeros(3)
    found = RowForces(none, none, np.zeros(3, dtype=np.bool_), none, none)
    solution = ContactSolution([4, 5, 7], S, found, none, none, set())
    assert solution.take([4])
    assert not solution.take([5])
    assert solution.take([7])
    assert solution.taken == [4, 7]
