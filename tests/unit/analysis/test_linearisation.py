"""Linear equations of small motions: against differences, textbooks and simulations; refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import chainform as cf
from bases import on_moving_base
from chainform.analysis import complete, linearise
from chainform.errors import RunError
from chainform.formulations import shares_of
from chainform.mechanism import with_unit_quaternions
from chainform.readers import read_text
from chainform.simulation import assemble, consistent_rates, rest_names, whole_states
from driven import driven_tree
from manifold import Manifold, differences
from pinocchio_oracle import pin
from robots import example_robot
from unit.simulation.linkages import slider_crank
from zoo import loaded_tree, random_tree

Array = NDArray[np.float64]
EXAMPLES = Path(__file__).parents[3] / "examples"


def example(name: str) -> cf.Mechanism:
    return cf.read(EXAMPLES / f"{name}.toml")


def cart_pole() -> cf.Mechanism:
    builder = cf.Mechanism.builder("cart pole", gravity=(0, 0, "-9.81"))
    builder.segment("cart", joint="prismatic", axis="x", mass="1.5")
    builder.segment(
        "pole",
        parent="cart",
        axis="y",
        mass="0.3",
        com=[0, 0, "0.4"],
        inertia=["0.016", "0.016", 0],
    )
    return builder.build()


def state_of(mechanism: cf.Mechanism, seed: int, q0: Any = None, t: float = 0.0) -> dict[str, Any]:
    """Return a state that fits loops and constraints, away from rest."""
    rng = np.random.default_rng(seed)
    start = with_unit_quaternions(mechanism, rng.uniform(-1, 1, mechanism.nq)) if q0 is None else q0
    q = assemble(mechanism, start, t=t)
    qd = consistent_rates(mechanism, q, rng.uniform(-1, 1, mechanism.nv), t=t)
    return {"q": q, "qd": qd, "tau": rng.uniform(-1, 1, mechanism.nv), "t": t}


def check(mechanism: cf.Mechanism, state: dict[str, Any], margin: float = 1e-7, **how: Any) -> None:
    """Compare A and B with differences."""
    found = linearise(mechanism, inputs=["tau"], **state, **how)
    rates = linearise(mechanism, outputs=["qd"], **state).outputs
    places = [mechanism.rates.index(name) for name in found.independent]
    rate_places = [rates.index(name) for name in found.states[len(places) :]]
    wanted = Manifold(mechanism, **state).rates(places, rate_places)
    own = np.hstack([found.A, found.B])[:, : wanted.shape[1]]
    assert np.abs(own - wanted).max() < margin * np.abs(wanted).max()


# --- against differences ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "q0"),
    [
        ("four_bar", [0.3, 0.5, 1.2]),
        ("six_axis_arm", None),
        pytest.param("squeezer", "neutral", marks=pytest.mark.slow),
        ("knife_edge", None),
        ("rolling_disc", [0.1, 0.2, 0.3, 0.2, 0.4]),
        ("sliding_links", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]),
        pytest.param("stewart", "neutral", marks=pytest.mark.slow),
        pytest.param(
            "biped", {"knee": 0.4, "swing_knee": 0.5, "hip": -0.1}, marks=pytest.mark.slow
        ),
    ],
)
def test_examples_agree_with_differences(name: str, q0: Any) -> None:
    mechanism = example(name)
    start = mechanism.neutral() if isinstance(q0, str) else q0
    check(mechanism, state_of(mechanism, 1, start))


@pytest.mark.parametrize("seed", [2, pytest.param(0, marks=pytest.mark.slow)])
def test_joints_with_quaternions_agree_with_differences(seed: int) -> None:
    mechanism = random_tree(seed, quaternions=True)
    check(mechanism, state_of(mechanism, seed))


@pytest.mark.parametrize("seed", range(3))
def test_loads_and_moving_bases_agree_with_differences(seed: int) -> None:
    tree = loaded_tree(seed)
    check(tree, state_of(tree, seed, t=0.31))
    moving = on_moving_base(random_tree(seed), seed)
    check(moving, state_of(moving, seed, t=0.31))


def test_constraints_with_other_choices_agree_with_differences() -> None:
    """The same motion in every choice of coordinates, and a law that moves with time."""
    bar = example("four_bar")
    state = state_of(bar, 3, [0.3, 0.5, 1.2])
    poles = [linearise(bar, independent=[name], **state).poles for name in bar.rates]
    for name in bar.rates:
        check(bar, state, independent=[name])
    # About a motion the frozen poles depend on the choice, about an equilibrium they do not.
    assert not np.allclose(poles[0], poles[1])
    driven = slider_crank("crank - 0.5 - 2*t - 0.3*sin(t)")
    start = state_of(driven, 0, [0.7, -0.5, 0.9], t=0.1)
    assert linearise(driven, **start).states == ()
    knife = example("knife_edge")
    sideways = state_of(knife, 5)
    check(knife, sideways, independent=["y"])
    assert "der(y)" in linearise(knife, independent=["y"], **sideways).states


def test_redundant_loops_and_laws_of_any_size_agree_with_differences() -> None:
    """A law that is a tiny multiple of what it says, and one that follows from others."""
    builder = cf.Mechanism.builder("beads", gravity=(0, 0, "-9.81"))
    for name, axis in (("x", "x"), ("y", "y"), ("z", "z")):
        parent = {"x": "ground", "y": "x", "z": "y"}[name]
        builder.segment(name, parent=parent, joint="prismatic", axis=axis, mass=1)
    builder.constraint("holonomic", "1e-9*(x^2 + y^2 + z^2 - 1)")
    builder.constraint("holonomic", "1000*(x^2 + y^2 + z^2 - 1)")
    builder.constraint("nonholonomic", "der(x) - y*der(z)")
    bead = builder.build()
    state = state_of(bead, 2, [0.4, 0.5, 0.6])
    found = linearise(bead, **state)
    assert len(found.states) == 3
    check(bead, state)


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 7])
def test_actuators_agree_with_the_complete_model(seed: int) -> None:
    """By differences of x', qdd and P as functions of q, qd, x and u (Turek 1993, (III.5))."""
    m, rng = driven_tree(seed).mechanism, np.random.default_rng(seed)
    sizes = [m.nq, m.nv, len(rest_names(m)), len(m.signals)]
    start = [rng.uniform(-1, 1, size) for size in sizes]
    model = cf.derive(m, ["complete_acceleration", "complete_model", "drives"])
    groups = {item.group for item in model.graph.inputs.values()}
    rest = [share.first + k for share in shares_of(m) for k in share.rest]

    def rates(z: Array) -> Array:
        q, qd, x, u = np.split(np.concatenate(start) + z, np.cumsum(sizes)[:-1])
        given: dict[str, Any] = {
            "q": q,
            "qd": qd,
            "x": whole_states(m, q, qd, x),
            "u": u,
            "tau": np.zeros(m.nv),
        }
        found = model.evaluate(**{g: array for g, array in given.items() if g in groups})
        qdd, drives = found["complete_acceleration"], found["drives"]
        return np.concatenate([qd, qdd, found["complete_model"][rest], drives])

    q, qd, x, u = start
    found = linearise(
        m, outputs=["drives"], q=q, qd=qd, x=dict(zip(rest_names(m), x, strict=True)), u=u
    )
    assert found.inputs == m.signals
    wanted = differences(rates, sum(sizes), 1e-3)
    error = np.abs(np.block([[found.A, found.B], [found.C, found.D]]) - wanted).max()
    assert error < 1e-9 * np.abs(wanted).max()


