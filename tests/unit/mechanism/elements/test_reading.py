"""Elements as they are read: records, names, mistakes; and the way back into a file."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import ReadError
from chainform.expressions import Identifier
from chainform.mechanism import (
    IDENTITY,
    EffortElement,
    ElasticElement,
    ElementPoint,
    FixedStep,
    ForceElement,
    InertialElement,
    MomentElement,
    ShiftStep,
    TurnStep,
    parametrise,
)
from chainform.readers import native_text, read_text
from docs import DOCS, blocks_of
from element_models import everything, random_model

EXAMPLES = ("stanford_elements", "portal_crane", "knife_edge", "rolling_disc")


def model(*elements: Any, **more: Any) -> cf.Mechanism:
    builder = cf.Mechanism.builder("model").parameter("m", 2).coordinates("x", "phi")
    builder.unknowns(*more.get("unknowns", ("F",))).define(more.get("define", {}))
    for element in elements:
        builder.element(element)
    return builder.build()


def plain(mechanism: cf.Mechanism) -> cf.Mechanism:
    return replace(mechanism, notes=(), source=None, file=None)


@pytest.mark.parametrize(
    ("moments", "right"),
    [
        ("m, J2x, J2y, J2z", True),
        ("m, J2x, J2x, J2z", True),
        ("m, J2z, J2z, J2z", True),
        ("m, J2x, J2z, J2y", False),
        ("m, J2y, J2x, J2z", False),
        ("m, 1, J2x, J2z", False),
        ("J2x, J2y, J2z, m", False),
        ("m(m), Jx(J2x, J2y)", False),
        ("Jz(J2x), m(m), Jx(J2z)", True),
    ],
)
def test_the_order_of_moments_is_that_of_their_names(moments: str, right: bool) -> None:
    builder = cf.Mechanism.builder("model").coordinates("x")
    for name in ("m", "J2x", "J2y", "J2z"):
        builder.parameter(name, 1)
    builder.element(f"P: Sx(x); {moments}")
    if right:
        assert builder.build().elements
        return
    with pytest.raises(cf.Error) as caught:
        builder.build()
    assert caught.value.remedy


def test_the_order_of_moments_in_a_table() -> None:
    builder = cf.Mechanism.builder("model").parameter("Jx", 1).parameter("Jy", 2).coordinates("x")
    builder.element({"kind": "body", "name": "P", "mass": 1, "inertia": ["Jy", "Jx", 1]})
    with pytest.raises(cf.Error, match="Jy stands where the moment about x belongs"):
        builder.build()


def test_the_short_form_is_a_table() -> None:
    short = model("P ~ K: Sz(m), Rx(phi/2); m, 1, 2, 3", "K: Sx(x)")
    table = model(
        {"kind": "body", "name": "P", "on": "K", "chain": "Sz(m), Rx(phi/2)", "mass": "m"}
        | {"inertia": [1, 2, 3]},
        {"kind": "frame", "name": "K", "chain": "S(x, 0, 0)"},
    )
    assert short.elements == table.elements
    body = short.elements[0]
    assert isinstance(body, InertialElement)
    assert body.on == "K"
    assert body.chain[0] == ShiftStep((Fraction(0), Fraction(0), Identifier("m")))
    assert isinstance(body.chain[1], TurnStep)
    assert body.chain[1].axis == IDENTITY[0]


@pytest.mark.parametrize(
    ("text", "mass", "moments"),
    [
        ("K: Rz(phi); 3", 3, (0, 0, 0)),
        ("K: Rz(phi); Jz(5)", 0, (0, 0, 5)),
        ("K: ; Jy(1), m(2)", 2, (0, 1, 0)),
        ("K:; sqrt(4), 1, 1, 1;", 2, (1, 1, 1)),
    ],
)
def test_masses_of_the_short_form(text: str, mass: int, moments: tuple[int, ...]) -> None:
    (element,) = model(text).elements
    assert isinstance(element, InertialElement)
    assert element.mass == mass
    assert tuple(element.inertia[k][k] for k in range(3)) == moments


def test_a_force_in_one_line_is_a_table() -> None:
    short = model(
        "K: Rz(phi)",
        "pull: x(K) = -F*cos(phi), z(K) = 2*F",
        "x - phi = F",
        {"text": "drive: phi = -3*der(phi)"},
    )
    table = model(
        "K: Rz(phi)",
        {"kind": "force", "name": "pull", "force": ["-F*cos(phi)", 0, "2*F"], "at": "K"},
        {"kind": "force", "force": "F", "along": "x - phi"},
        {"kind": "force", "name": "drive", "force": "-3*der(phi)", "along": "phi"},
    )
    assert short.elements == table.elements
    assert [element.name for element in short.elements] == ["K", "pull", "force3", "drive"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f: x(K) = 1, x(K) = 2", "the component x is given twice"),
        ("f: x(K) = 1, y(L) = 2", "one force acts at one place"),
        ("f: x(K) = ", "is not an equation"),
        ("f: = 2", "is not an equation"),
        ("f: x(K) = 1 = 2", "is not an equation"),
        ("f: phi = 1, x = 2", "is no component"),
        ("f: g: x(K) = 1", "is not a force in one line"),
        ("f: x(nobody) = 1", "nobody"),
    ],
)
def test_forces_in_one_line_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(cf.Error, match=message) as caught:
        model("K: Rz(phi)", "L: Sx(x)", text)
    assert caught.value.element
    assert caught.value.remedy


def test_names_in_letters_of_any_script() -> None:
    """A record of the paper as it is printed, and the same in Latin letters."""
    text = """
        coordinates = ["{t}1", "{t}2"]
        unknowns = ["{M}"]
        elements = [
          "K: Sz(0.5), Rz({t}1); Jz(5)",
          "{P}~K: Sz(0.25), Sx(0.25), Rx({t}2 + {pi}/2); 10, 1, 2, 3",
          "pull: x({P}) = {M}*sin({a})",
        ]
        definitions = {{ "{a}" = "{t}1 - {t}2" }}
    """
    greek = read_text(text.format(t="θ", P="П", a="α", M="М₁", pi="π"), "toml")
    latin = read_text(text.format(t="theta", P="P", a="alpha", M="M1", pi="pi"), "toml")
    assert greek.coordinates == ("θ1", "θ2")
    assert plain(read_text(native_text(greek), "json")) == plain(greek)
    outputs = ["inverse_dynamics", "force_matrix", "pose(K)"]
    state: dict[str, Any] = {"qd": [1, 2], "qdd": [3, 4], "force": [2]}
    first = cf.derive(greek, outputs).evaluate(q={"θ1": 0.3, "θ2": 0.4}, **state)
    second = cf.derive(latin, outputs).evaluate(q=[0.3, 0.4], **state)
    for name in outputs:
        np.testing.assert_array_equal(first[name], second[name])
    assert all(name.isascii() for name in cf.derive(greek, outputs).graph.names)
    with pytest.raises(ReadError) as caught:
        read_text('coordinates = ["x"]\nelements = ["K: Sx(x)"]\nparameters = {"ρ2" = 1}', "toml")
    assert str(caught.value.remedy).startswith("write rho2")


def test_turns_by_known_angles_are_exact_rotations() -> None:
    (element,) = model("K: Rz(pi/2), R(0, 3, 4, 1/2)").elements
    assert isinstance(element, InertialElement)
    quarter, inclined = element.chain
    assert quarter == FixedStep(((0, -1, 0), (1, 0, 0), (0, 0, 1)))  # pyright: ignore[reportArgumentType]
    assert isinstance(inclined, FixedStep)
    rows = inclined.rotation
    products = [[sum(a * b for a, b in zip(r, s, strict=True)) for s in rows] for r in rows]
    assert products == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_places_and_forces() -> None:
    found = model(
        "K: Rz(phi)",
        {"kind": "force", "force": ["F*cos(phi)", "2*F", 0], "at": ["x", 0, "t"]},
        {"kind": "force", "force": [0, 0, "F"], "at": "K", "to": {"on": "ground"}, "axes": "K"},
        {"kind": "moment", "moment": [0, 0, "F + der(x)"], "on": "K"},
        {"kind": "moment", "moment": "F", "along": "x - phi"},
        {"kind": "elastic", "stiffness": 3, "ends": ["K", [0, 0, 1]], "rest": "t"},
    )
    first, second, moment, effort, spring = found.elements[1:]
    assert isinstance(first, ForceElement)
    assert first.at == ElementPoint("ground", (Identifier("x"), Fraction(0), Identifier("t")))
    assert isinstance(second, ForceElement)
    assert (second.at, second.to, second.axes) == (ElementPoint("K"), ElementPoint("ground"), "K")
    assert isinstance(moment, MomentElement)
    assert moment.to is None
    assert isinstance(effort, EffortElement)
    assert isinstance(spring, ElasticElement)
    assert spring.rest == Identifier("t")
    assert [element.name for element in found.elements][1:3] == ["force2", "force3"]


BODY = {"kind": "body", "name": "K", "mass": 1}


@pytest.mark.parametrize(
    ("elements", "message", "element"),
    [
        ([{"kind": "bodi"}], "no element of the kind 'bodi'", "element 1"),
        ([{}], "expected a text, got nothing", "element 1"),
        ([{**BODY, "masses": 2}], "unknown field 'masses'", "element 'K'"),
        ([{**BODY, "mass": -1}], "the number is negative", "element 'K', mass"),
        ([{**BODY, "chain": "Sw(1)"}], "not a step of a chain", "element 'K', chain, step 1"),
        ([{**BODY, "chain": "Sx(1), Rx"}], "not a step of a chain", "element 'K', chain, step 2"),
        ([{**BODY, "chain": "S(1, 2)"}], "S has 3 argument(s), found 2", "chain, step 1"),
        ([{**BODY, "chain": "Q(0,0,0,0)"}], "the quaternion is zero", "chain, step 1"),
        ([{**BODY, "chain": "Q(x,0,0,1)"}], "'x' is not a parameter", "chain, step 1"),
        ([{**BODY, "chain": "Sx(der(x))"}], "is a rate and cannot stand here", "chain, step 1"),
        ([{**BODY, "chain": "Sx(y)"}], "'y' is not known here", "chain, step 1"),
        ([{**BODY, "chain": "Sx(F)"}], "'F' is not known here", "chain, step 1"),
        ([{**BODY, "chain": 3}], "expected a text, got a number", "element 'K', chain"),
        ([{**BODY, "on": "L"}], "there is no frame named 'L'", "element 'K', on"),
        ([BODY, BODY], "the name is used twice", "element 'K'"),
        ([{**BODY, "name": "ground"}], "has this name", "element 'ground'"),
        ([{**BODY, "on": "L"}, "L~K: Sx(1)"], "in a circle: ", "elements"),
        (["K Rz(phi)"], "is not a body in short form", "element 1"),
        (["K: Rz(phi); m, 1, 2"], "cannot be distinguished", "element 1"),
        (["K: Rz(phi); m, Jz(2)"], "cannot be distinguished", "element 1"),
        ([{"text": "K: Rz(phi); 1", "kind": "frame"}], "the text is that of a body", "element 1"),
        ([{"text": "K: Rz(phi)", "chain": "Sx(1)"}], "given both in the text", "element 1"),
        ([{"kind": "elastic", "stiffness": 1}], "found none", "element 'elastic1'"),
        (
            [{"kind": "elastic", "stiffness": 1, "deformation": "x", "ends": ["ground", "ground"]}],
            "found deformation and ends",
            "element 'elastic1'",
        ),
        (
            [{"kind": "elastic", "stiffness": -1, "deformation": "x"}],
            "the number is negative",
            "element 'elastic1', stiffness",
        ),
        (
            [{"kind": "elastic", "deformation": "x", "rest": "x"}],
            "is a coordinate and cannot stand here",
            "element 'elastic1', rest",
        ),
        ([{"kind": "force", "at": "ground"}], "'force' is missing", "element 'force1'"),
        (
            [{"kind": "force", "force": [1, 2], "at": "ground"}],
            "expected 3 entries, got 2",
            "force",
        ),
        ([{"kind": "force", "force": [1, 2, 3]}], "'at' is missing", "element 'force1'"),
        ([{"kind": "force", "force": [1, 2, 3], "at": 5}], "expected a table, got a number", "at"),
        (
            [{"kind": "force", "force": 1, "along": "x", "at": "ground"}],
            "'at' has no meaning together with 'along'",
            "element 'force1'",
        ),
        (
            [{"kind": "force", "force": ["F^2", 0, 0], "at": "ground"}],
            "F^2 is not linear in the unknown forces",
            "element 'force1', force[1]",
        ),
        (
            [{"kind": "moment", "moment": "x/(1 + F)", "along": "x"}],
            "x/(1 + F) is not linear in the unknown forces",
            "element 'moment1', moment",
        ),
        (
            [{"kind": "moment", "moment": [0, 0, 1], "on": "ground", "axes": "K"}],
            "there is no frame named 'K'",
            "element 'moment1', axes",
        ),
    ],
)
def test_mistakes_are_named(elements: list[Any], message: str, element: str) -> None:
    with pytest.raises(ReadError) as caught:
        model(*elements)
    assert message in caught.value.message
    assert element in str(caught.value.element)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"unknowns": ["x"]}, "belongs to a coordinate"),
        ({"unknowns": ["m"]}, "a parameter has this name"),
        ({"unknowns": ["a b"]}, "cannot stand in an expression"),
        ({"unknowns": ["F", "F"]}, "the name is used twice"),
        ({"define": {"F": "x"}}, "an unknown force has this name"),
        ({"define": {"t": "x"}}, "belongs to a coordinate, a rate or time"),
        ({"define": {"a": "b + x", "b": "2*a"}}, "in a circle: "),
        ({"define": {"a": "der(x)"}}, "is a rate and cannot stand here"),
        ({"define": {"sin": "x"}}, "cannot stand in an expression"),
    ],
)
def test_names_must_be_free(more: dict[str, Any], message: str) -> None:
    with pytest.raises(ReadError) as caught:
        model(**more)
    assert message in caught.value.message


def test_coordinates_beside_segments_are_refused() -> None:
    builder = cf.Mechanism.builder("arm").segment("a", axis="z", mass=1).coordinates("x")
    with pytest.raises(ReadError, match="coordinates are declared in a mechanism with segments"):
        builder.build()


@pytest.mark.parametrize(
    ("coordinates", "message"),
    [
        ([{"name": "x", "unit": "mm"}], "there is no unit 'mm'"),
        (["x", "x"], "the name is used twice"),
        (["m"], "a parameter has the same name"),
        ([{"name": "x", "units": "m"}], "unknown field"),
        ([3], "expected a text"),
    ],
)
def test_coordinates_are_checked(coordinates: list[Any], message: str) -> None:
    builder = cf.Mechanism.builder("model").parameter("m", 1).coordinates(*coordinates)
    with pytest.raises(ReadError, match=message):
        builder.build()


def test_coordinates_stand_in_q() -> None:
    builder = cf.Mechanism.builder("model")
    found = builder.coordinates("x", {"name": "phi", "unit": "rad", "rate": "w"}).build()
    assert (found.coordinates, found.rates) == (("x", "phi"), ("x", "w"))
    assert (found.nq, found.nv) == (2, 2)
    assert found.neutral().tolist() == [0, 0]
    assert found.coordinate_index("q2") == 1
    rows = found.describe()
    assert [row["unit"] for row in rows["coordinates"]] == ["", "rad"]
    assert [row["unit"] for row in rows["rates"]] == ["", "rad/s"]


@pytest.mark.parametrize("seed", range(4))
def test_random_models_are_written_and_read(seed: int) -> None:
    found = random_model(seed)
    assert plain(read_text(native_text(found), "json")) == plain(found)


def test_everything_is_written_and_read() -> None:
    found = everything()
    assert plain(read_text(native_text(found), "json")) == plain(found)
    assert found.quasi
    assert found.constraints[2].restitution == Fraction(1, 2)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_written_and_read(name: str) -> None:
    found = cf.read(f"examples/{name}.toml")
    assert plain(read_text(native_text(found), "json")) == plain(found)
    table = found.describe()["mechanism"]
    assert len(table["elements"]) == len(found.elements)


def test_a_description_has_a_row_for_each() -> None:
    description = everything().describe()
    table = description["mechanism"]
    assert len(table["elements"]) == 16
    kinds = {row["kind"] for row in table["elements"]}
    assert kinds >= {"body", "frame", "point", "force", "moment"}
    assert table["constraints"][0]["law"] == "x - reach/2 + t"
    assert table["constraints"][2]["law"] == "x + 2"
    assert description["total_mass"] == pytest.approx(2 + 1 + 1 + 1)


def test_parameters_become_numbers_or_stay() -> None:
    found = everything()
    numeric = parametrise(found, "numeric")
    assert [parameter.name for parameter in numeric.parameters] == ["free"]
    kept = parametrise(found, ["m", "g"])
    assert [parameter.name for parameter in kept.parameters] == ["g", "m", "free"]
    symbolic = parametrise(found, "symbolic")
    names = [parameter.name for parameter in symbolic.parameters]
    assert {"m", "I_2_xx", "com_4_y", "m_5", "free"} <= set(names)
    assert symbolic.parameters[names.index("m_5")].value == 1


def test_the_files_on_the_page_of_elements_are_read() -> None:
    texts = [block.text for block in blocks_of(DOCS / "elements.md") if block.fence == "```toml"]
    assert len(texts) == 4
    for text in texts:
        assert read_text(text, "toml").elements


def test_what_moves_nothing_or_is_not_used_is_told() -> None:
    builder = cf.Mechanism.builder("crane").coordinates("s", "phi", "idle").unknowns("F", "G")
    builder.define(reach="2*s", unused="3*phi")
    builder.element("arm: Sx(reach), Rz(phi)").element("load~arm: Sx(1); 5")
    builder.element(kind="force", force=["F", 0, 0], at="load")
    told = [(note.level, note.element) for note in builder.build().notes]
    assert told == [
        ("warning", "coordinate 'idle'"),
        ("note", "unknown 'G'"),
        ("note", "definition 'unused'"),
    ]
    builder.element(kind="inertia", inertia=2, along="q3 + s")
    assert [note.level for note in builder.build().notes] == ["note", "note"]


@pytest.mark.parametrize(
    ("element", "message", "remedy"),
    [
        (
            {"kind": "force", "force": "3", "at": "P"},
            "one law needs 'along'",
            "three laws and 'at'",
        ),
        ({"kind": "force", "force": [1, 0, 0]}, "'at' is missing", "one law and 'along'"),
        ({"kind": "moment", "moment": [1, 0, 0]}, "'on' is missing", "one law and 'along'"),
        ({"kind": "force", "force": ["F", 0, 0], "at": "P"}, "'F' is not known", "under unknowns"),
        (
            {"kind": "elastic", "deformation": "der(s)"},
            "is a rate",
            "allowed are coordinates, t, positions as x(tip), r,",
        ),
        (
            {"kind": "elastic", "rest": "s", "deformation": "s"},
            "a coordinate and",
            "allowed are t,",
        ),
    ],
)
def test_remedies(element: dict[str, object], message: str, remedy: str) -> None:
    builder = cf.Mechanism.builder("crane").coordinates("s").define(r="s^2")
    builder.element("P: Sx(s); 3").element(**element)
    with pytest.raises(cf.Error, match=message) as caught:
        builder.build()
    assert remedy in (caught.value.remedy or "")


def test_elements_without_coordinates_are_told_so() -> None:
    with pytest.raises(cf.Error, match="have no coordinates"):
        cf.Mechanism.builder("block").element("P: Sx(1); 3").build()


def test_springs_of_joints_are_elements_here() -> None:
    builder = cf.Mechanism.builder("block").coordinates("s").element("P: Sx(s); 3")
    with pytest.raises(cf.Error) as caught:
        builder.spring(joint="s", stiffness=3).build()
    assert 'kind = "elastic"' in (caught.value.remedy or "")


STRANGE: list[Any] = [5, "text", [1], object(), {1, 2}, 1j, np.zeros(3)]


@pytest.mark.parametrize("value", STRANGE)
def test_tables_of_programs_are_checked(value: Any) -> None:
    words = ("define", "spring_table", "force_table", "actuator_table", "constraint_table")
    for word in (*words, "quasi_table", "element"):
        builder = cf.Mechanism.builder("model").coordinates("x")
        with pytest.raises(ReadError):
            getattr(builder, word)(value).build()
    builder = cf.Mechanism.builder("model").coordinates("x").constraint(value, "x")
    with pytest.raises(ReadError, match=r"expected a text|no constraint of the kind"):
        builder.build()
