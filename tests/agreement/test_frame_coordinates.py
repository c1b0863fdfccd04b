"""Laws that name positions of frames, x(tip), and their rates: against poses, velocities, springs.

The oracles are quantities that know nothing of laws: pose, velocity, acceleration and Jacobian.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.analysis.comparison import exact_state
from chainform.expressions import parse
from chainform.formulations import FORMULATIONS
from chainform.graph import EXACT, evaluate, verify
from chainform.mechanism import BaseMotion
from chainform.readers import native_text, read_text
from element_models import random_model
from zoo import random_tree

OF_FRAME = ("pose(probe)", "velocity(probe)", "jacobian(probe)", "acceleration(probe)")
FORCE = "3*x(probe) - y(probe)*z(probe)/2 + t*der(x(probe)) - der(z(probe))"
HOLONOMIC = "2*x(probe) - 3*y(probe) + z(probe)^2 - t^3"
NONHOLONOMIC = "der(x(probe)) + 2*x(probe)*der(y(probe)) - t*z(probe)"


def probed(seed: int, *, quaternions: bool = False, base: bool = False) -> cf.Mechanism:
    """Return a random tree with a frame on its last segment, on a base at rest or on a moving one.

    The base turns by a quaternion of polynomials of time, so that everything stays rational.
    """
    tree = random_tree(seed, quaternions=quaternions)
    tree = tree.with_frame("probe", tree.segments[-1].name, ["1/3", "-0.2", "0.7"])
    if not base:
        return tree
    x, y, z = (parse(law) for law in ("t^2/3", "1 - t", "t^3/2 + t"))
    a, b, c, d = (parse(law) for law in ("t/5", "1/3 - t", "t^2/4", "1 + t/2"))
    return replace(tree, base=BaseMotion(position=(x, y, z), quaternion=(a, b, c, d)))


def with_table(mechanism: cf.Mechanism, **entries: object) -> cf.Mechanism:
    """Return the mechanism with more entries of its file."""
    return read_text(json.dumps(json.loads(native_text(mechanism)) | entries), "json")


def values(
    mechanism: cf.Mechanism, outputs: list[str], seed: int, method: str = "auto", **fixed: Any
) -> dict[str, Any]:
    """Return exact values at the state that a seed gives."""
    model = cf.derive(mechanism, outputs, formulation=method)
    verify(model.graph)
    state = exact_state(mechanism, model.graph.inputs.values(), seed)
    for name, value in fixed.items():
        state |= {given: value for given in state if given.rstrip("0123456789") == name}
    return evaluate(model.graph, state, EXACT) | {"t": state.get("t", 0)}


CASES = [(0, False, False), (2, False, True), (5, False, False), (6, False, True)]
QUATERNIONS = [(1, True, False), (3, True, False), (4, True, True)]


@pytest.mark.any_processor
@pytest.mark.parametrize(("seed", "quaternions", "base"), [*CASES, *QUATERNIONS])
def test_forces_in_every_formulation(seed: int, quaternions: bool, base: bool) -> None:
    """Inverse dynamics is that without the force, less the law made of pose and velocity."""
    tree = probed(seed, quaternions=quaternions, base=base)
    free = values(tree.with_forces({"qd1": "t"}), ["inverse_dynamics", *OF_FRAME[:2]], seed)
    (x, y, z), (vx, _, vz), t = free[OF_FRAME[0]][:3, 3], free[OF_FRAME[1]][:3], free["t"]
    expected = free["inverse_dynamics"].copy()
    expected[0] += t - (3 * x - y * z / 2 + t * vx - vz)
    forced, agreed = tree.with_forces({"qd1": FORCE}), set[str]()
    for method in FORMULATIONS.values():
        if "inverse_dynamics" in method.outputs and (method.moving_base or not base):
            with contextlib.suppress(cf.Error) if quaternions else contextlib.nullcontext():
                found = values(forced, ["inverse_dynamics"], seed, method.name)
                assert (found["inverse_dynamics"] == expected).all(), method.name
                agreed.add(method.name)
    assert {"auto", "newton_euler", "kinetostatic"} <= agreed


@pytest.mark.any_processor
@pytest.mark.parametrize(("seed", "quaternions", "base"), [*CASES, *QUATERNIONS])
def test_constraints_on_a_frame(seed: int, quaternions: bool, base: bool) -> None:
    """Value, rate, row and right side follow from the Jacobian and the motion of the frame."""
    tree = probed(seed, quaternions=quaternions, base=base)
    bound = with_table(tree, constraints=[{"kind": "holonomic", "law": HOLONOMIC}])
    outputs = ["constraint", "constraint_rate", "constraint_jacobian", "constraint_right"]
    found = values(bound, [*outputs, *OF_FRAME], seed, qdd=0)
    p, v, J, a = (found[name] for name in OF_FRAME)
    (x, y, z), t = p[:3, 3], found["t"]
    slope = np.array([2, -3, 2 * z])
    assert found["constraint"][0] == 2 * x - 3 * y + z**2 - t**3
    assert found["constraint_rate"][0] == slope @ v[:3] - 3 * t**2
    assert (found["constraint_jacobian"][0] == slope @ J[:3]).all()
    # With qdd = 0 the second derivative is all that the right side takes away.
    assert found["constraint_right"][0] == -(slope @ a[:3] + 2 * v[2] ** 2 - 6 * t)


@pytest.mark.any_processor
@pytest.mark.parametrize(("seed", "quaternions", "base"), [*CASES, *QUATERNIONS])
def test_constraints_on_the_velocity_of_a_frame(seed: int, quaternions: bool, base: bool) -> None:
    tree = probed(seed, quaternions=quaternions, base=base)
    bound = with_table(tree, constraints=[{"kind": "nonholonomic", "law": NONHOLONOMIC}])
    outputs = ["constraint_rate", "constraint_jacobian", "constraint_right"]
    found = values(bound, [*outputs, *OF_FRAME], seed, qdd=0)
    p, v, J, a = (found[name] for name in OF_FRAME)
    (x, _, z), t = p[:3, 3], found["t"]
    assert found["constraint_rate"][0] == v[0] + 2 * x * v[1] - t * z
    assert (found["constraint_jacobian"][0] == J[0] + 2 * x * J[1]).all()
    change = a[0] + 2 * x * a[1] + 2 * v[0] * v[1] - z - t * v[2]
    assert found["constraint_right"][0] == -change


@pytest.mark.any_processor
@pytest.mark.parametrize("seed", [0, 2, 5])
def test_elements_on_a_tree(seed: int) -> None:
    """A spring along z(probe), a definition and a damper: forces of the Jacobian's rows."""
    tree = probed(seed)
    elements = [
        {"kind": "elastic", "stiffness": 5, "deformation": "height"},
        {"kind": "dissipative", "damping": 2, "rate": "der(x(probe))"},
        {"kind": "force", "force": ["y(probe)", 0, "x(mark)"], "at": "probe"},
        {"kind": "frame", "name": "mark", "on": "probe", "chain": "Sx(2), Sz(height/3)"},
    ]
    loaded = with_table(tree, elements=elements, definitions={"height": "z(probe) + t"})
    free = values(tree.with_forces({"qd1": "t"}), ["inverse_dynamics", *OF_FRAME], seed)
    found = values(loaded, ["inverse_dynamics"], seed)["inverse_dynamics"]
    p, v, J, _ = (free[name] for name in OF_FRAME)
    (x, y, z), t = p[:3, 3], free["t"]
    mark = x + 2 * p[0, 0] + (z + t) / 3 * p[0, 2]
    passive = 5 * (z + t) * J[2] + 2 * v[0] * J[0] - y * J[0] - mark * J[2]
    drive = np.array([t] + [0] * (tree.nv - 1))
    assert (found == free["inverse_dynamics"] + drive + passive).all()