def driven_bar(prescribed: bool = False) -> cf.Mechanism:
    """A four-bar linkage whose crank has a motor, or a signal that prescribes its motion."""
    text = (EXAMPLES / "four_bar.toml").read_text()
    text = text.replace("[parameters]", "[parameters]\npush = 0.7")
    rows = {
        False: "A = [[0, 1, 0], [0, -0.1, 2], [0, -30, -40]]\nb = [0, 0, 10]\nf = [0, -3, 0]",
        True: "A = [[0, 1, 0], [-4, -1, 2], [0, 0, -40]]\nb = [0, 0, 10]\nf = [0, 0, 0]",
    }[prescribed]
    motor = f'[[actuators]]\nname = "motor"\njoint = "crank"\n{rows}\n'
    text += motor + "position = [1, 0, 0]\nvelocity = [0, 1, 0]\n"
    return read_text(text, "toml")


@pytest.mark.parametrize("prescribed", [False, True])
def test_actuators_on_loops_agree_with_simulated_motions(prescribed: bool) -> None:
    """How fast simulated motions depart from each other, by differences in time and states."""
    bar = driven_bar(prescribed)
    state = complete(bar, {"crank": 0.4}, {"crank": 0.9}, start=[0.4, 0.5, 1.2])
    found = linearise(bar, q=state.q, qd=state.qd, u=[0.7], x={"motor.x3": 0.1})
    assert found.states == ("crank", "der(crank)", "motor.x3")
    h, forward = 1e-3, np.array([-25 / 12, 4, -3, 4 / 3, -1 / 4])

    def rates(z: Array) -> Array:
        basic, rate = {"crank": 0.4 + z[0]}, {"crank": 0.9 + z[1]}
        start = complete(bar, basic, rate, start=state.q)
        run = cf.simulate(
            bar,
            q0=start.q,
            qd0=start.qd,
            x0={"motor.x3": 0.1 + z[2]},
            signals={"motor": "push"},
            values={"push": 0.7 + z[3]},
            t=4 * h,
            t_eval=h * np.arange(5),
            rtol=1e-13,
            atol=1e-15,
        )
        along = np.stack([run.q[:, 0], run.qd[:, 0], run.x[:, 2]])
        return along @ forward / h

    wanted = differences(rates, 4, 5e-3)
    assert np.abs(np.hstack([found.A, found.B]) - wanted).max() < 1e-5 * np.abs(wanted).max()


