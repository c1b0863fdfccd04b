"""chainform: equations of motion in symbolic form, as data, and fast.

import chainform as cf

mechanism = cf.read("arm.toml")
model = cf.derive(mechanism, outputs=["mass_matrix", "gravity"])
print(model["mass_matrix"][0, 0].expand())
model.evaluate(q=[0.1, 0.2, 0.3])["mass_matrix"]
model.compile().mass_matrix(np.array([0.1, 0.2, 0.3]))
cf.simulate(mechanism, q0=[0.1, 0.2, 0.3], t=(0, 2)).q
"""

from typing import TYPE_CHECKING

from chainform import lazy
from chainform.version import VERSION

if TYPE_CHECKING:
    from chainform.analysis import (
        analyse,
        compare,
        design,
        equilibria,
        equilibrium_path,
        frequency_response,
        inverse_dynamics,
        inverse_kinematics,
        kinematics,
        linearise,
        lyapunov_exponents,
        modes,
        periodic_motion,
        root_locus,
        sensitivities,
        stability_limit,
        statics,
        workspace,
    )
    from chainform.errors import Error
    from chainform.mechanism import Mechanism
    from chainform.model import Model, open_store, read_expressions
    from chainform.pipeline import derive, quantities
    from chainform.readers import read
    from chainform.reports import report
    from chainform.runtime import Program
    from chainform.simulation import Problem, Run, System, simulate
    from chainform.verification import Certificate, verify

__version__ = VERSION

__all__ = [
    "Certificate",
    "Error",
    "Mechanism",
    "Model",
    "Problem",
    "Program",
    "Run",
    "System",
    "analyse",
    "compare",
    "derive",
    "design",
    "equilibria",
    "equilibrium_path",
    "frequency_response",
    "inverse_dynamics",
    "inverse_kinematics",
    "kinematics",
    "linearise",
    "lyapunov_exponents",
    "modes",
    "open_store",
    "periodic_motion",
    "quantities",
    "read",
    "read_expressions",
    "report",
    "sensitivities",
    "root_locus",
    "simulate",
    "stability_limit",
    "statics",
    "verify",
    "workspace",
]

lazy.door(__name__)
