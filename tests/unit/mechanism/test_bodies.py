"""Bodies from distributions of mass along lines: exact, and refused where no body is like that."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy

import chainform as cf
from chainform.graph import EXACT, evaluate
from chainform.mechanism import Body
from chainform.readers import native_text, read_text
from sliding_chains import ROD, sliding_chain
from zoo import exact_state

S = sympy.Symbol("s")


def body_of(distribution: Any, **parameters: Any) -> Body:
    builder = cf.Mechanism.builder("one")
    for name, value in parameters.items():
        builder.parameter(name, value)
    return builder.segment("a", axis="z", distribution=distribution).build().segments[-1].body


def fraction(value: Any) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def integrated(pieces: list[tuple[list[int], Any, Any, Any, Any]]) -> Body:
    """Return the body by integrals of sympy: direction, density, inertia per length, ends."""
    mass, first, second, spin = sympy.S(0), sympy.zeros(3, 1), sympy.zeros(3, 3), sympy.S(0)
    for direction, density, inertia, start, end in pieces:
        e = sympy.Matrix(direction)
        mass += sympy.integrate(density, (S, start, end))
        first += sympy.integrate(density * S, (S, start, end)) * e
        second += sympy.integrate(density * S**2, (S, start, end)) * e * e.T
        spin += sympy.integrate(inertia, (S, start, end))
    com = first / mass
    about = (second.trace() + spin) * sympy.eye(3) - second
    about -= mass * ((com.T * com)[0] * sympy.eye(3) - com * com.T)
    rows = [[fraction(about[i, k]) for k in range(3)] for i in range(3)]
    x, y, z = (fraction(part) for part in com)
    a, b, c = ((row[0], row[1], row[2]) for row in rows)
    return Body(fraction(mass), (x, y, z), (a, b, c))


def test_a_uniform_rod() -> None:
    found = body_of({"axis": "y", "from": "-1/2", "to": 1, "density": 4, "inertia": "1/10"})
    zero = sympy.S(0)
    rod = ([0, 1, 0], zero + 4, sympy.Rational(1, 10), sympy.Rational(-1, 2), sympy.S(1))
    assert found == integrated([rod])
    assert found.mass == 6


def test_polynomials_pieces_and_tables() -> None:
    """A density of the third degree, a gap, a table between whose places it is linear, two axes."""
    distribution = [
        {"axis": "x", "from": -1, "to": 2, "density": [5, 0, -1, "1/3"], "inertia": [0, 0, 1]},
        {"axis": "x", "from": 3, "to": 4, "density": 2},
        {"axis": "-z", "at": [0, 1, 3], "density": [1, 4, 0], "inertia": [1, 0, 2]},
    ]
    half = sympy.Rational(1, 2)
    x, z = [1, 0, 0], [0, 0, -1]
    expected = [
        (x, 5 - S**2 + S**3 / 3, S**2, -1, 2),
        (x, sympy.S(2), sympy.S(0), 3, 4),
        (z, 1 + 3 * S, 1 - S, 0, 1),
        (z, 4 - 2 * (S - 1), half * 2 * (S - 1), 1, 3),
    ]
    assert body_of(distribution) == integrated(expected)


def test_cutting_a_piece_in_two_changes_nothing() -> None:
    density = ["1/2", 3, 1]
    whole = {"axis": [0.6, 0.8, 0], "from": 0, "to": 2, "density": density}
    halves = [whole | {"to": "1/3"}, whole | {"from": "1/3"}]
    assert body_of(halves) == body_of(whole)


def test_rods_of_korayem_and_shafei_by_their_densities() -> None:
    """mu(eta) and J(eta) over [l - L, l]: the same equations, with parameters free or not."""
    rods = sliding_chain(3)
    table = json.loads(native_text(rods))
    dense = {"from": "-L", "to": 0, "density": "mu", "inertia": "J"}
    for segment in table["segments"]:
        if segment.get("mass"):
            for field in ("mass", "com", "inertia"):
                del segment[field]
            segment["distribution"] = dense
    chain = read_text(json.dumps(table), "json")
    assert ROD["mass"] == "mu*L"
    for parameters in ("numeric", ["L", "mu", "J"]):
        for formulation in ("gibbs_appell", "auto"):
            outputs = ["mass_matrix", "inverse_dynamics", "potential_energy"]
            models = [
                cf.derive(m, outputs, formulation=formulation, parameters=parameters)
                for m in (rods, chain)
            ]
            state = exact_state(rods, 3) | {
                "L": Fraction(3, 2),
                "mu": Fraction(5),
                "J": Fraction(1, 9),
            }
            first, second = (evaluate(model.graph, state, EXACT) for model in models)
            for output in outputs:
                assert (first[output] == second[output]).all(), (parameters, output)


def test_a_link_that_is_heavier_at_its_tip() -> None:
    """The inertia about the joint depends on how far the link is out, as its density says."""
    builder = cf.Mechanism.builder("tapered").parameter("mu", 3)
    builder.segment(
        "link",
        joint={"type": "revolute_prismatic", "axes": ["z", "x"]},
        distribution={"from": -2, "to": 0, "density": ["mu", "mu/4"]},
    )
    link = builder.build()
    H = cf.derive(link, ["H"], formulation="gibbs_appell").evaluate(q=[0.3, 0.5])["mass_matrix"]
    places = np.linspace(-2, 0, 2001)
    middle = (places[1:] + places[:-1]) / 2
    density = 3 + 0.75 * middle
    assert H[1, 1] == pytest.approx(np.sum(density) * 0.001, rel=1e-9)
    assert H[0, 0] == pytest.approx(np.sum(density * (middle + 0.5) ** 2) * 0.001, rel=1e-5)


def test_written_as_mass_centre_and_inertia() -> None:
    builder = cf.Mechanism.builder("rod").parameter("L", 2).parameter("mu")
    rod = builder.segment(
        "a", axis="z", distribution={"from": 0, "to": "L", "density": "mu"}
    ).build()
    assert read_text(native_text(rod), "json").segments == rod.segments
    table = json.loads(native_text(rod))["segments"][0]
    assert "distribution" not in table
    assert table["mass"] == "mu*L"


def test_elements_have_distributions_too() -> None:
    builder = cf.Mechanism.builder("rod").coordinates("phi")
    rod = {"from": 0, "to": 2, "density": 3}
    builder.element(kind="body", name="rod", chain="Rz(phi)", distribution=rod)
    H = cf.derive(builder.build(), ["mass_matrix"]).evaluate(q=[0.1])["mass_matrix"]
    assert H[0, 0] == pytest.approx(3 * 2**3 / 3)


WRONG: list[tuple[Any, str]] = [
    ({"from": 1, "to": 0, "density": 1}, "ends at 0, not after 1"),
    ({"from": 0, "to": 1, "density": [1, -3]}, "density is negative"),
    ({"from": -1, "to": 1, "density": ["-1/10", 0, 1]}, "density is negative"),
    ({"from": 0, "to": 1, "density": 1, "inertia": -1}, "inertia is negative"),
    ({"from": 0, "to": 1, "density": 0}, "there is no mass"),
    ([], "there is no mass"),
    ([{"from": 0, "to": 2, "density": 1}, {"from": 1, "to": 3, "density": 1}], "overlaps"),
    ({"from": 0, "density": 1}, "'to' is missing"),
    ({"from": 0, "to": 1}, "'density' is missing"),
    ({"from": 0, "to": 1, "densty": 1}, "unknown field 'densty'"),
    ({"from": 0, "to": 1, "density": []}, "0 coefficients"),
    ({"from": 0, "to": 1, "density": [1] * 13}, "13 coefficients"),
    ({"at": [0, 1], "density": [1]}, "expected 2 entries"),
    ({"at": [0], "density": [1]}, "two places"),
    ({"at": [0, 0], "density": [1, 1]}, "ends at 0"),
    ({"at": [0, 1], "from": 0, "density": [1, 1]}, "'at' says where"),
    ({"from": 0, "to": "K", "density": 1}, "'K' is not a parameter"),
    (3, "expected a table"),
]


@pytest.mark.parametrize(("distribution", "message"), WRONG)
def test_what_no_body_has_is_refused(distribution: Any, message: str) -> None:
    with pytest.raises(cf.Error, match=message) as caught:
        body_of(distribution)
    assert "distribution" in (caught.value.element or "")
    assert caught.value.remedy


def test_a_mass_besides_a_distribution_is_refused() -> None:
    rod = {"from": 0, "to": 1, "density": 1}
    fields: list[dict[str, Any]] = [{"mass": 1}, {"com": [1, 0, 0]}, {"inertia": [1, 1, 1]}]
    for field in fields:
        builder = cf.Mechanism.builder("rod").segment("a", axis="z", distribution=rod, **field)
        with pytest.raises(cf.Error, match="follow from the distribution"):
            builder.build()


def test_free_parameters_are_checked_as_far_as_they_are_known() -> None:
    found = body_of({"from": 0, "to": "L", "density": ["mu", "-mu/4"]}, L=None, mu=2)
    assert found.com[1] == 0
    with pytest.raises(cf.Error, match="not after"):
        body_of({"from": 0, "to": "-L", "density": 1}, L=2)