def test_outputs_agree_with_differences() -> None:
    """Of a loop: forces, energies and poses, with accelerations and multipliers eliminated."""
    crank, tau = slider_crank(), np.array([1.0, 0.2, -0.3])
    texts = ["tau", "qdd[3]", "slider", "T", "pose(rod)", "reaction(rod)[1]", "drives"]
    state = complete(crank, {"crank": 0.7}, {"crank": 1.3}, start=[0.7, -0.4, 0.9])
    found = linearise(crank, outputs=texts, q=state.q, qd=state.qd, tau=tau, inputs=["crank"])
    assert found.independent == ("crank",)
    numbers: list[Array] = []

    def outputs(z: Array) -> Array:
        at = complete(crank, {"crank": 0.7 + z[0]}, {"crank": 1.3 + z[1]}, start=state.q)
        given = tau + np.array([z[2], 0, 0])
        aside = linearise(crank, outputs=texts, q=at.q, qd=at.qd, tau=given)
        numbers.append(aside.values)
        return aside.values

    wanted = differences(outputs, 3, 1e-3)
    error = np.abs(np.hstack([found.C, found.D]) - wanted).max()
    assert error < 1e-8 * np.abs(wanted).max()
    model = cf.derive(crank, ["tau", "T"])
    sigma = found.point["sigma"]
    values = model.evaluate(q=state.q, qd=state.qd, qdd=found.point["qdd"], sigma=sigma)
    assert values["inverse_dynamics"] == pytest.approx(tau)
    assert found.values[5] == pytest.approx(float(values["kinetic_energy"]))


