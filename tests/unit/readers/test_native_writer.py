"""Mechanisms written in the native form read back as they were."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import chainform as cf
from chainform.mechanism import LOOP_ROWS, ZERO, Parameter
from chainform.readers import native_text, native_toml, read_text
from robots import robot_files
from strategies import examples
from zoo import DATA, inertia, random_tree, rotation, unit_axis

ROOT = Path(__file__).parents[3]
FILES = [
    *sorted((ROOT / "examples").glob("*.toml")),
    *(p for p in sorted(DATA.glob("*.json")) if '"mechanism"' in p.read_text("utf-8")),
]


def bare(mechanism: cf.Mechanism) -> cf.Mechanism:
    """Return the mechanism without what is not written: notes and where it came from."""
    return replace(mechanism, notes=(), file=None, source=None)


def check(mechanism: cf.Mechanism) -> None:
    text = native_text(mechanism)
    again = read_text(text, "json")
    assert bare(again) == bare(mechanism)
    assert native_text(again) == text
    assert bare(read_text(native_toml(mechanism), "toml")) == bare(mechanism)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files(path: Path) -> None:
    check(cf.read(path))


@pytest.mark.parametrize("seed", range(40))
def test_trees(seed: int) -> None:
    check(random_tree(seed, quaternions=seed % 2 == 1))


ROBOTS = robot_files("example-robot-data")


@pytest.mark.parametrize("name", [n for n in ROBOTS if "talos" in n or "panda" in n or "solo" in n])
def test_robots(name: str) -> None:
    check(cf.read(ROBOTS[name], base="floating"))


# --- everything a mechanism may have --------------------------------------------------------

odd_numbers = st.one_of(
    st.fractions(max_denominator=10**30),
    st.floats(-1e6, 1e6, allow_subnormal=True).map(Fraction),
    st.decimals(-1000, 1000, places=4).map(Fraction),
)
texts = st.text(max_size=20)
expressions = st.sampled_from(
    ["a", "-a", "2*b", "a + b/3", "-(a - b)^2", "sin(b)*a", "-2*a*b", "1/3*a", "pi*b", "a^-2"]
)


TWO_AXES = ("universal", "revolute_prismatic")


@st.composite
def mechanisms(draw: st.DrawFn) -> cf.Mechanism:
    """Draw a mechanism with every field there is."""
    rng = random.Random(draw(st.integers(0, 10**6)))
    number = st.one_of(odd_numbers, expressions)
    positive = st.one_of(odd_numbers.map(abs), st.just("a^2"), st.just("b*b"))
    vector = st.lists(number, min_size=3, max_size=3)
    builder = cf.Mechanism.builder(draw(st.sampled_from(["m", "Größe 1", "a/b"])), draw(vector))
    builder.parameter("a", draw(odd_numbers.filter(bool)), draw(texts), draw(texts))
    builder.parameter("b", draw(st.none() | odd_numbers.map(lambda x: x % 1 + 1)))
    leader: str | None = None
    kinds = ["revolute", "prismatic", "fixed", "spherical", "free", "cylindrical", *TWO_AXES]
    for index in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(kinds))
        fields: dict[str, Any] = {"joint": {"type": kind, "name": f"joint {index}"}}
        if kind in ("revolute", "prismatic", "cylindrical"):
            fields["axis"] = unit_axis(rng)
        elif kind in TWO_AXES:
            fields["axes"] = [unit_axis(rng), unit_axis(rng)]
        if kind in ("revolute", "prismatic"):
            if leader is not None and draw(st.booleans()):
                ratio = draw(odd_numbers.filter(bool))
                fields["mimic"] = {"joint": leader, "ratio": ratio, "offset": draw(number)}
            leader = f"joint {index}"
            fields["limits"] = draw(
                st.sampled_from([None, {}, {"lower": "-1/3", "effort": 2}, {"upper": "pi"}])
            )
            fields["friction"] = draw(
                st.none() | st.fixed_dictionaries({}, optional={"viscous": positive})
            )
            fields["rotor_inertia"] = draw(st.none() | positive)
            fields["gear_ratio"] = draw(st.none() | odd_numbers.filter(bool))
        parents = ["ground", *(f"s{k}" for k in range(index))]
        builder.segment(
            f"s{index}",
            parent=draw(st.sampled_from(parents)),
            position=draw(vector),
            rotation=rotation(rng),
            mass=draw(positive),
            com=draw(vector),
            inertia=inertia(rng) if draw(st.booleans()) else {"xx": "a^2", "xy": "b", "zz": 1},
            **fields,
        )
    builder.segment("last", parent="ground", axis="z", mass=1)
    place = {"segment": "s0", "point": draw(vector), "rotation": rotation(rng)}
    if draw(st.booleans()):
        builder.base(position=draw(vector), rotation=rotation(rng), velocity=draw(vector))
    if draw(st.booleans()):
        builder.frame_table({"name": "tool", **place})
    if draw(st.booleans()):
        builder.spring_table({"joint": "last", "stiffness": draw(positive), "rest": draw(number)})
        builder.spring_table({"ends": [place, {"segment": "ground"}], "stiffness": 1})
    if draw(st.booleans()):
        kind = draw(st.sampled_from(sorted(LOOP_ROWS)))
        ends = [place, {"segment": "ground"}]
        if LOOP_ROWS[kind].has_axes:
            ends = [{**end, "axis": unit_axis(random.Random(3))} for end in ends]
        length = draw(positive.filter(bool)) if kind == "distance" else None
        builder.loop("ring", kind, *ends, ["last"], length)
    try:
        return builder.build()
    except cf.Error:  # a loop that cannot close, or an expression without a value
        reject()


@examples(100)
@given(mechanisms())
def test_every_field(mechanism: cf.Mechanism) -> None:
    check(mechanism)


# --- single cases ---------------------------------------------------------------------------


def pendulum(**fields: Any) -> cf.Mechanism:
    return cf.Mechanism.builder("p").segment("rod", axis="y", mass=1, **fields).build()


@pytest.mark.parametrize(
    "value",
    [
        Fraction(1, 3),
        Fraction(-7, 9),
        Fraction(1, 10**40),
        Fraction(3 * 10**30),
        Fraction(5e-324),
        Fraction(-1.7e-300),
        Fraction(10**700 + 1, 10**701 + 3),
        Fraction(2) ** 1000,
    ],
)
def test_long_numbers(value: Fraction) -> None:
    again = read_text(native_text(pendulum(com=[value, 0, 0])), "json")
    assert again.segments[0].body.com == (value, ZERO, ZERO)


def test_order_and_names_of_coordinates() -> None:
    mechanism = (
        cf.Mechanism.builder("order")
        .segment("a", parent="ground", joint={"type": "free", "dof": 2}, mass=1)
        .segment("b", parent="a", axis="x", dof=1, rates=["spin"], mass=1)
        .segment("c", parent="b", joint={"type": "spherical", "euler": "zxz", "dof": [9, 8, 10]})
        .build()
    )
    check(mechanism)
    assert read_text(native_text(mechanism), "json").rates == mechanism.rates


def test_a_part_of_a_coupled_tree() -> None:
    """Couplings that were computed hold signs and quotients, which are written as such."""
    mechanism = (
        cf.Mechanism.builder("hand")
        .parameter("k", "0.1")
        .segment("palm", parent="ground", axis="z", mass=1)
        .segment("one", parent="palm", axis="z", mass=1)
        .segment("two", parent="palm", axis="z", mass=1, mimic=_mimic("one", "-2/3", "k"))
        .segment("three", parent="palm", axis="z", mass=1, mimic=_mimic("two", "-3", "-1/7"))
        .segment("four", parent="two", axis="z", mass=1, mimic=_mimic("three", "-1", "2*k"))
        .build()
    )
    check(mechanism)
    check(mechanism.subtree(tips=["four", "three"]))


def _mimic(joint: str, ratio: str, offset: str) -> dict[str, str]:
    return {"joint": joint, "ratio": ratio, "offset": offset}


def test_texts_of_parameters() -> None:
    mechanism = pendulum()
    odd = Parameter("k", None, 'a"b\\c é', '\ud800 é \u2028 a"b\\c\n\0')
    check(replace(mechanism, parameters=(odd,)))


def test_numbers_are_readable() -> None:
    mechanism = pendulum(com=["0.25", "1/3", 0])
    text = native_text(mechanism)
    assert '"com": [0.25, "1/3", 0]' in text
    assert text.isascii()


def test_coordinates_of_their_own_have_units_and_rates() -> None:
    builder = cf.Mechanism.builder("bead")
    builder.coordinates({"name": "phi", "unit": "rad", "rate": "omega"}, "x")
    builder.element(kind="point", mass=1, position=["x", "cos(phi)", 0])
    mechanism = builder.build()
    check(mechanism)
    again = read_text(native_text(mechanism), "json")
    assert [(c.name, c.unit) for c in again.coordinate_records] == [("phi", "rad"), ("x", "")]
    assert again.rates == ("omega", "x")
