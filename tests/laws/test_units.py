"""The catalogue of outputs: it has all, with their shapes, and units by the law of similarity.

A mechanism whose lengths, masses and times are L, M and T times those of another one moves alike:
each value is L^a M^b T^c times the other, and a, b, c are what its unit says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.formulations import COMMON, FORMULATIONS, OF_FRAME, refusal
from chainform.model import CATALOGUE, PER_VALUE, OutputEntry
from element_models import everything

SCALES = (2.0, 4.0, 8.0)
"""Lengths, masses and times: powers of two, so that nothing is rounded."""


def arm(length: float, mass: float, time: float) -> cf.Mechanism:
    """Return a tree of sliding and turning joints with friction, springs and a rotor, to scale."""
    inertia, torque = mass * length**2, mass * length**2 / time**2
    force = torque / length
    builder = cf.Mechanism.builder("arm", gravity=[0, length / time**2, -9 * length / time**2])
    friction = {"viscous": torque * time / 3, "coulomb": torque / 5}
    builder.segment(
        "one",
        axis="z",
        position=[0, 0, length],
        mass=2 * mass,
        com=[length / 4, 0, length],
        inertia=[inertia, 2 * inertia, 2 * inertia],
        friction=friction,
        rotor_inertia=inertia / 3,
    )
    builder.segment(
        "two",
        parent="one",
        joint="prismatic",
        axis=[0.6, 0, 0.8],
        position=[length, length / 2, 0],
        mass=mass,
        com=[0, length / 8, 0],
        inertia=[inertia / 2, inertia, inertia],
        friction={"viscous": force * time / length, "coulomb": force / 7},
    )
    shape: dict[str, Any] = {
        "mass": mass,
        "com": [length / 8, 0, length / 2],
        "inertia": [inertia] * 3,
    }
    builder.segment("three", parent="two", axis="x", position=[0, 0, length / 2], **shape)
    builder.segment("four", parent="three", axis="y", position=[0, length, 0], **shape)
    builder.frame("tool", "four", [length / 4, 0, length])
    return builder.build()


def floating(length: float, mass: float, time: float) -> cf.Mechanism:
    inertia = [mass * length**2 * part for part in (1, 2, 2.5)]
    builder = cf.Mechanism.builder("floating", gravity=[0, 0, -8 * length / time**2])
    builder.segment("body", joint="free", mass=4 * mass, com=[length / 4, 0, 0], inertia=inertia)
    shape: dict[str, Any] = {"mass": mass, "com": [0, length / 8, length / 2]}
    builder.segment("leg", parent="body", axis="y", position=[0, length, 0], **shape)
    builder.segment("foot", parent="leg", axis="x", position=[0, 0, -length], **shape)
    return builder.frame("tool", "foot", [0, length / 2, -length]).build()


def planar(length: float, mass: float, _: float) -> cf.Mechanism:
    builder = cf.Mechanism.builder("planar").segment("one", axis="z", mass=mass)
    builder.segment("two", parent="one", axis="z", position=[length, 0, 0], mass=mass)
    builder.segment("three", parent="two", axis="z", position=[length, 0, 0], mass=mass)
    return builder.frame("tool", "three", [length, 0, 0]).build()


BUILDERS = {"arm": arm, "floating": floating, "planar": planar}
MECHANISMS = ("arm", "floating")
STATE = np.random.default_rng(3).uniform(0.2, 0.9, (4, 8))


def units_of(mechanism: cf.Mechanism) -> list[int]:
    """Return 1 for a rate in m/s and 0 for one in rad/s."""
    kinds: list[int] = []
    for segment in mechanism.segments:
        kinds += {"free": [1, 1, 1, 0, 0, 0], "prismatic": [1], "revolute": [0]}[
            segment.joint.kind.value
        ]
    return kinds


def values_at(
    name: str, outputs: Sequence[str], scales: tuple[float, ...], formulation: str
) -> dict[str, Any]:
    mechanism = BUILDERS[name](*scales)
    length, mass, time = scales
    slides = length ** np.array(units_of(mechanism))
    qd, qdd, tau = (row[: mechanism.nv] * slides for row in STATE[1:])
    q = mechanism.neutral()
    if mechanism.nq == mechanism.nv:
        q = STATE[0, : mechanism.nv] * slides
    else:
        q[:3] = STATE[0, :3] * length
        q[3:7] = [0.5, 0.5, -0.5, 0.5]
        q[7:] = STATE[0, 7 : mechanism.nq]
    work = mass * length**2 / time**2
    state: dict[str, Any] = {
        "q": q,
        "qd": qd / time,
        "qdd": qdd / time**2,
        "tau": tau / slides**2 * work,
    }
    return cf.derive(mechanism, outputs, formulation=formulation).evaluate(**state)


def exponents(unit: str, index: tuple[int, ...], mechanism: cf.Mechanism) -> tuple[int, int, int]:
    """Return the powers of length, mass and time in the unit of an entry."""
    meaning = {"m": (1, 0, 0), "kg": (0, 1, 0), "s": (0, 0, 1), "J": (2, 1, -2)}
    at = dict(zip("ikl", index, strict=False))
    total = np.zeros(3, dtype=int)
    above, _, below = unit.partition("/")
    for part, sign in ((above, 1), (below.strip("()"), -1)):
        for token in part.split():
            word, _, power = token.partition("^")
            letter = re.fullmatch(r"([uvp])_([ikl])", word)
            if letter is None:
                own = meaning[word]
            elif letter[1] == "u":
                own = (units_of(mechanism)[at[letter[2]]], 0, 0)
            elif letter[1] == "v":
                own = (int(at[letter[2]] % 6 < 3), 0, 0)
            else:
                own = (int(at[letter[2]] == 3 and at["i"] < 3), 0, 0)
            total += sign * int(power or 1) * np.array(own)
    return int(total[0]), int(total[1]), int(total[2])


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("name", MECHANISMS)
def test_values_scale_as_their_units_say(name: str, formulation: str) -> None:
    mechanism = BUILDERS[name](1, 1, 1)
    entries: dict[str, OutputEntry] = {}
    for entry in cf.quantities(mechanism, formulation):
        if entry.unit in ("", PER_VALUE) or (entry.of_frame and formulation != "auto"):
            continue
        text = f"{entry.name}(tool)" if entry.of_frame else entry.name
        if entry.name.startswith("operational") and mechanism.nv < 6:
            text = f"{entry.name}(tool,linear)"
        entries[text] = entry
    assert bool(entries) == (refusal(mechanism, formulation) is None)
    if not entries:
        return
    scales = ((1.0, 1.0, 1.0), SCALES)
    one, other = (values_at(name, [*entries], scale, formulation) for scale in scales)
    for text, entry in entries.items():
        small, large = one[text], other[text]
        assert np.abs(small).max() > 0, text
        for index in np.ndindex(small.shape):
            powers = exponents(entry.unit, index, mechanism)
            factor = np.prod([scale**power for scale, power in zip(SCALES, powers, strict=True)])
            size = np.abs(small).max() * factor
            assert abs(large[index] - factor * small[index]) <= 1e-12 * size, (text, index, powers)


def test_manipulability_has_a_unit_for_each_singular_value() -> None:
    """Three joints turn in a plane: the linear rows have two singular values, in m/rad."""
    powers = {"manipulability(tool,linear)": 2, "manipulability(tool,angular)": 0}
    scales = ((1.0, 1.0, 1.0), SCALES)
    small, large = (values_at("planar", [*powers], s, "auto") for s in scales)
    for text, power in powers.items():
        assert small[text] > 0
        assert large[text] == pytest.approx(small[text] * SCALES[0] ** power, rel=1e-12)


def test_the_documentation_has_the_table() -> None:
    page = (Path(__file__).parents[2] / "docs" / "quantities.md").read_text("utf-8")
    lines = (
        page.partition("<!-- table of the catalogue")[2].partition("<!-- end")[0].splitlines()[1:]
    )
    for entry, line in zip(CATALOGUE.values(), lines[2:], strict=True):
        letter = f"{entry.letter}{entry.argument}" if entry.letter else ""
        shape = " × ".join(map(str, entry.shape)) or "()"
        cells = (
            f"`{entry.name}{entry.argument}`",
            letter,
            shape,
            entry.unit,
            entry.meaning,
            entry.equation,
        )
        assert line == f"| {' | '.join(cells)} |"


def test_every_output_is_in_the_catalogue_and_nothing_else() -> None:
    given = {output for method in FORMULATIONS.values() for output in (*method.outputs, *COMMON)}
    assert set(CATALOGUE) == given
    for name, entry in CATALOGUE.items():
        assert entry.name == name
        assert entry.of_frame == (name in OF_FRAME)
        assert entry.meaning
        assert entry.equation
    letters = [(entry.letter, entry.of_frame) for entry in CATALOGUE.values() if entry.letter]
    assert len(set(letters)) == len(letters)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_shapes_are_those_of_the_outputs(formulation: str) -> None:
    mechanisms = [arm(1, 1, 1), floating(1, 1, 1), cf.read("examples/four_bar.toml"), everything()]
    for mechanism in mechanisms:
        if refusal(mechanism, formulation) is not None:
            assert cf.quantities(mechanism, formulation) == ()
            continue
        entries = [e for e in cf.quantities(mechanism, formulation) if not e.of_frame]
        found = cf.derive(mechanism, [entry.name for entry in entries], formulation=formulation)
        for entry in entries:
            assert found[entry.name].shape == entry.shape, (mechanism.name, entry.name)


def test_shapes_of_quantities_of_frames() -> None:
    mechanism = floating(1, 1, 1)
    entries = [entry for entry in cf.quantities(mechanism) if entry.of_frame]
    assert {entry.name for entry in entries} == set(OF_FRAME)
    found = cf.derive(mechanism, [f"{entry.name}(tool)" for entry in entries])
    for entry in entries:
        assert found[f"{entry.name}(tool)"].shape == entry.shape


def test_without_a_mechanism_all_are_listed_with_letters_for_lengths() -> None:
    assert [entry.name for entry in cf.quantities()] == list(CATALOGUE)
    by_lagrange = {entry.name: entry for entry in cf.quantities(formulation="lagrange")}
    assert by_lagrange["metric_derivative"].shape == ("nv", "nv", "nv")
    assert "acceleration_energy" not in by_lagrange
    with pytest.raises(cf.Error, match="no formulation 'lagrnge'") as caught:
        cf.quantities(formulation="lagrnge")
    assert "lagrange" in (caught.value.remedy or "")