def test_wrenches_and_unknown_forces_are_inputs() -> None:
    arm, rng = example("six_axis_arm"), np.random.default_rng(4)
    q, qd, wrench = rng.uniform(-1, 1, 6), rng.uniform(-1, 1, 6), rng.uniform(-9, 9, 6)
    how: dict[str, Any] = {"q": q, "qd": qd, "wrenches": ["hand"]}
    found = linearise(arm, inputs=["wrench"], wrench=wrench, **how)
    assert found.inputs[:2] == ("hand.fx", "hand.fy")
    model = cf.derive(arm, ["jacobian(hand)", "mass_matrix"]).evaluate(q=q)
    pull = np.linalg.solve(model["mass_matrix"], model["jacobian(hand)"].T)
    assert np.abs(found.B[6:] - pull).max() < 1e-9 * np.abs(pull).max()
    tau = cf.derive(arm, ["d(tau)/d(q)"], wrenches=["hand"])
    given: dict[str, Any] = {"q": q, "qd": qd, "qdd": found.point["qdd"], "wrench": wrench}
    slope = tau.evaluate(**given)["derivative(inverse_dynamics,q)"]
    assert np.abs(model["mass_matrix"] @ found.A[6:, :6] + slope).max() < 1e-9 * np.abs(slope).max()
    assert linearise(arm, inputs=["wrench"], wrench={"hand.fy": 3}, **how).point["wrench"][1] == 3
    crane = example("portal_crane")
    assert linearise(crane, q=[4]).inputs == ("S",)


def test_a_floating_robot_agrees_with_pinocchio() -> None:
    path, rng = example_robot("anymal.urdf"), np.random.default_rng(0)
    robot = cf.read(path, base="floating")
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data, n = model.createData(), robot.nv
    q = pin.integrate(model, pin.neutral(model), rng.uniform(-1, 1, n))
    qd, tau = rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)
    pin.computeABADerivatives(model, data, q, qd, tau)
    names = list(model.names)[2:]
    joints = np.array([names.index(name) for name in robot.rates[6:]])
    order = np.concatenate([np.arange(6), 6 + joints])
    own = q[np.concatenate([np.arange(7), 7 + joints])]
    found = linearise(robot, q=own, qd=qd[order], tau=tau[order])
    inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
    pairs = [
        (found.A[n:, :n], data.ddq_dq),
        (found.A[n:, n:], data.ddq_dv),
        (found.B[n:], inverse),
    ]
    for got, wanted in pairs:
        assert np.abs(got - wanted[np.ix_(order, order)]).max() < 1e-9 * np.abs(wanted).max()


# --- textbooks and laws -------------------------------------------------------------------------


def test_the_cart_pole_is_that_of_the_textbook() -> None:
    """(M + m) x'' + m l phi'' = F, m l x'' + (J + m l^2) phi'' = m g l phi."""
    found = linearise(cart_pole(), inputs=["cart"])
    M, m, l, J, g = 1.5, 0.3, 0.4, 0.016, 9.81
    H = np.array([[M + m, m * l], [m * l, J + m * l * l]])
    wanted = np.linalg.solve(H, [[0, 0], [0, m * g * l]])
    assert found.A[2:, :2] == pytest.approx(wanted, rel=1e-12)
    assert found.B[2:] == pytest.approx(np.linalg.solve(H, [[1], [0]]), rel=1e-12)
    assert np.array_equal(found.A[:2], [[0, 0, 1, 0], [0, 0, 0, 1]])
    assert found.is_equilibrium
    assert found.notes == ()
    assert repr(found) == (
        "<Linearisation of cart pole: 4 states (cart, pole, der(cart), der(pole)), 1 input "
        "(tau(cart)), 4 outputs (cart, pole, der(cart), der(pole)); an equilibrium>"
    )


