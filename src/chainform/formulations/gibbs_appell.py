"""Recursive Gibbs-Appell equations, each body in its own axes (Korayem and Shafei).

    dS/dqdd = tau,      S the acceleration energy, half the integral of a . a dm

The bodies are steps of a recursion (steps.py): links that turn and slide through their joint at
once, as in the paper, and any other joint. The derivatives of S are swept outward and inward
(appell_sweep.py, chi and phi), at a cost linear in the steps, with the accelerations of the
coordinates or without them; the inertia matrix comes from its own recursions (appell_inertia.py;
sigma, psi, U, gamma, xi and lambda). The rates of spherical and free joints are quasi-velocities,
and S is differentiated by their derivatives.

The paper's equations hold with these corrections:

(7), (9), (12), (16), (17)   the integrals begin at -(L_i - l_i)
(38), printed as (48)        the last factor of sigma is iR_k
(41)                         the first rotation of gamma is jR_i
(45)                         the second sum runs to n
(49)                         the second term of chi is the vector product of r with phi_j
missing                      Re_eta_j = F_j - x_j . (phi_j + S_j), where S_j holds r_v of O_j
                             with the acceleration of the ground that stands for gravity

Beyond the paper, a body need not be a rod along x: where its mass centre is off that line B3 x and
x . B3 w' do not vanish, and where B8 is not a multiple of unity [w] B7 w becomes [w] (B7 + B8) w.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chainform.formulations.appell_inertia import AppellInertia
from chainform.formulations.appell_sweep import HALF, AppellSweep
from chainform.formulations.applied import forces_beside_bodies, outer_forces
from chainform.formulations.factorisation import solve
from chainform.formulations.kinematics import Kinematics
from chainform.formulations.options import AxisChoices, Options
from chainform.formulations.outputs import Key, declare
from chainform.formulations.passive import rotor_inertias
from chainform.formulations.skeleton import Skeleton
from chainform.formulations.steps import steps_of
from chainform.graph import Builder, Scalar
from chainform.mechanism import Mechanism

SWEEPS = {
    "inverse_dynamics": ("tau", "gravity", "base", "qd", "qdd"),
    "bias": ("h", "gravity", "base", "qd"),
    "gravity": ("hG", "gravity"),
}
"""The outputs of a sweep: the letter of each, and the causes of motion that it takes."""


def gibbs_appell(
    builder: Builder, mechanism: Mechanism, outputs: Sequence[str], options: Options
) -> AxisChoices:
    """Build the recursive equations of Gibbs and Appell."""
    work = _GibbsAppell(builder, mechanism, options)
    makers = {
        "mass_matrix": work.mass_matrix,
        "forward_dynamics": work.forward_dynamics,
        "acceleration_energy": work.acceleration_energy,
    }
    for output in outputs:
        if output in SWEEPS:
            work.sweep(output)
        else:
            makers[output]()
    return {}


class _GibbsAppell:
    def __init__(self, builder: Builder, mechanism: Mechanism, options: Options) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.options = options
        self.kinematics = Kinematics(mechanism, builder)
        self.steps = steps_of(Skeleton(self.kinematics))

    def sweep(self, output: str) -> None:
        """Declare inverse dynamics, bias or gravity."""
        letter, *causes = SWEEPS[output]
        totals = AppellSweep(self.kinematics, self.steps, causes).efforts()
        if output == "inverse_dynamics":
            beside = forces_beside_bodies(self.builder, self.mechanism, self.options)
            for rate, value in beside.items():
                totals[rate] = totals[rate] + value
        self._declare(output, letter, totals)

    def mass_matrix(self) -> None:
        """Declare H."""
        n = self.mechanism.nv
        declare(self.builder, "mass_matrix", "H", (n, n), self._inertia())

    def forward_dynamics(self) -> None:
        """Declare qdd from H qdd = tau - bias."""
        bias = AppellSweep(self.kinematics, self.steps, SWEEPS["bias"]).efforts()
        right = {rate: self.kinematics.q(rate, "tau") - value for rate, value in bias.items()}
        outer = outer_forces(self.builder, self.mechanism, self.options)
        for rate, value in outer.items():
            right[rate] = right[rate] - value
        self._declare("forward_dynamics", "qdd", solve(self._inertia(), right))

    def acceleration_energy(self) -> None:
        """Declare S, that of rotors included; gravity is not in it."""
        total = AppellSweep(self.kinematics, self.steps, ("base", "qd", "qdd")).energy()
        rotors = rotor_inertias(self.builder, self.mechanism, self.options)
        for rate, inertia in rotors.items():
            total = total + HALF * inertia * self.kinematics.q(rate, "qdd") ** 2
        self.builder.output("acceleration_energy", (), [("S", total)])

    def _inertia(self) -> dict[Key, Scalar]:
        sums = AppellInertia(self.kinematics, self.steps).mass_matrix()
        rotors = rotor_inertias(self.builder, self.mechanism, self.options)
        for rate, inertia in rotors.items():
            sums.add((rate, rate), inertia, same_joint=True)
        return sums.mirrored()

    def _declare(self, output: str, letter: str, values: Mapping[int, Scalar]) -> None:
        entries = {(rate,): value for rate, value in values.items()}
        declare(self.builder, output, letter, (self.mechanism.nv,), entries)
