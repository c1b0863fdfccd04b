"""Forced oscillations: against closed forms and long simulations; resonances; refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from unit.analysis.oscillators import oscillator, parallelogram, pendulums, spring_chain, top

EXAMPLES = Path(__file__).parents[3] / "examples"
TURN = 2 * np.pi


def test_an_oscillator_answers_as_the_textbook_says() -> None:
    """x/F = 1/(k - m w^2 + i d w), x' by i w more, and the spring and damper by their law."""
    hertz = np.linspace(0.0, 3, 31)
    w = TURN * hertz
    found = cf.frequency_response(oscillator(), ["x"], ["x", "der(x)", "qdd"], hertz)
    wanted = 1 / (50 - 2 * w**2 + 2j * w)
    G = found["real"] + 1j * found["imag"]
    assert G.shape == (31, 3, 1)
    for k, factor in enumerate((1, 1j * w, -(w**2))):
        assert G[:, k, 0] == pytest.approx(factor * wanted, rel=1e-12, abs=1e-13)
    assert found["amplitude"] == pytest.approx(np.abs(G))
    assert found["phase"][:, 0, 0] == pytest.approx(np.angle(wanted))
    assert found.facts["outputs"] == ["x", "der(x)", "der(der(x))"]


def test_plots_name_what_answers_to_what() -> None:
    found = cf.frequency_response(oscillator(), ["x"], ["x", "der(x)"], [0.3, 1.0, 30.0])
    above, below = found.plot(["amplitude", "phase"]).axes
    assert (above.get_xscale(), above.get_yscale(), below.get_yscale()) == ("log", "log", "linear")
    legend = above.get_legend() or below.get_legend()
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["x by tau(x)", "der(x) by tau(x)"]
    found = cf.frequency_response(oscillator(), {"x": 2.0}, ["x"], [0.3, 1.0])
    (axes,) = found.plot("amplitude").axes
    assert axes.get_ylabel() == "amplitude of x"
    assert axes.xaxis.get_major_formatter()(0.1) == "0.1"


def test_resonances_are_peaks() -> None:
    """|x| is largest at w0 sqrt(1 - 2 D^2), |x'| at w0, |x''| at w0 / sqrt(1 - 2 D^2)."""
    found = cf.frequency_response(oscillator(), ["x"], ["x", "der(x)", "qdd"], [0.3, 1.1, 2, 5])
    w0, D = 5.0, 0.1
    side = np.sqrt(1 - 2 * D**2)
    peaks = [row[2] * TURN for row in found.facts["resonances"]]
    assert peaks == pytest.approx([w0 * side, w0, w0 / side], rel=1e-6)
    sizes = [row[3] for row in found.facts["resonances"]]
    assert sizes[:2] == pytest.approx([1 / (4 * D * 25 * np.sqrt(1 - D**2)), 1 / 2], rel=1e-10)
    assert "resonance of x by tau(x) at 0.787777 Hz" in found.report[1]


def test_amplitudes_with_phases_add_up() -> None:
    chain = spring_chain(3).with_forces({"m1": "-0.4*der(m1)"})
    each = cf.frequency_response(chain, ["m0", "m2"], ["m1", "m2"], [0.05, 0.2])
    both = cf.frequency_response(chain, {"m0": 2.5, "m2": [1.5, 0.7]}, ["m1", "m2"], [0.05, 0.2])
    G = each["real"] + 1j * each["imag"]
    wanted = G @ [2.5, 1.5 * np.exp(0.7j)]
    assert both["amplitude"] == pytest.approx(np.abs(wanted))
    assert both["phase"] == pytest.approx(np.angle(wanted))


@pytest.mark.parametrize("name", ["loop", "motor"])
def test_a_long_simulation_swings_as_much(name: str) -> None:
    """The last turns of a motion, after what moved besides has died out, fitted by sine and cosine.

    The amplitude is small, so that cubes of displacements are below the margin.
    """
    if name == "loop":
        mechanism, state = parallelogram(), {"q": [-np.pi / 2, np.pi / 2, -np.pi / 2]}
        laws: dict[str, Any] = {"forces": {"a": "-2*der(a)"}}
        source, coordinate, size, w = "a", "a", 1e-2, 4.0
        driven: Any = {"forces": {"a": f"-2*der(a) + {size}*cos({w}*t)"}}
    else:
        mechanism = cf.read(EXAMPLES / "driven_arm.toml")
        model, still = cf.derive(mechanism, ["inverse_dynamics"]), np.zeros(mechanism.nv)
        hold = model.evaluate(q=still, qd=still, qdd=still)["inverse_dynamics"]
        state = {"tau": hold}
        pd = {"type": "pd", "kp": 60, "kd": 6}
        laws = {"controllers": dict.fromkeys(mechanism.rates, pd)}
        source, coordinate, size, w = mechanism.signals[0], mechanism.rates[0], 1e-2, 3.0
        driven = {**laws, "signals": {source: f"{size}*cos({w}*t)"}}
        driven["forces"] = dict(zip(mechanism.rates, hold.tolist(), strict=True))
    found = cf.frequency_response(
        mechanism, {source: size}, [coordinate], w / TURN, state=state, **laws
    )
    assert not [line for line in found.report if "decay" in line or "grow" in line]
    t = 60 + np.linspace(0, 2 * TURN / w, 41)
    run = cf.simulate(mechanism, q0=state.get("q"), t=t[-1], t_eval=[0.0, *t], **driven)
    k = mechanism.rates.index(coordinate)
    columns = np.stack([np.cos(w * t), -np.sin(w * t), np.ones_like(t)], axis=1)
    (real, imag, _), *_ = np.linalg.lstsq(columns, run.q[1:, k], rcond=None)
    wanted = found["real"][0, 0] + 1j * found["imag"][0, 0]
    assert complex(real, imag) == pytest.approx(wanted, rel=1e-4)