def test_a_chain_of_springs_is_exact() -> None:
    """Masses 2 and 1/2 kg between springs of 3, 5 and 1/4 N/m, dampers 1/8: halves of halves."""
    text = """
name = "chain"
gravity = [0, 0, 0]
[[segments]]
name = "a"
joint = "prismatic"
axis = "x"
parent = "ground"
mass = 2
[[segments]]
name = "b"
joint = "prismatic"
axis = "x"
parent = "ground"
mass = "1/2"
"""
    chain = read_text(text, "toml").with_forces(
        {"a": "-3*a - 5*(a - b) - der(a)/8", "b": "-5*(b - a) - b/4"}
    )
    found = linearise(chain)
    wanted = [[0, 0, 1, 0], [0, 0, 0, 1], [-4, 2.5, -1 / 16, 0], [10, -10.5, 0, 0]]
    assert np.array_equal(found.A, wanted)
    assert np.array_equal(found.B, [[0, 0], [0, 0], [0.5, 0], [0, 2]])
    squares = np.roots([1, 14.5, 4 * 10.5 - 25])
    free = linearise(chain.with_forces({"a": "der(a)/8"}))
    assert sorted(np.abs(free.poles.imag))[::2] == pytest.approx(sorted(np.sqrt(-squares)))


def test_the_parallelogram_swings_as_its_energy_says() -> None:
    """Cranks that hang down: omega^2 = V'' / T'' of the crank angle."""
    builder = cf.Mechanism.builder("swing", gravity=(0, "-9.81", 0))
    builder.segment("a", axis="z", mass=1, com=["0.2", 0, 0], inertia=[0, 0, "0.02"])
    builder.segment(
        "b",
        parent="a",
        axis="z",
        position=["0.4", 0, 0],
        mass=3,
        com=["0.5", 0, 0],
        inertia=[0, 0, 1],
    )
    builder.segment(
        "c",
        parent="ground",
        axis="z",
        position=[1, 0, 0],
        mass=1,
        com=["0.2", 0, 0],
        inertia=[0, 0, "0.02"],
    )
    builder.loop(
        "pin",
        kind="point",
        closing={"segment": "b", "point": [1, 0, 0]},
        target={"segment": "c", "point": ["0.4", 0, 0]},
    )
    swing, down = builder.build(), [-np.pi / 2, np.pi / 2, -np.pi / 2]
    found = linearise(swing, q=down)
    inertia = 2 * (0.02 + 0.04) + 3 * 0.16
    stiffness = 9.81 * (2 * 0.2 + 3 * 0.4)
    assert found.is_equilibrium
    assert found.poles.imag[1] == pytest.approx(np.sqrt(stiffness / inertia), rel=1e-10)
    others = [linearise(swing, q=down, independent=[name]).poles for name in "abc"]
    assert np.abs(np.diff(others, axis=0)).max() < 1e-9


def test_a_free_body_turns_as_euler_says() -> None:
    """A symmetric top that spins with n: its axis nutates with (C - A)/A n in its own axes."""
    builder = cf.Mechanism.builder("top", gravity=(0, 0, 0))
    builder.segment("body", joint="free", mass=2, inertia=[3, 3, "3.6"])
    top, n = builder.build(), 7.0
    found = linearise(top, qd=[0, 0, 0, 0, 0, n])
    assert found.is_equilibrium is False
    places = [k for k, name in enumerate(found.states) if name in ("body_wx", "body_wy")]
    rates = np.linalg.eigvals(found.A[np.ix_(places, places)])
    assert sorted(rates.imag) == pytest.approx([-0.2 * n, 0.2 * n])
    # In axes that turn with n, what stays in space turns with -n.
    assert np.abs(found.poles.imag).max() == pytest.approx(n)


def test_energy_and_reciprocity_of_conservative_systems() -> None:
    """About rest without friction H A_q is symmetric, poles come in pairs, and H B is 1."""
    arm = example("six_axis_arm")
    q = np.array([0.3, -0.5, 0.8, 0.2, -0.4, 0.6])
    model = cf.derive(arm, ["mass_matrix", "inverse_dynamics"], without=["friction"])
    zero = np.zeros(6)
    H = model.evaluate(q=q, outputs=["H"])["H"]
    hold = model.evaluate(q=q, qd=zero, qdd=zero)["inverse_dynamics"]
    found = linearise(arm, q=q, tau=hold)
    assert found.is_equilibrium
    stiffness = H @ found.A[6:, :6]
    assert np.abs(stiffness - stiffness.T).max() < 1e-9 * np.abs(stiffness).max()
    assert pytest.approx(np.eye(6), abs=1e-9) == H @ found.B[6:]