@pytest.mark.any_processor
@pytest.mark.parametrize("seed", [0, 2, 5])
def test_the_same_mechanism_written_as_elements(seed: int) -> None:
    """Frames keep their names when segments become elements, and the file reads back."""
    tree = probed(seed).with_forces({"qd1": FORCE})
    bound = with_table(tree, constraints=[{"kind": "holonomic", "law": HOLONOMIC}])
    converted = bound.as_elements()
    again = read_text(native_text(converted), "json")
    assert (again.forces, again.constraints) == (bound.forces, bound.constraints)
    outputs = ["inverse_dynamics", "constraint_jacobian", "constraint_right"]
    expected = values(bound, outputs, seed)
    for mechanism in (converted, again):
        found = values(mechanism, outputs, seed)
        assert all((found[name] == expected[name]).all() for name in outputs)


@pytest.mark.any_processor
@pytest.mark.parametrize("seed", range(3))
def test_frames_of_an_element_model(seed: int) -> None:
    """Force and constraint on a body of elements, on a moving ground, against its quantities."""
    model = random_model(seed)
    body = next(e.name for e in reversed(model.elements) if f"pose({e.name})" in _frames(model))
    frame = [output.replace("probe", body) for output in OF_FRAME]
    law, name = HOLONOMIC.replace("probe", body), model.rates[0]
    plain = with_table(model, base={"position": ["t^2/3", "1 - t", "t/2"]})
    bound = with_table(
        plain,
        constraints=[{"kind": "holonomic", "law": law}],
        forces=[{"joint": name, "law": f"der(x({body})) - t*y({body})"}],
    )
    outputs = ["constraint_jacobian", "constraint_right", "inverse_dynamics"]
    free = values(plain, ["inverse_dynamics", *frame], seed, qdd=0)
    found = values(bound, outputs, seed, qdd=0)
    p, v, J, a = (free[output] for output in frame)
    slope, t = np.array([2, -3, 2 * p[2, 3]]), free["t"]
    assert (found["constraint_jacobian"][0] == slope @ J[:3]).all()
    assert found["constraint_right"][0] == -(slope @ a[:3] + 2 * v[2] ** 2 - 6 * t)
    difference = free["inverse_dynamics"] - found["inverse_dynamics"]
    assert difference[0] == v[0] - t * p[1, 3]
    assert not difference[1:].any()


def _frames(model: cf.Mechanism) -> set[str]:
    kinds = {"body", "frame", "point"}
    return {f"pose({e.name})" for e in model.elements if getattr(e, "kind", "") in kinds}


def test_base_with_velocities_of_its_own() -> None:
    """At an instant forces are known; constraints, differentiated by time, are refused."""
    tree = probed(2)
    table = json.loads(native_text(tree)) | {"base": {"velocity": [2, 0, 0]}}
    table["forces"] = [{"joint": tree.rates[0], "law": "der(x(probe))"}]
    table["constraints"] = [{"kind": "holonomic", "law": "x(probe)"}]
    moving = read_text(json.dumps(table), "json")
    found = values(moving, ["inverse_dynamics", "velocity(probe)"], 2)
    free = values(replace(moving, forces=()), ["inverse_dynamics"], 2)
    difference = free["inverse_dynamics"] - found["inverse_dynamics"]
    assert difference[0] == found["velocity(probe)"][0]
    with pytest.raises(cf.Error, match="do not follow from its place") as caught:
        cf.derive(moving, ["constraint_jacobian"])
    assert "laws of t" in (caught.value.remedy or "")
