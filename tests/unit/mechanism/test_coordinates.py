"""Names and places in q and qd, for joints of every kind."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainform.errors import ReadError
from chainform.mechanism import JointKind, Mechanism, MechanismBuilder

FREE = ("x", "y", "z", "qx", "qy", "qz", "qw"), ("vx", "vy", "vz", "wx", "wy", "wz")
SPHERICAL = FREE[0][3:], FREE[1][3:]


def rover(**fields: object) -> MechanismBuilder:
    """Return an arm on a floating base, with a ball joint in the middle."""
    return (
        Mechanism.builder("rover")
        .segment("base", joint={"type": "free", **fields}, mass=5, inertia=[1, 1, 1])
        .segment("arm", parent="base", axis="y", mass=1)
        .segment("ball", parent="arm", joint={"type": "spherical", "name": "b"}, mass=1)
        .segment("tip", parent="ball", joint="prismatic", axis="z", mass=1)
    )


def test_quaternion_joints_are_single_segments() -> None:
    mechanism = rover().build()
    kinds = [segment.joint.kind for segment in mechanism.segments]
    assert kinds == [
        JointKind.FREE,
        JointKind.REVOLUTE,
        JointKind.SPHERICAL,
        JointKind.PRISMATIC,
    ]
    assert [segment.coordinate for segment in mechanism.segments] == [0, 7, 8, 12]
    assert [segment.rate for segment in mechanism.segments] == [0, 6, 7, 10]
    assert (mechanism.nq, mechanism.nv) == (13, 11)
    for names, base, ball in zip(
        (mechanism.coordinates, mechanism.rates), FREE, SPHERICAL, strict=True
    ):
        expected = [f"base_{s}" for s in base], [f"b_{s}" for s in ball]
        assert names == (*expected[0], "arm", *expected[1], "tip")
    assert [record.segment for record in mechanism.rate_records] == [0] * 6 + [1] + [2] * 3 + [3]
    assert mechanism.segments[2].joint.name == "b"
    assert mechanism.notes == ()


def test_euler_still_makes_chains() -> None:
    mechanism = rover(euler="zyx").build()
    assert mechanism.nv == 11
    assert mechanism.coordinates[:6] == mechanism.rates[:6]
    assert mechanism.coordinates[3] == "base_rz"
    assert len(mechanism.segments) == 9


def test_names_of_coordinates_and_rates_may_be_given() -> None:
    names = [f"p{k}" for k in range(7)]
    speeds = [f"u{k}" for k in range(6)]
    mechanism = rover(coordinates=names, rates=speeds).build()
    assert mechanism.coordinates[:7] == tuple(names)
    assert mechanism.rates[:6] == tuple(speeds)
    assert mechanism.segments[0].joint.name == "base"


def test_rates_of_scalar_joints() -> None:
    builder = Mechanism.builder().segment("a", axis="z", mass=1, rates=["spin"])
    builder.segment("b", parent="a", joint="cylindrical", axis="x", mass=1, rates=["u", "w"])
    mechanism = builder.build()
    assert mechanism.coordinates == ("a", "b_t", "b_r")
    assert mechanism.rates == ("spin", "u", "w")


@pytest.mark.parametrize("dof", [2, [2, 3, 4, 5, 6, 7]])
def test_dof_orders_the_joints_in_q_and_qd(dof: object) -> None:
    builder = Mechanism.builder().segment_table(
        {"name": "base", "joint": "free", "mass": 1, "dof": dof}
    )
    builder.segment("wheel", parent="base", axis="y", mass=1, dof=8)
    builder.segment("arm", parent="base", axis="y", mass=1, dof=1)
    mechanism = builder.build()
    assert [segment.rate for segment in mechanism.segments] == [1, 7, 0]
    assert [segment.coordinate for segment in mechanism.segments] == [1, 8, 0]
    assert mechanism.rates[0] == mechanism.coordinates[0] == "arm"


@pytest.mark.parametrize(
    ("dofs", "message"),
    [
        ((3, 1), "out of range or used twice"),
        ((1, 6), "out of range or used twice"),
        (([1, 2, 3, 4, 5], 7), "expected 6 entries, got 5"),
        (([1, 2, 3, 4, 6, 5], 7), "follow one another"),
        (([2, 3, 4, 5, 6, 8], 1), "follow one another"),
        (("first", 1), "expected a whole number"),
        ((None, 1), "missing here but given elsewhere"),
        ((1, None), "missing here but given elsewhere"),
    ],
)
def test_wrong_orders(dofs: tuple[object, object], message: str) -> None:
    builder = Mechanism.builder()
    builder.segment_table({"name": "base", "joint": "free", "mass": 1, "dof": dofs[0]})
    wheel = {"name": "wheel", "parent": "base", "joint": "revolute", "axis": "z", "mass": 1}
    with pytest.raises(ReadError, match=message) as caught:
        builder.segment_table({**wheel, "dof": dofs[1]}).build()
    assert caught.value.remedy


@pytest.mark.parametrize("field", ["limits", "friction", "rotor_inertia", "gear_ratio"])
def test_a_quaternion_has_no_drive(field: str) -> None:
    given: object = {"viscous": 1} if field == "friction" else {} if field == "limits" else 1
    with pytest.raises(ReadError, match=f"quaternion has no '{field}'") as caught:
        rover(**{field: given}).build()
    assert caught.value.element == f"segment 'base', {field}"
    assert "euler" in str(caught.value.remedy)


@pytest.mark.parametrize(
    ("fields", "element", "message"),
    [
        ({"coordinates": ["a"] * 6}, "segment 'base', coordinates", "expected 7 entries, got 6"),
        ({"rates": ["a"] * 7}, "segment 'base', rates", "expected 6 entries, got 7"),
        ({"rates": ["a"] * 6}, "rate 'a'", "used twice"),
        ({"coordinates": ["a"] * 7}, "coordinate 'a'", "used twice"),
        ({"rates": list("uvwxyg")}, "rate 'g'", "a parameter has the same name"),
        ({"rates": ["tip", *"vwxyz"]}, "rate 'tip'", "used twice"),
        ({"rates": ["b_qx", *"vwxyz"]}, "rate 'b_qx'", "a coordinate of another joint"),
        ({"coordinates": ["b_wx", *"uvwxyz"]}, "rate 'b_wx'", "a coordinate of another joint"),
        ({"axis": "z"}, "segment 'base'", "has no 'axis'"),
    ],
)
def test_wrong_names(fields: dict[str, object], element: str, message: str) -> None:
    with pytest.raises(ReadError) as caught:
        rover(**fields).parameter("g").build()
    assert message in caught.value.message
    assert caught.value.element == element


@pytest.mark.parametrize("field", ["dof", "coordinates", "rates"])
def test_a_fixed_joint_has_no_places(field: str) -> None:
    builder = Mechanism.builder().segment_table({"name": "a", "joint": "fixed", field: ["x"]})
    with pytest.raises(ReadError, match=f"a fixed joint has no {field}"):
        builder.build()


def test_one_name_in_q_and_qd_means_one_joint() -> None:
    names = [f"base_{s}" for s in FREE[1]]
    mechanism = rover(coordinates=[*names, "base_angle"]).build()
    assert mechanism.coordinates[:6] == mechanism.rates[:6]
    assert mechanism.permutation(mechanism.rates).tolist() == list(range(11))
    assert mechanism.permutation(mechanism.coordinates).tolist() == list(range(13))


def test_the_number_of_freedoms_is_that_of_the_rates() -> None:
    assert rover().freedoms(11).build().nv == 11
    with pytest.raises(ReadError, match="number of freedoms") as caught:
        rover().freedoms(13).build()
    assert "have 11" in str(caught.value.remedy)


def test_neutral_is_the_unit_quaternion() -> None:
    q = rover().build().neutral()
    assert np.flatnonzero(q).tolist() == [6, 11]
    assert q[[6, 11]].tolist() == [1.0, 1.0]
    assert Mechanism.builder().segment("a", joint="fixed").build().neutral().shape == (0,)


def test_indices_of_rates() -> None:
    mechanism = rover().build()
    assert mechanism.rate_index("base_wx") == 3
    assert mechanism.rate_index("arm") == mechanism.rate_index("qd7") == 6
    assert mechanism.rate_index("qdd7") == mechanism.rate_index("tau7") == 6
    assert mechanism.coordinate_index("q13") == mechanism.coordinate_index("tip") == 12
    for name in ("q7", "qd12", "qd0", "base_qw", "base_w"):
        with pytest.raises(ReadError, match="there is no rate") as caught:
            mechanism.rate_index(name)
        assert caught.value.remedy
    with pytest.raises(ReadError, match="there is no coordinate"):
        mechanism.coordinate_index("base_wx")
    scalar = Mechanism.builder().segment("a", axis="z", mass=1).build()
    assert scalar.rate_index("q1") == scalar.rate_index("qd1") == scalar.rate_index("a") == 0


def test_permutations_of_q_and_of_qd() -> None:
    mechanism = rover().build()
    q, qd = np.arange(13.0), np.arange(11.0)
    backwards = mechanism.permutation(mechanism.coordinates[::-1])
    assert q[backwards].tolist() == q[::-1].tolist()
    backwards = mechanism.permutation(mechanism.rates[::-1])
    assert qd[backwards].tolist() == qd[::-1].tolist()
    numbered = mechanism.permutation([f"qd{k}" for k in range(11, 0, -1)])
    assert numbered.tolist() == backwards.tolist()
    assert mechanism.permutation([f"q{k}" for k in range(1, 14)]).tolist() == list(range(13))
    for names in (mechanism.rates[1:], mechanism.coordinates[1:], ["arm", "tip"]):
        with pytest.raises(ReadError, match="not an order of"):
            mechanism.permutation(names)
    with pytest.raises(ReadError, match="there is no rate named 'base_x'"):
        mechanism.permutation(["base_x", *mechanism.rates[1:]])


def test_misleading_names_of_rates_are_warned_of() -> None:
    builder = Mechanism.builder().segment("qd2", axis="z", mass=1)
    notes = builder.segment("b", parent="qd2", axis="z", mass=1).build().notes
    assert [note.element for note in notes] == ["rate 'qd2'"]


def test_idle_quaternions_are_warned_of_once() -> None:
    builder = Mechanism.builder().segment("a", axis="z", mass=1)
    notes = builder.segment("tip", parent="a", joint="free").build().notes
    assert [(note.level, note.element) for note in notes] == [("warning", "joint 'tip'")]


# --- any mechanism --------------------------------------------------------------------------

KINDS = ["revolute", "prismatic", "fixed", "spherical", "free", "cylindrical", "euler"]


@st.composite
def trees(draw: st.DrawFn) -> Mechanism:
    """Draw a tree with joints of every kind, coupled ones among them, in an order of its own."""
    builder = Mechanism.builder("any")
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=6))
    sizes = {"fixed": 0, "spherical": 3, "free": 6, "cylindrical": 2, "euler": 3}
    followed = [f"s{k}" for k, kind in enumerate(kinds) if kind in ("revolute", "prismatic")]
    moving = [k for k, kind in enumerate(kinds) if kind != "fixed"]
    order = draw(st.permutations(moving))
    is_ordered = draw(st.booleans())
    first = {k: 1 + sum(sizes.get(kinds[i], 1) for i in order[:n]) for n, k in enumerate(order)}
    for k, kind in enumerate(kinds):
        said: dict[str, object] = {"name": f"s{k}", "mass": 1, "joint": kind}
        said["parent"] = "ground" if k == 0 else f"s{draw(st.integers(0, k - 1))}"
        if kind == "euler":
            said |= {"joint": "spherical", "euler": draw(st.sampled_from(["zyx", "zxz"]))}
        elif kind in ("revolute", "prismatic", "cylindrical"):
            said["axis"] = draw(st.sampled_from(["x", "-y", [0, 3, 4]]))
        if is_ordered and k in first:
            count = sizes.get(kind, 1)
            is_list = kind in ("cylindrical", "euler")
            said["dof"] = list(range(first[k], first[k] + count)) if is_list else first[k]
        builder.segment_table(said)
    if followed:
        for k in range(draw(st.integers(0, 2))):
            mimic = {"joint": draw(st.sampled_from(followed)), "ratio": draw(st.integers(1, 3))}
            builder.segment(f"c{k}", parent="s0", axis="z", mass=1, mimic=mimic)
    return builder.build()


@settings(max_examples=150, deadline=None)
@given(trees())
def test_every_entry_belongs_to_one_joint(mechanism: Mechanism) -> None:
    groups = (
        (mechanism.coordinate_records, [s.coordinate for s in mechanism.segments], "coordinates"),
        (mechanism.rate_records, [s.rate for s in mechanism.segments], "rates"),
    )
    orders: list[list[int]] = []
    for records, firsts, count in groups:
        orders.append(list(dict.fromkeys(record.segment for record in records)))
        place = 0
        for owner in orders[-1]:
            assert firsts[owner] == place
            place += getattr(mechanism.segments[owner].joint.kind, count)
        assert place == len(records)
    assert orders[0] == orders[1]
    for index, segment in enumerate(mechanism.segments):
        assert (segment.coordinate is None) == (segment.joint.kind is JointKind.FIXED)
        if segment.coordinate is not None and index not in orders[0]:
            assert segment.name.startswith("c")


@settings(max_examples=60, deadline=None)
@given(trees(), st.randoms(use_true_random=False))
def test_permutations_lead_there_and_back(mechanism: Mechanism, random: Random) -> None:
    for names in (list(mechanism.coordinates), list(mechanism.rates)):
        random.shuffle(names)
        order = mechanism.permutation(names)
        values = np.arange(len(names))
        assert values[order][np.argsort(order)].tolist() == values.tolist()