def test_poles_are_those_of_a_short_simulation() -> None:
    """A pole on a cart falls as its fastest pole says."""
    found = linearise(cart_pole())
    rate = float(found.poles[0].real)
    start = 1e-6 * np.linalg.svd(found.A - rate * np.eye(4))[2][-1]
    run = cf.simulate(cart_pole(), q0=start[:2], qd0=start[2:], t=1.0, t_eval=[0, 1])
    assert run.q[-1] / start[:2] == pytest.approx(np.exp(rate), rel=1e-6)


# --- notes and refusals -------------------------------------------------------------------------


def test_seams_and_limits_are_noted() -> None:
    builder = cf.Mechanism.builder("rough", gravity=(0, 0, 0))
    builder.segment("slide", joint="prismatic", axis="x", mass=2)
    rough = builder.build().with_forces({"slide": "-3*sign(der(slide)) - 2*der(slide)"})
    (note,) = linearise(rough).notes
    assert note.startswith("sign of der(slide) changes here: ")
    assert linearise(rough).A[1, 1] == -1
    assert linearise(rough, qd=[0.1]).notes == ()
    arm = example("driven_arm")
    (note,) = linearise(arm, u=[1, 30, 2]).notes
    assert note == "shoulder_motor.voltage is beyond its limit, so that it has no effect here"
    limit = linearise(arm, u=[1, 24, 2])
    assert limit.notes[0].startswith("abs of shoulder_motor.voltage has a kink here")
    assert limit.B[7, 1] == linearise(arm).B[7, 1] / 2


REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    ("four_bar", {"q": [0.3, 0.5, 1.2]}, "positions of the state do not fit 'linkage", "assemble"),
    ("four_bar", {"q": {"crank": 0.3, "coupler": 1, "rocker": 2}}, "stays open by", "free"),
    (
        "four_bar",
        {"q": {"crank": 0.3}, "independent": ["crank", "rocker"]},
        "1 coordinate",
        "crank",
    ),
    ("four_bar", {"q": {"crank": 0.3}, "independent": ["cranc"]}, "no rate named", "did you mean"),
    ("four_bar", {"q": {"crank": 0.3}, "inputs": ["taw"]}, "no input 'taw'", "'tau'"),
    ("four_bar", {"q": {"crank": 0.3}, "outputs": ["roker"]}, "roker", "'rocker'"),
    ("four_bar", {"q": {"crank": 0.3}, "values": {"e": 2}}, "'e'", ""),
    ("four_bar", {"q": {"crank": 0.3}, "outputs": ["q[4]"]}, "no such entry", "count from 1"),
    ("biped", {}, "singular position: 1 of 4 equations", "aside"),
    ("driven_arm", {"u": [1, 2]}, "u has the shape (2,)", "waist_motor.voltage"),
    ("driven_arm", {"u": {"elbo_motor": 2}}, "elbo_motor", "the names are"),
    (
        "driven_arm",
        {"x": {"elbow_motor.q": 1}},
        "is the motion of the joint",
        "give it in q and qd",
    ),
    ("driven_arm", {"tau": [1, np.nan, 2]}, "not finite", "number 2"),
    ("driven_arm", {"q": [[1, 2, 3]]}, "q has the shape (1, 3)", "give one state"),
    ("driven_arm", {"t": [0, 1]}, "t has the shape (2,)", "one time"),
    ("driven_arm", {"t": "now"}, "t is not an array of real numbers", ""),
    ("driven_arm", {"wrenches": ["hnd"]}, "hnd", ""),
    ("driven_arm", {"wrench": [1, 2, 3, 4, 5, 6]}, "wrench has the shape (6,)", "leave it out"),
    ("driven_arm", {"outputs": ["weights*d(tau)/d(q)"]}, "multiplied by weights", "derivative"),
    ("driven_arm", {"inputs": 3}, "expected a text", "inputs"),
    ("four_bar", {"q": {"crank": 0.3}, "inputs": ["arm"]}, "no input 'arm'", "crank, coupler"),
    ("driven_arm", {"inputs": ["wrench"]}, "no input 'wrench'", "name frames in wrenches"),
    ("driven_arm", {"outputs": {"q": [1, 2, 3]}}, "expected a text, got a table", "pose(tool)"),
    ("driven_arm", {"outputs": [0.1, 0.2, 0.3]}, "expected a text, got a number", "pose(tool)"),
    ("driven_arm", {"state": ["q"]}, "expected a table", "write {"),
    ("driven_arm", {"state": {"qq": [1, 2, 3]}}, "unknown field 'qq'", "did you mean"),
    (
        "driven_arm",
        {"state": {"q": [1, 2, 3]}, "q": [1, 2, 3]},
        "q is given twice",
        "as an argument",
    ),
    ("rolling_disc", {"q": [0, 0, 0, 1.7, 0]}, "touches or is passed", "holonomic"),
]


