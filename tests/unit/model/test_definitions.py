"""Outputs of one's own: expressions over inputs and quantities of a model."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import RunError
from chainform.graph import verify

pytestmark = pytest.mark.usefixtures("short_walks")

ARM = """
name = "arm"
[[segments]]
name = "upper"
parent = "ground"
joint = {type = "revolute", axis = "y", name = "shoulder"}
mass = 2
com = [0.2, 0, 0.1]
inertia = [0.1, 0.2, 0.3]
[[segments]]
name = "lower"
parent = "upper"
joint = {type = "revolute", axis = "y", name = "elbow"}
position = [0.5, 0, 0]
mass = "m"
com = [0.2, 0, 0]
inertia = [0.1, 0.2, 0.3]
[parameters]
m = 1.5
k = 7
"""
STATE: dict[str, Any] = {"q": [0.3, -0.4], "qd": [0.7, 1.1], "qdd": [-0.2, 0.5]}
OUTPUTS = ("H", "inverse_dynamics", "kinetic_energy")


@cache
def arm(*outputs: str, parameters: str = "numeric") -> cf.Model:
    from chainform.readers import read_text

    return cf.derive(read_text(ARM, "toml"), list(outputs or OUTPUTS), parameters=parameters)


def value(model: cf.Model, text: str) -> Any:
    """Return the value of one more output."""
    more = model.with_outputs({"more": text})
    verify(more.graph)
    return more.evaluate(**STATE, outputs=["more"])["more"]


@pytest.fixture(params=["derived", "reduced"])
def model(request: pytest.FixtureRequest) -> cf.Model:
    return arm() if request.param == "derived" else arm().reduce("fast")


def test_power(model: cf.Model) -> None:
    more = model.with_outputs({"power": "tau1*qd1 + tau[2]*qd[2]", "half": "power/2"})
    assert more.outputs == (*model.outputs, "power", "half")
    assert more.reduction == model.reduction
    numbers = more.evaluate(**STATE)
    expected = numbers["inverse_dynamics"] @ np.array(STATE["qd"])
    assert numbers["power"] == pytest.approx(expected, rel=1e-12)
    assert numbers["half"] == pytest.approx(expected / 2, rel=1e-12)
    compiled = more.compile().power(STATE["q"], STATE["qd"], STATE["qdd"])
    assert compiled == pytest.approx(expected, rel=1e-12)
    text: dict[str, Any] = {}
    exec(more.emit("python", ["power"]), text)  # noqa: S102, our own program
    assert text["model"](**STATE)["power"] == pytest.approx(expected, rel=1e-12)
    assert more.reduce("fast").evaluate(**STATE)["power"] == pytest.approx(expected, rel=1e-12)
    assert more["power"].diff("qd1").evaluate(**STATE) == pytest.approx(
        numbers["inverse_dynamics"][0]
        + sum(
            model["inverse_dynamics"][i].diff("qd1").evaluate(**STATE) * STATE["qd"][i]
            for i in range(2)
        ),
        rel=1e-9,
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("q1 + 2*elbow - der(elbow)", 0.3 - 0.8 - 1.1),
        ("shoulder*qdd2", 0.15),
        ("k*m", 10.5),
        ("t^2", None),
        ("sin(q2)^2 + cos(q2)^2", 1.0),
        ("qd", [0.7, 1.1]),
        ("2*qd + qd", [2.1, 3.3]),
        ("[q1, [q2]]", None),
        ("[[q1, 1], [0, 1/3]]", [[0.3, 1], [0, 1 / 3]]),
        ("q[1:2]", [0.3, -0.4]),
        ("max(q1, q2, 0) + min(q1, q2)", -0.1),
    ],
)
def test_what_expressions_name(text: str, expected: Any) -> None:
    if expected is None:
        with pytest.raises(RunError):
            value(arm(), text)
    else:
        assert value(arm(), text) == pytest.approx(np.array(expected), rel=1e-12)


@pytest.mark.parametrize("text", ["H[1,2]", "H_1_2", "mass_matrix[1,2]", "H[ 1 , 2 ]"])
def test_entries(text: str) -> None:
    expected = arm().evaluate(**STATE)["mass_matrix"][0, 1]
    assert value(arm(), f"3*{text}") == pytest.approx(3 * expected, rel=1e-12)


def test_arrays(model: cf.Model) -> None:
    numbers = model.evaluate(**STATE)
    assert value(model, "H") == pytest.approx(numbers["mass_matrix"], rel=1e-12)
    assert value(model, "H[2,:]/kinetic_energy") == pytest.approx(
        numbers["mass_matrix"][1] / numbers["kinetic_energy"], rel=1e-12
    )
    assert value(model, "[H[1,:], 2*H[2,:]]")[1] == pytest.approx(2 * numbers["mass_matrix"][1])


def test_intermediate_quantities_of_a_reduced_model() -> None:
    derived = cf.derive(arm().mechanism, ["H"], formulation="closed_form")
    expected = value(derived, "Q_2[1,1]*2")
    reduced = derived.reduce("fast")
    more = reduced.with_outputs({"more": "Q_2[1,1]*2"})
    assert more.evaluate(**STATE)["more"] == pytest.approx(expected, rel=1e-12)


def test_what_tau_means() -> None:
    forward = arm("forward_dynamics")
    state: dict[str, Any] = {"q": STATE["q"], "qd": STATE["qd"], "tau": [2.0, 3.0]}
    power = forward.with_outputs({"power": "tau1*qd1 + tau[2]*qd2"}).evaluate(**state)["power"]
    assert power == pytest.approx(2 * 0.7 + 3 * 1.1)
    acceleration = forward.with_outputs({"a": "qdd1"}).evaluate(**state)
    assert acceleration["a"] == acceleration["forward_dynamics"][0]
    both = arm("forward_dynamics", "inverse_dynamics")
    for text, entry in (("tau1", "inverse_dynamics[1]"), ("qdd[2]", "forward_dynamics[2]")):
        with pytest.raises(RunError, match="may mean") as caught:
            both.with_outputs({"p": text})
        assert entry in str(caught.value)
        assert f"input({text})" in str(caught.value)
    clear = both.with_outputs({"p": "input(tau1) - inverse_dynamics[1]"})
    numbers = clear.evaluate(**state, qdd=STATE["qdd"])
    assert numbers["p"] == pytest.approx(2 - numbers["inverse_dynamics"][0])
    with pytest.raises(RunError, match="neither an input") as caught:
        arm("H").with_outputs({"p": "tau1*qd1"})
    assert "inverse_dynamics" in str(caught.value.remedy)


def test_a_name_with_two_meanings() -> None:
    from chainform.readers import read_text

    twice = read_text(ARM.replace('"elbow"', '"H"'), "toml")
    with pytest.raises(RunError, match="may mean") as caught:
        cf.derive(twice, ["H"]).with_outputs({"p": "H"})
    assert "mass_matrix" in str(caught.value)


def test_free_parameters() -> None:
    free = arm(parameters="symbolic")
    more = free.with_outputs({"load": "m*g + com_2_x"})
    assert more.evaluate(**STATE)["load"] == pytest.approx(1.5 * 9.81 + 0.2)
    assert more.evaluate(**STATE, values={"g": 1})["load"] == pytest.approx(1.7)
    assert more.bind({"g": 1}).evaluate(**STATE)["load"] == pytest.approx(1.7)


BAD: list[tuple[Any, str]] = [
    ({}, "no outputs"),
    ([], "table"),
    ({"H": "1"}, "short for mass_matrix"),
    ({"gravity": "1"}, "name of an output"),
    ({"com": "1"}, "name of an output"),
    ({"sin": "1"}, "word of expressions"),
    ({"q1": "1"}, "name of an input"),
    ({"t": "1"}, "name of an input"),
    ({"elbow": "1"}, "has a quantity"),
    ({"k": "1"}, "has a quantity"),
    ({"H_1_2": "1"}, "has a quantity"),
    ({"a b": "1"}, "not a name"),
    ({"": "1"}, "not a name"),
    ({"p": "p"}, "circle"),
    ({"p": "r", "r": ["p_1", "1"]}, "circle"),
    ({"p": "H*qd"}, "product of two arrays"),
    ({"p": "H + qd"}, "do not fit"),
    ({"p": "H[3,1]"}, "no such entry"),
    ({"p": "q3"}, "there is no q3"),
    ({"p": "nothing"}, "no quantity nothing"),
    ({"p": "kinetic_enrgy"}, "did you mean 'kinetic_energy'"),
    ({"p": "input(x)"}, "not an input"),
    ({"p": "cosh(q1)"}, "there is no function cosh"),
    ({"p": "q1^2", "r": "d(p)/d(q1)"}, "defined along with it"),
    ({"p": "1 +"}, "found the end"),
    ({"p": "1/0"}, "divides by zero"),
    ({"p": "(q1^64)^64"}, "above the power"),
    ({"p": "9^9^9"}, "exponent beyond"),
    ({"p": ["q1", ["q2"]]}, "different shapes"),
    ({"p": []}, "empty"),
    ({"p": object()}, "expected a number"),
    ({"p": float("nan")}, "finite"),
    ({"p": "x" * 200_000}, "characters"),
    ({"p": "(" * 200 + "q1" + ")" * 200}, "nested more than"),
    ({"p": ["q1"] * 2, "r": ["p"] * 400, "s": ["r"] * 400}, "entries"),
]


@pytest.mark.parametrize(("outputs", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_outputs(outputs: Any, message: str) -> None:
    with pytest.raises(RunError) as caught:
        arm().with_outputs(outputs)
    assert message in str(caught.value)
    assert caught.value.remedy


def test_derivatives_within_expressions_are_no_outputs() -> None:
    model = arm()
    more = model.with_outputs({"p": "d(H[1,1])/d(q2)*qd2"})
    assert more.outputs == (*model.outputs, "p")
    q, qd = [0.3, 0.4], [0.5, 0.6]
    slope = model.evaluate(q, outputs=["d(H[1,1])/d(q2)"])["d(H[1,1])/d(q2)"]
    assert np.isclose(more.evaluate(q, qd, outputs=["p"])["p"], slope * qd[1])
    assert more.reduce("fast").outputs == more.outputs


def test_stored_and_loaded(tmp_path: Path) -> None:
    more = arm().with_outputs({"power": "tau1*qd1", "v": ["q1", "H[2,2]"]})
    expected = more.evaluate(**STATE)
    with cf.open_store(tmp_path / "models.db") as store:
        store.save(more, "arm")
        loaded = store.load("arm")
        assert loaded.outputs == more.outputs
        assert loaded.defined == more.defined
        in_sql = store.evaluate("arm", **STATE, outputs=["power", "v[2]", "v"])
        assert in_sql["power"] == pytest.approx(expected["power"], rel=1e-12)
        assert in_sql["v[2]"] == pytest.approx(expected["v"][1], rel=1e-12)
        twice = loaded.with_outputs({"twice": "2*power"})
        assert store.save(twice, "arm").step == "define"
        assert store.revision("arm").parent == 1
        store.save(store.load("arm@1").with_outputs({"other": "power"}).reduce("fast"), "arm")
        steps = [(r.step, r.parent) for r in store.log("arm")]
        assert ("define", 1) in steps[2:]
        numbers = store.load("arm").evaluate(**STATE)
        assert numbers["other"] == pytest.approx(expected["power"], rel=1e-12)


def test_reduction_in_other_axes() -> None:
    """Expressions over outputs do not keep a reduction from other choices of axes."""
    from chainform.model.own_outputs import extension

    model = arm().with_outputs({"power": "tau1*qd1", "entry": "H_1_2"})
    assert extension(arm()) is not None
    with_own = extension(model)
    assert with_own is not None
    assert tuple(with_own(arm().graph).outputs) == model.outputs
    closed = cf.derive(arm().mechanism, ["H"], formulation="closed_form")
    assert extension(closed.with_outputs({"more": "Q_2[1,1]"})) is None
    assert extension(model.with_outputs({"more": model["H"] @ model["qd"]})) is None
    reduced = model.reduce("fast")
    assert reduced.outputs == model.outputs
    assert reduced.evaluate(**STATE)["power"] == pytest.approx(model.evaluate(**STATE)["power"])


# --- ranges of entries -----------------------------------------------------------------------


def test_ranges_everywhere(tmp_path: Path) -> None:
    model = arm()
    H = model.evaluate(**STATE)["mass_matrix"]
    texts = {"H[1:2,2]": H[:, 1], "H[:1]": H[:1], "H[2:,1:]": H[1:], "H[2:2,1]": H[1:, 0]}
    for text, expected in texts.items():
        assert model[text].shape == expected.shape
        assert model.evaluate(**STATE, outputs=[text])[text] == pytest.approx(expected)
        program = model.compile([text])
        assert program[program.outputs[0]](STATE["q"]) == pytest.approx(expected)
        assert model.emit("python", [text])
        assert model.count([text]) == model[text].count()
    with cf.open_store(tmp_path / "models.db") as store:
        store.save(model, "arm")
        for text, expected in texts.items():
            assert store.evaluate("arm", **STATE, outputs=[text])[text] == pytest.approx(expected)
            assert len(store.formula("arm", text).splitlines()) == expected.size
        for text in ("H[1:3]", "H[3:]", "H[0:1]", "H[2:1]"):
            with pytest.raises(RunError):
                model[text]
            with pytest.raises(cf.Error):
                store.formula("arm", text)
