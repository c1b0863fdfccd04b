"""The catalogue of outputs: one line for each, with letter, shape, unit, meaning and equation.

It is the only place that says so. The letters of the command line, `chainform quantities`, the
shapes that `show` prints and the tables of the documentation come from here.

A unit is a formula of SI units and of

    u_i   rad, or m where rate i slides
    v_i   m in rows 1 to 3 and rad in rows 4 to 6; of a loop m in linear rows, rad in the others
    p_k   1 in columns 1 to 3 and m in column 4

with the letters i, k, l for the indices of the entry, in this order. rad is 1. Where the unit
depends on a law of the file, or on a parameter, there is none. The letters of a shape are lengths
(`SIZES`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from chainform.display import Displayed
from chainform.graph import OF_OUTPUT
from chainform.mechanism import Mechanism

Shape: TypeAlias = tuple[int | str, ...]

OF_LAW = ""
"""The unit of what the laws of the file decide."""
PER_VALUE = "v_i/u_k for each singular value"


@dataclass(frozen=True, slots=True, repr=False)
class OutputEntry(Displayed):
    """An output: its name, letter, shape, unit, meaning and equation; `of_frame` if F is named."""

    name: str
    letter: str | None
    shape: Shape
    unit: str
    meaning: str
    equation: str
    of_frame: bool = False

    @property
    def argument(self) -> str:
        """What stands behind the name: (F), a frame, or (Y), an output; or nothing."""
        return "(F)" if self.of_frame else "(Y)" if self.name in OF_OUTPUT else ""

    def shape_for(self, mechanism: Mechanism) -> tuple[int, ...]:
        """Return the shape for a mechanism."""
        return tuple(n if isinstance(n, int) else SIZES[n](mechanism) for n in self.shape)


def _loop_rows(mechanism: Mechanism) -> int:
    return sum(loop.equations for loop in mechanism.loops)


def _of_kind(mechanism: Mechanism, *, unilateral: bool) -> int:
    kinds = [constraint.kind == "unilateral" for constraint in mechanism.constraints]
    return kinds.count(unilateral)


SIZES: dict[str, Callable[[Mechanism], int]] = {
    "nv": lambda m: m.nv,
    "segments": lambda m: len(m.body_names),
    "loops": _loop_rows,
    "states": lambda m: sum(actuator.order for actuator in m.actuators),
    "actuators": lambda m: len(m.actuators),
    "unknowns": lambda m: len(m.unknowns),
    "constraints": lambda m: _of_kind(m, unilateral=False),
    "unilateral": lambda m: _of_kind(m, unilateral=True),
    "quasi": lambda m: len(m.quasi),
    "parameters": lambda m: len(m.dynamic_parameters()),
    "base": lambda m: len(m.base_parameters()),
}
"""The lengths that shapes are written with, for a mechanism.