def test_outputs_that_change_under_laws_of_time_are_refused() -> None:
    builder = cf.Mechanism.builder("shaken", gravity=(0, 0, "-9.81"))
    builder.segment("rod", axis="y", mass=1, com=[0, 0, "-0.5"], inertia=[0, "0.1", 0])
    shaken = builder.base({"position": [0, 0, "0.2*sin(3*t)"]}).build()
    with pytest.raises(cf.Error, match="no steady motion: with laws of time"):
        cf.frequency_response(shaken, ["rod"], ["rod", "der(rod)", "qdd"], [1.0])


def test_the_response_of_a_steady_motion_is_that_of_its_gyroscopic_equations() -> None:
    """A turned top under a torque about x, seen in space: 2 x 2 equations in two angles."""
    spin, w = 60.0, np.array([1.0, 8.0, 20.0])
    A, C, moment = 0.2, 0.05, 2 * 9.81 * 0.3
    found = cf.frequency_response(
        top("cardan"), ["outer"], ["outer", "inner"], w / TURN, state={"qd": [0, 0, spin]}
    )
    G = (found["real"] + 1j * found["imag"])[:, :, 0]
    for k, s in enumerate(1j * w):
        matrix = [[A * s**2 - moment, C * spin * s], [-C * spin * s, A * s**2 - moment]]
        assert G[k] == pytest.approx(np.linalg.solve(matrix, [1, 0]), rel=1e-9)
    assert "do not decay" in found.report[-1]


def test_what_is_unstable_says_so() -> None:
    found = cf.frequency_response(pendulums(1), ["p1"], ["p1"], [1.0], state={"q": [np.pi]})
    assert found.report[-1] == "unstable: no motion approaches the forced one, mode 1 grows"
    wanted = 1 / (1.5 * (0.25 * -(TURN**2) - 9.81 * 0.5))
    assert found["real"][0, 0, 0] == pytest.approx(wanted, rel=1e-12)


def test_frequencies_are_chosen_about_the_modes() -> None:
    found = cf.frequency_response(oscillator(), ["x"], ["x"])
    assert len(found) == 401
    assert found["frequency"][[0, -1]] * TURN == pytest.approx([0.5, 50], rel=1e-12)
    some = cf.frequency_response(oscillator(), ["x"], ["x"], {"from": 1, "to": 100, "count": 3})
    assert some["frequency"] == pytest.approx([1, 10, 100])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"frequencies": [np.sqrt(1.5) / TURN * np.sqrt(2)]}, "mode 1 swings with 0.275664 Hz"),
        ({"inputs": ["m7"]}, "m7"),
        ({"inputs": {"m0": 1, "tau(m0)": 2}}, "an amplitude belongs to one input"),
        ({"inputs": {"m0": "much"}}, "number"),
        ({"outputs": ["m7"]}, "m7"),
        ({"outputs": []}, "no output is named"),
        ({"row": 2}, "from 1 to 1"),
        ({"frequencies": [-1]}, "frequencies"),
        ({"frequencies": []}, "0 frequencies"),
        ({"frequencies": {"from": 0, "to": 1}}, "from"),
        ({"state": {"q": [0.1]}}, "no equilibrium"),
    ],
)
def test_what_is_refused(given: dict[str, Any], message: str) -> None:
    whole: dict[str, Any] = {"inputs": ["m0"], "outputs": ["m0"], "frequencies": [1.0]}
    with pytest.raises(cf.Error, match=message):
        cf.frequency_response(spring_chain(1), **{**whole, **given})


@pytest.mark.parametrize(
    ("inputs", "frequencies", "element"),
    [
        (["x"], [1e308], "frequencies"),
        (["x"], {"from": 1, "to": 1e308}, "to"),
        ({"x": 1e308}, [0.1], "inputs"),
    ],
)
def test_answers_beyond_numbers_are_refused_without_a_warning(
    inputs: Any, frequencies: Any, element: str
) -> None:
    builder = cf.Mechanism.builder("slider", gravity=(0, 0, 0))
    slider = builder.segment("x", joint="prismatic", axis="x", mass="1/100").build()
    with pytest.raises(cf.Error) as refusal:
        cf.frequency_response(slider, inputs, ["x"], frequencies, forces={"x": "-x - der(x)"})
    assert element in str(refusal.value.element)