@pytest.mark.parametrize(("name", "given", "message", "remedy"), REFUSED)
def test_what_is_refused(name: str, given: dict[str, Any], message: str, remedy: str) -> None:
    with pytest.raises(cf.Error) as caught:
        linearise(example(name), **given)
    assert message in str(caught.value)
    assert remedy in str(caught.value.remedy)


def test_more_is_refused() -> None:
    with pytest.raises(TypeError, match="did you mean qd"):
        linearise(cart_pole(), qdt=[1])  # type: ignore[call-arg]
    builder = cf.Mechanism.builder("loose", gravity=(0, 0, 0))
    builder.segment("a", joint="prismatic", axis="x", mass=0)
    with pytest.raises(cf.Error, match="nothing resists"):
        linearise(builder.build())
    builder = cf.Mechanism.builder("root", gravity=(0, 0, 0))
    builder.segment("a", joint="prismatic", axis="x", mass=1)
    with pytest.raises(RunError, match="no finite"):
        linearise(builder.build().with_forces({"a": "sqrt(a)"}))
    with pytest.raises(RunError, match="no finite"):
        linearise(builder.build().with_forces({"a": "1/a"}))
    # Across its plane a linkage does not determine its forces.
    with pytest.raises(RunError, match="not determined"):
        linearise(slider_crank(), outputs=["reaction(rod)"], q={"crank": 0.7})


def test_a_signal_that_prescribes_what_a_law_prescribes_is_refused() -> None:
    text = """
name = "twice"
gravity = [0, 0, 0]
[[segments]]
name = "a"
joint = "revolute"
axis = "z"
parent = "ground"
mass = 1
inertia = [1, 1, 1]
[[actuators]]
name = "servo"
joint = "a"
A = [[0, 1], [0, -1]]
b = [0, 1]
f = [0, 0]
position = [1, 0]
velocity = [0, 1]
"""
    assert pytest.approx(np.array([[0, 1], [0, -1]])) == linearise(read_text(text, "toml")).A
    law = '[[constraints]]\nname = "held"\nkind = "holonomic"\nlaw = "a"\n'
    with pytest.raises(RunError, match="the signal of servo prescribes a motion that is bound"):
        linearise(read_text(text + law, "toml"))


def test_values_and_scipy() -> None:
    bar = example("four_bar")
    assert (
        linearise(bar, {"q": {"crank": 0.3}}).A.tolist()
        == linearise(bar, q={"crank": 0.3}).A.tolist()
    )
    short, usual = (linearise(bar, q={"crank": 0.3}, values={"a": a}) for a in (0.1, 0.2))
    assert pytest.approx(linearise(bar, q={"crank": 0.3}).A) == usual.A
    assert not np.allclose(short.A, usual.A)
    system = linearise(cart_pole(), outputs=["cart"], inputs=["cart"]).to_scipy()
    assert (system.A.shape, system.B.shape, system.C.shape) == ((4, 4), (4, 1), (1, 4))
    assert np.array_equal(system.A, linearise(cart_pole()).A)