nv: rates; loops: equations of all loops; states and actuators;
unknowns: unknown forces; constraints: bilateral, unilateral: the others; quasi: quasi-velocities;
parameters: dynamic parameters, base: base parameters. Besides them, for matrices of small motions:
small, their states, inputs, what acts on them, and entries, those of the output.
"""

NV: Shape = ("nv",)

_EQUATIONS = (
    OutputEntry(
        *("inverse_dynamics", "tau", NV, "J/u_i", "efforts of the drives for a motion"),
        "tau = H qdd + c + hG + P - J^T sigma - J(F)^T wrench",
    ),
    OutputEntry(
        *("forward_dynamics", "qdd", NV, "u_i/s^2", "accelerations under given efforts"),
        "H qdd = tau - c - hG - P + J^T sigma + J(F)^T wrench",
    ),
    OutputEntry(
        *("mass_matrix", "H", NV * 2, "kg m^2/(u_i u_k)", "mass matrix, rotors included"),
        "T = qd^T H qd / 2",
    ),
    OutputEntry(
        *("coriolis", "C", NV * 3, "kg m^2/(u_i u_k u_l)", "Christoffel symbols of H"),
        "C_ikl = (dH_ik/dq_l + dH_il/dq_k - dH_kl/dq_i) / 2",
    ),
    OutputEntry(
        *("metric_derivative", "dH", NV * 3, "kg m^2/(u_i u_k u_l)", "derivatives of H"),
        "dH_ikl = dH_ik/dq_l",
    ),
    OutputEntry(
        *("coriolis_matrix", "Cm", NV * 2, "kg m^2/(s u_i u_k)", "matrix of velocity terms"),
        "c = Cm qd, with dH/dt - 2 Cm skew",
    ),
    OutputEntry("gravity", "hG", NV, "J/u_i", "efforts that hold the weights", "hG = dV/dq"),
    OutputEntry("bias", "h", NV, "J/u_i", "efforts at qdd = 0", "h = c + hG"),
    OutputEntry(
        *("acceleration_energy", "S", (), "J/s^2", "acceleration energy, without weights"),
        "dS/dqdd = tau",
    ),
    OutputEntry(
        *("closure", "B", ("nv", "loops"), "v_k/u_i", "reactions of loops on basic joints"),
        "B = -J^T in the rows of basic coordinates, for closure basic",
    ),
    OutputEntry(
        *("closure_jacobian", "J", ("loops", "nv"), "v_i/u_k", "velocities in loops"),
        "J qd = 0 where the loops stay closed",
    ),
)

_OF_PARTS = (
    OutputEntry(
        *("complete_model", "xd", ("states",), OF_LAW, "rates of the states of actuators"),
        "x' = Ah + Bh N(u)",
    ),
    OutputEntry(
        *("complete_drift", "Ah", ("states",), OF_LAW, "rates of the states without signals"),
        "x' = Ah + Bh N(u)",
    ),
    OutputEntry(
        *("complete_input", "Bh", ("states", "actuators"), OF_LAW, "what signals do to the states"),
        "x' = Ah + Bh N(u)",
    ),
    OutputEntry(
        *("complete_acceleration", "qddx", NV, "u_i/s^2", "accelerations with actuators"),
        "H qdd + h = P",
    ),
    OutputEntry("drives", "drive", NV, "J/u_i", "efforts of the actuators", "P = H qdd + h"),
    OutputEntry(
        *("force_matrix", "A", ("nv", "unknowns"), OF_LAW, "what unknown forces do"), "A X = b"
    ),
    OutputEntry(
        *("force_right", "b", NV, "J/u_i", "what unknown forces have to balance"), "A X = b"
    ),
    OutputEntry(
        *("constraint", "f", ("constraints",), OF_LAW, "values of the constraints"), "f(q, t) = 0"
    ),
    OutputEntry(
        *("constraint_rate", "fd", ("constraints",), OF_LAW, "rates of the constraints"),
        "f' = df/dt",
    ),
    OutputEntry(
        *("constraint_jacobian", "Jc", ("constraints", "nv"), OF_LAW, "derivatives of the rates"),
        "Jc = df'/dqd",
    ),
    OutputEntry(
        *("constraint_right", "gamma", ("constraints",), OF_LAW, "what qdd has to give"),
        "Jc qdd = gamma",
    ),
    OutputEntry(
        *("constrained_dynamics", "qddc", NV, "u_i/s^2", "accelerations under constraints"),
        "H qdd = tau - h + Jc^T lambda",
    ),
    OutputEntry(
        *("multipliers", "lambda", ("constraints",), OF_LAW, "forces of constraints"),
        "Jc H^-1 Jc^T lambda = gamma - Jc H^-1 (tau - h)",
    ),
    OutputEntry(
        *("unilateral", None, ("unilateral",), OF_LAW, "gaps of unilateral constraints"),
        "gap(q, t) >= 0",
    ),
    OutputEntry(
        *("unilateral_jacobian", None, ("unilateral", "nv"), OF_LAW, "derivatives of the gaps"),
        "Jg = dgap'/dqd",
    ),
    OutputEntry("quasi_velocities", None, ("quasi",), OF_LAW, "quasi-velocities", "pi = S qd + s"),
    OutputEntry(
        *("quasi_matrix", None, ("nv", "quasi"), OF_LAW, "rates of quasi-velocities"),
        "qd = Tq pi + ...",
    ),
    OutputEntry(
        *("quasi_mass_matrix", None, ("quasi", "quasi"), OF_LAW, "mass of quasi-velocities"),
        "Hq = Tq^T H Tq",
    ),
    OutputEntry(*("quasi_bias", None, ("quasi",), OF_LAW, "their bias"), "hq = Tq^T (h + H c)"),
    OutputEntry(
        *("quasi_dynamics", None, ("quasi",), OF_LAW, "rates of the quasi-velocities"),
        "Hq pi' = Tq^T tau - hq",
    ),
    OutputEntry(
        *("state_matrix", "Az", ("small", "small"), OF_LAW, "what small motions do to their rates"),
        "z' = Az z + Bz w",
    ),
    OutputEntry(
        *("input_matrix", "Bz", ("small", "inputs"), OF_LAW, "what small changes of inputs do"),
        "w = dtau, or du with actuators",
    ),
    OutputEntry(
        *("output_matrix", "Cz", ("entries", "small"), OF_LAW, "what small motions do to output Y"),
        "y = Cz z + Dz w",
    ),
    OutputEntry(
        *("feedthrough_matrix", "Dz", ("entries", "inputs"), OF_LAW),
        *("what small changes of inputs do to it at once", "y = Cz z + Dz w"),
    ),
)

_OF_MECHANISM = (
    OutputEntry(*("kinetic_energy", "T", (), "J", "of all bodies and rotors"), "T = qd^T H qd / 2"),
    OutputEntry(
        *("potential_energy", "V", (), "J", "of gravity, zero at the world origin, and of springs"),
        "hG = dV/dq without springs",
    ),
    OutputEntry(
        *("passive", "P", NV, "J/u_i", "what friction and springs add to inverse dynamics"),
        "tau = H qdd + c + hG + P",
    ),
    OutputEntry(
        *("reactions", "R", ("segments", 6), "J/v_k", "what each parent exerts on its child"),
        "force, moment about the joint; axes of the child",
    ),
    OutputEntry("com", None, (3,), "m", "mass centre of all moving bodies, world axes", "c"),
    OutputEntry("com_velocity", None, (3,), "m/s", "its velocity", "c' = Jcom qd"),
    OutputEntry("com_acceleration", None, (3,), "m/s^2", "its acceleration", "M c'' = p'"),
    OutputEntry(
        *("com_jacobian", "Jcom", (3, "nv"), "m/u_k", "derivatives of its velocity"),
        "Jcom = dc'/dqd",
    ),
    OutputEntry(
        *("momentum", None, (6,), "J s/v_i", "linear, angular about the world origin; world axes"),
        "p = sum (m v, r x m v + I w)",
    ),
    OutputEntry(
        *("centroidal_momentum", None, (6,), "J s/v_i", "the same about the mass centre"),
        "pc = AG qd",
    ),
    OutputEntry(
        *("centroidal_momentum_rate", None, (6,), "J/v_i", "its derivative by time"),
        "pc' = AG qdd + AGd qd",
    ),
    OutputEntry(
        *("centroidal_momentum_matrix", "AG", (6, "nv"), "kg m^2/(v_i u_k)"),
        *("derivatives of the centroidal momentum", "AG = dpc/dqd"),
    ),
    OutputEntry(
        *("centroidal_momentum_matrix_rate", "AGd", (6, "nv"), "kg m^2/(s v_i u_k)"),
        *("their derivatives by time", "AGd = dAG/dt"),
    ),
    OutputEntry(
        *("inverse_mass_matrix", "Hi", NV * 2, "u_i u_k/(kg m^2)", "inverse of the mass matrix"),
        "H Hi = 1",
    ),
    OutputEntry(
        *("regressor", "Y", ("nv", "parameters"), OF_LAW, "efforts for one unit of a parameter"),
        "tau = Y theta",
    ),
    OutputEntry(
        *("base_regressor", "Yb", ("nv", "base"), OF_LAW, "the same for the base parameters"),
        "tau = Yb theta_b",
    ),
)

_OF_FRAME = (
    OutputEntry(
        *("pose", "T", (4, 4), "p_k", "from components in F to those in the world"),
        "r = T r_F, homogeneous",
        of_frame=True,
    ),
    OutputEntry(
        *("velocity", "v", (6,), "v_i/s", "of the origin of F, then angular"),
        "v = J qd",
        of_frame=True,
    ),
    OutputEntry(
        *("acceleration", "a", (6,), "v_i/s^2", "of the origin, then angular; without gravity"),
        "a = J qdd + Jd qd",
        of_frame=True,
    ),
    OutputEntry(
        *("jacobian", "J", (6, "nv"), "v_i/u_k", "derivatives of the velocity"),
        "J = dv/dqd",
        of_frame=True,
    ),
    OutputEntry(
        *("jacobian_rate", "Jd", (6, "nv"), "v_i/(s u_k)", "their derivatives by time"),
        "Jd = dJ/dt",
        of_frame=True,
    ),
    OutputEntry(
        *("reaction", "R", (6,), "J/v_i", "in the joint that carries F, about F, in axes of F"),
        "a row of R, moved to F",
        of_frame=True,
    ),
    OutputEntry(
        *("inverse_operational_inertia", "Lambdai", (6, 6), "v_i v_k/(kg m^2)"),
        *("accelerations of F by forces on F", "Lambdai = J Hi J^T"),
        of_frame=True,
    ),
    OutputEntry(
        *("operational_inertia", "Lambda", (6, 6), "kg m^2/(v_i v_k)", "inertia felt at F"),
        "Lambda = (J Hi J^T)^-1",
        of_frame=True,
    ),
    OutputEntry(
        *("operational_bias", "mup", (6,), "J/v_i", "force at F that keeps its acceleration zero"),
        "mup = Lambda (J Hi h - a0), a0 = a at qdd = 0",
        of_frame=True,
    ),
    OutputEntry(
        *("manipulability", "w", (), PER_VALUE, "product of the singular values of J"),
        "w = sqrt(det(J J^T))",
        of_frame=True,
    ),
)

CATALOGUE = {entry.name: entry for entry in (*_EQUATIONS, *_OF_PARTS, *_OF_MECHANISM, *_OF_FRAME)}
"""All outputs by name, in the order of the documentation."""

LETTERS = {e.letter: e.name for e in CATALOGUE.values() if e.letter and not e.of_frame}
"""The letters of the equation tau = H qdd + qd^T C qd + hG + B sigma, and the outputs they mean."""

FRAME_LETTERS = {e.letter: e.name for e in CATALOGUE.values() if e.letter and e.of_frame}
"""The letters of quantities of a frame, which stands in brackets behind them: J(tool)."""
