"""Base parameters: their number is the rank of the regressor, and their formulas are exact."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import DeriveError
from chainform.expressions import parse
from chainform.mechanism import ZERO, BaseMotion, parametrise, with_unit_quaternions
from chainform.pipeline import available_outputs
from chainform.readers import export_urdf, native_text, read_text
from modified_dh import ARMS, arm

pytestmark = pytest.mark.any_processor

BODY: dict[str, Any] = {
    "mass": "1.5",
    "com": ["0.1", "0.2", "0.3"],
    "inertia": {"xx": 2, "xy": "0.1", "xz": "0.2", "yy": 3, "yz": "0.3", "zz": 4},
}


def chain(*joints: dict[str, Any], gravity: Any = (0, 0, "-9.81")) -> cf.Mechanism:
    """Return a chain of bodies, one for each joint."""
    builder = cf.Mechanism.builder("chain", gravity=gravity)
    for name in ("p", "g"):
        builder.parameter(name, "0.7")
    for number, joint in enumerate(joints, 1):
        parent = f"b{number - 1}" if number > 1 else "ground"
        table: dict[str, Any] = {"name": f"b{number}", "parent": parent, **BODY, **joint}
        builder.segment(**table)
    return builder.build()


def turning(axis: Any = "z", **more: Any) -> dict[str, Any]:
    return {"axis": axis, "position": ["0.4", "0.5", "0.6"], **more}


def sliding(axis: Any = "z", **more: Any) -> dict[str, Any]:
    return turning(axis, joint="prismatic", **more)


MASSLESS: dict[str, Any] = {"mass": 0, "com": None, "inertia": None}
INCLINED = ["3/5", 0, "4/5"]
FOLLOWING = {"mimic": {"joint": "b1", "ratio": "-3/2", "offset": "0.2"}}

CASES = {
    "one axis along gravity": chain(turning()),
    "one axis across gravity": chain(turning("y")),
    "one inclined axis": chain(turning(INCLINED)),
    "scara": chain(turning(), turning(), sliding(), turning()),
    "planar": chain(turning("y"), turning("y"), turning("y")),
    "no gravity": chain(turning(), turning("x"), turning("y"), gravity=(0, 0, 0)),
    "gravity across the first": chain(turning(), turning("x"), gravity=(0, 0, 0)),
    "inclined axes": chain(turning(INCLINED), turning([0, "5/13", "12/13"]), turning(INCLINED)),
    "slides": chain(sliding(), sliding("x"), sliding("x"), sliding("y")),
    "slide along the axis before": chain(turning(), sliding(), turning("x")),
    "slide before turns": chain(sliding("x"), turning(), turning()),
    "universal joint": chain(turning("x", **MASSLESS), turning("y", position=None), turning()),
    "massless between": chain(turning(), turning("x"), turning("y", **MASSLESS), turning("x")),
    "payload": chain(turning(), turning("x"), {"joint": "fixed", "position": [1, 2, 3]}),
    "body behind a massless one": chain(
        turning("x", **MASSLESS), turning(joint="fixed"), turning("y")
    ),
    "fixed to the ground": chain({"joint": "fixed"}, turning("x"), turning("y")),
    "sphere": chain({"joint": "spherical"}, turning("x")),
    "sphere behind": chain(turning(), turning("x"), {"joint": "spherical", "position": [1, 2, 3]}),
    "free": chain({"joint": "free"}, turning("x"), sliding("y")),
    "two free": chain({"joint": "free"}, {"joint": "free"}),
    "coupled": chain(turning(), turning("z", **FOLLOWING), turning("x")),
    "coupled slides": chain(sliding(), sliding("x", **FOLLOWING), sliding("x")),
    "rotors": chain(*(turning(axis, rotor_inertia=3, gear_ratio=5) for axis in "zxxy")),
    "friction": chain(turning("z", friction={"viscous": 2, "coulomb": 3}), turning("x")),
}


def ranks(mechanism: cf.Mechanism) -> tuple[int, Any]:
    """Return the numeric rank of the regressor, and what base_regressor leaves of it."""
    base = mechanism.base_parameters()
    model = cf.derive(mechanism, ["regressor", "base_regressor"])
    rng = np.random.default_rng(3)
    q = [with_unit_quaternions(mechanism, q) for q in rng.uniform(-1, 1, (60, mechanism.nq))]
    qd, qdd = rng.uniform(-1, 1, (2, 60, mechanism.nv))
    found = model.evaluate(q=q, qd=qd, qdd=qdd)
    rows = found["regressor"].reshape(-1, len(base.parameters))
    rest = rows - found["base_regressor"].reshape(-1, len(base)) @ base.matrix()
    singular = np.linalg.svd(rows, compute_uv=False)
    return int(np.sum(singular > 1e-10 * singular[0])), np.abs(rest).max() / np.abs(rows).max()


@pytest.mark.parametrize("name", CASES)
def test_number_is_the_rank_and_formulas_give_every_column(name: str) -> None:
    rank, rest = ranks(CASES[name])
    assert len(CASES[name].base_parameters()) == rank
    assert rest <= 1e-13


@pytest.mark.parametrize("name", CASES)
def test_model_in_base_parameters_has_the_same_drives(name: str) -> None:
    mechanism = CASES[name]
    outputs = ["inverse_dynamics", "mass_matrix", "coriolis_matrix", "gravity"]
    models = [cf.derive(mechanism, outputs, parameters=how) for how in ("numeric", "base")]
    assert list(models[1].free_parameters) == list(mechanism.base_parameters().names)
    rng = np.random.default_rng(4)
    q = with_unit_quaternions(mechanism, rng.uniform(-1, 1, mechanism.nq))
    qd, qdd = rng.uniform(-1, 1, (2, mechanism.nv))
    numeric, base = (model.evaluate(q=q, qd=qd, qdd=qdd) for model in models)
    for output in outputs:
        np.testing.assert_allclose(base[output], numeric[output], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("name", "count"), [("puma560", 36), ("stanford", 33), ("rx90", 36)])
@pytest.mark.parametrize("parameters", ["numeric", "symbolic"])
def test_published_numbers(name: str, count: int, parameters: str) -> None:
    assert len(arm(name).base_parameters(parameters)) == count


def test_formulas_of_the_puma() -> None:
    base = arm("puma560").base_parameters("symbolic")
    texts = {entry.name: str(entry) for entry in base}
    assert texts["my_5R"] == "my_5R = my_5 + mz_6"
    assert texts["Ixx_6R"] == "Ixx_6R = Ixx_6 - Iyy_6"
    assert texts["mx_3R"] == "mx_3R = mx_3 + D4*m_4 + D4*m_5 + D4*m_6"
    assert texts["Ixy_3R"].startswith("Ixy_3R = Ixy_3 - D4*RL4*m_4 - D4*mz_4")
    assert texts["Izz_2R"].startswith("Izz_2R = Izz_2 + D3^2*m_3")
    assert texts["Iyz_2"] == "Iyz_2 = Iyz_2"
    assert base.without_effect[:4] == ("m_1", "mx_1", "my_1", "mz_1")
    assert base.groups["Iyy_6"] == ("Ixx_5R", "Izz_5R", "Ixx_6R")


def test_coefficients_that_depend_on_lengths_and_gravity() -> None:
    slide = sliding(position=["p", 0, 0])
    base = chain(turning(), slide).base_parameters("symbolic")
    assert str(base.entries[0]).startswith("Izz_1R = Izz_1 + 2*p*mx_2 + Izz_2")
    light = chain(turning(**MASSLESS), slide).base_parameters("symbolic")
    assert [str(entry) for entry in light] == ["Izz_2R = Izz_2 + 2*p*mx_2", "m_2 = m_2"]
    counter = chain(turning(rotor_inertia=3, **MASSLESS), slide).base_parameters("symbolic")
    assert counter.groups["rotor_1"] == ("Izz_2R",)


def test_a_quotient_of_parameters_where_nothing_else_will_do() -> None:
    builder = cf.Mechanism.builder("gears").parameter("l", 3).parameter("k", 5)
    builder.segment("a", parent="ground", axis="z", rotor_inertia=1, gear_ratio="l")
    follow = {"joint": "a", "ratio": 2}
    builder.segment("b", parent="ground", axis="z", rotor_inertia=1, gear_ratio="k", mimic=follow)
    builder.segment("c", parent="ground", axis="z", **BODY)
    mechanism = builder.build()
    base = mechanism.base_parameters("symbolic")
    assert str(base.entries[-1]) == "rotor_1R = rotor_1 + 4*k^2/l^2*rotor_2"
    assert mechanism.base_parameters().values["rotor_1R"] == 1 + Fraction(100, 9)


def with_springs(*springs: dict[str, Any]) -> cf.Mechanism:
    mechanism = chain(turning("y", rotor_inertia=3, friction={"viscous": 2}), turning("x"))
    table = json.loads(native_text(mechanism))
    return read_text(json.dumps({**table, "springs": list(springs)}), "json")


HANGING = [
    {"segment": "ground", "point": ["0.4", "0.5", "1.9"]},
    {"segment": "b1", "point": ["0.3", 0, 1]},
]
SPRINGS: dict[str, list[dict[str, Any]]] = {
    "a spring grouped with weights": [
        {"ends": HANGING, "stiffness": 7, "rest": "0.2", "damping": "0.1"}
    ],
    "two springs in a joint": [
        {"joint": "b2", "stiffness": 7},
        {"joint": "b2", "stiffness": 5, "rest": "0.3", "damping": 2},
    ],
    "preload alone": [{"joint": "b1", "preload": 3}],
}


@pytest.mark.parametrize("name", SPRINGS)
def test_springs_in_base_parameters(name: str) -> None:
    mechanism = with_springs(*SPRINGS[name])
    rank, rest = ranks(mechanism)
    assert len(mechanism.base_parameters()) == rank
    assert rest <= 1e-13
    models = [cf.derive(mechanism, ["tau", "qdd"], parameters=how) for how in ("numeric", "base")]
    state = dict(zip(("q", "qd", "qdd", "tau"), np.linspace(-1, 1, 8).reshape(4, 2), strict=True))
    numeric, base = (model.evaluate(**state) for model in models)
    for output, expected in numeric.items():
        np.testing.assert_allclose(base[output], expected, rtol=1e-12)


def test_shares_that_are_rounding_are_refused() -> None:
    """A slide that is level but for the rounding of its angles, with a preloaded spring."""
    slide = {"name": "j", "type": "prismatic", "axis": "y", "rotor_inertia": "0.01"}
    segment = {"name": "b", "joint": slide, "rpy": [0, "-0.4", "0.08"], "mass": 2}
    table = {"segments": [segment], "springs": [{"joint": "j", "stiffness": 24, "rest": "0.1"}]}
    level = read_text(json.dumps(table), "json")
    with pytest.raises(DeriveError, match="but for the rounding of angles"):
        level.base_parameters()
    table["segments"] = [{**segment, "rpy": [0, 0, "pi/2"]}]
    assert len(read_text(json.dumps(table), "json").base_parameters()) == 3


def test_weights_are_refused_where_a_spring_is_grouped_with_them() -> None:
    mixed, separate = (with_springs(*springs) for springs in list(SPRINGS.values())[:2])
    assert [entry.leader.name for entry in mixed.base_parameters().mixed] == ["mx_1", "mz_1"]
    for output in ("gravity", "bias", "passive", "d(gravity)/d(q)", "Cz(bias)"):
        with pytest.raises(cf.Error, match="has the effect of a weight"):
            cf.derive(mixed, [output], parameters="base")
        cf.derive(mixed, [output])
        cf.derive(separate, [output], parameters="base")


def test_rotors_of_the_first_joints_are_grouped_with_inertia() -> None:
    """The RX90 has 36 base parameters, and 40 with rotors: those of joints 3 to 6 stay apart."""
    plain = arm("rx90")
    builder = cf.Mechanism.builder("rx90", gravity=[0, 0, "-9.81"])
    for j, segment in enumerate(plain.segments, 1):
        position = [0.45 if n == "D3" else 0 for n in (ARMS["rx90"].d.get(j), None, None)]
        if j == 4:
            position = [0, 0.45, 0]
        builder.segment(
            segment.name,
            parent=f"body{j - 1}" if j > 1 else "ground",
            axis="z",
            position=position,
            rotation=segment.rotation,
            rotor_inertia=1,
            **BODY,
        )
    base = builder.build().base_parameters()
    assert len(base) == 40
    assert [name for name in base.names if name.startswith("rotor")] == [
        f"rotor_{j}" for j in (3, 4, 5, 6)
    ]
    assert base.groups["rotor_1"] == ("Izz_1R",)
    assert base.groups["rotor_2"] == ("Izz_2R",)


def test_values_are_exact() -> None:
    base = CASES["scara"].base_parameters()
    assert all(isinstance(value, Fraction) for value in base.values.values())
    parameters = {p.name: p.value for p in CASES["scara"].dynamic_parameters()}
    assert parameters["m_1"] == Fraction(3, 2)
    assert parameters["mx_1"] == Fraction(3, 20)
    assert parameters["Ixx_1"] == 2 + Fraction(3, 2) * (Fraction(4, 100) + Fraction(9, 100))
    assert parameters["Ixy_1"] == Fraction(1, 10) - Fraction(3, 2) * Fraction(2, 100)


def test_entries_by_name_and_symbols_without_values() -> None:
    base = CASES["planar"].base_parameters()
    assert base[base.names[1]] is base.entries[1]
    with pytest.raises(cf.Error, match="did you mean"):
        base[base.names[1] + "x"]
    symbolic = CASES["planar"].base_parameters("symbolic")
    with pytest.raises(cf.Error, match=r"is a symbol(.|\n)*base_parameters\(\) with numbers"):
        symbolic.vector()


def test_numbers_without_a_residue() -> None:
    """The denominator is the prime, and the numerator of the other is."""
    prime = 2**61 - 1
    mechanism = chain(turning(), turning("x", position=[f"1/{prime}", f"{prime}/7", 0]))
    assert len(mechanism.base_parameters()) == len(chain(turning(), turning("x")).base_parameters())


def test_refusals() -> None:
    empty = chain(turning(**MASSLESS))
    with pytest.raises(cf.Error, match="no body has a mass"):
        empty.dynamic_parameters()
    with pytest.raises(cf.Error, match="has elements"):
        CASES["planar"].as_elements().base_parameters()
    with pytest.raises(cf.Error, match="has elements"):
        cf.derive(CASES["planar"].as_elements(), ["regressor"])
    with pytest.raises(cf.Error, match="does not follow from the base parameters"):
        cf.derive(CASES["planar"], ["com"], parameters="base")
    with pytest.raises(cf.Error, match="cannot be left out"):
        cf.derive(CASES["planar"], ["tau"], parameters="base", without=["rotors"])
    with pytest.raises(cf.Error, match="has a first moment"):
        cf.derive(CASES["planar"], ["H"], parameters="base", formulation="closed_form")
    with pytest.raises(cf.Error, match="'com_\\*' is part of the base parameters"):
        cf.derive(CASES["planar"], ["tau"], parameters=["base", "com_*"])
    with pytest.raises(cf.Error, match="did you mean 'base'"):
        cf.derive(CASES["planar"], ["tau"], parameters="bas")
    moving = replace(CASES["planar"], base=BaseMotion(position=(parse("t^2"), ZERO, ZERO)))
    with pytest.raises(cf.Error, match="law of time"):
        moving.base_parameters()
    assert "base_regressor" not in available_outputs(moving)
    assert "regressor" in available_outputs(moving)
    builder = cf.Mechanism.builder("clash").parameter("Izz_1R", 2)
    builder.segment("b", parent="ground", axis="z", position=["Izz_1R", 0, 0], **BODY)
    builder.segment("c", parent="b", axis="z", position=[1, 0, 0], **BODY)
    with pytest.raises(cf.Error, match="has the name of a base parameter"):
        cf.derive(builder.build(), ["tau"], parameters=["base", "Izz_1R"])


def test_a_model_in_base_parameters_is_stored_bound_and_derived_again(tmp_path: Path) -> None:
    mechanism = CASES["rotors"]
    model = cf.derive(mechanism, ["inverse_dynamics", "base_regressor"], parameters="base")
    store = cf.open_store(f"sqlite:///{tmp_path / 'models.db'}")
    store.save(model, "chain")
    stored = store.load("chain")
    assert stored.free_parameters == model.free_parameters
    assert stored.settled.segments == model.settled.segments
    bound = stored.bind({"Izz_1R": "1/3", "rotor_4": 0})
    assert "Izz_1R" not in bound.free_parameters
    store.save(bound, "bound")
    again = store.load("bound")
    derived = cf.derive(again.mechanism, ["inverse_dynamics"], parameters=again.parameters)
    q, qd, qdd = np.random.default_rng(5).uniform(-1, 1, (3, mechanism.nv))
    expected = model.evaluate(q, qd, qdd, values={"Izz_1R": 1 / 3, "rotor_4": 0})
    for other in (bound, again, derived):
        found = other.evaluate(q, qd, qdd, outputs=["tau"])["tau"]
        np.testing.assert_allclose(found, expected["inverse_dynamics"], rtol=1e-12)
    values = {**stored.free_parameters, "Izz_1R": Fraction(1, 3), "rotor_4": Fraction(0)}
    drives = expected["base_regressor"] @ np.array([float(v or 0) for v in values.values()])
    np.testing.assert_allclose(drives, expected["inverse_dynamics"], rtol=1e-12)


def test_first_moments_are_refused_where_mass_centres_are_needed() -> None:
    bound = cf.derive(CASES["planar"], ["tau"], parameters="base").bind({"mx_1R": 1}).mechanism
    assert any(any(segment.body.moment) for segment in bound.segments)
    with pytest.raises(cf.Error, match="has a first moment"):
        bound.as_elements()
    with pytest.raises(cf.Error, match="has a first moment"):
        export_urdf(bound)


def test_the_mechanism_of_a_bound_model_moves_and_refuses_what_it_cannot_tell() -> None:
    arm = cf.read(Path(__file__).parents[3] / "examples/six_axis_arm.toml")
    base = arm.base_parameters()
    model = cf.derive(arm, ["inverse_dynamics"], parameters="base")
    # A body of base parameters is no body that could be built.
    bodies = model.bind(base.values).mechanism
    inertia = [segment.body.inertia for segment in parametrise(bodies, "numeric").segments]
    least = [np.linalg.eigvalsh(np.array(matrix, float))[0] for matrix in inertia]
    assert min(least) < 0
    runs = [cf.simulate(m, q0=[0.3] * 6, t=0.3) for m in (bodies, arm)]
    np.testing.assert_allclose(runs[0].q[-1], runs[1].q[-1], rtol=1e-6)
    np.testing.assert_allclose(*(r.energy[-1] - r.energy[0] for r in runs), atol=1e-6)
    names = [entry.name for entry in cf.quantities(bodies)]
    for output in ("reactions", "com", "momentum", "centroidal_momentum_matrix"):
        assert output not in names
        with pytest.raises(cf.Error, match="does not follow from bodies"):
            cf.derive(bodies, [f"d({output})/d(q)"])
    with pytest.raises(cf.Error, match="the mass matrix is singular"):
        cf.simulate(model.bind({**base.values, base.names[0]: -50}).mechanism, t=0.1)


def test_symbols_with_values_give_base_parameters_with_values() -> None:
    """A length that stays a symbol is part of the parameters it is grouped into."""
    mechanism = chain(turning(), turning("y", position=["p", "0.5", "0.6"]))
    numbers, symbols = (parametrise(mechanism, given) for given in (["base"], ["base", "p"]))
    expected = {p.name: p.value for p in numbers.parameters if p.name not in "pg"}
    assert len(expected) > 5
    assert None not in expected.values()
    assert {p.name: p.value for p in symbols.parameters if p.name not in "pg"} == expected
