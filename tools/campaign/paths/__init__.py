"""The table of paths. A new path is one function in a file of this folder and one line here."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from tools.campaign.paths import (
    bound,
    derivatives,
    further,
    inverse,
    linear,
    motions,
    poses,
    prescribed,
    rest,
    statics,
    tasks,
    texts,
)
from tools.campaign.paths.statics import Given, Results


@dataclass(frozen=True)
class Path:
    """One way through the product, and for which cases it is taken."""

    run: Callable[[Given], Results]
    kind: str
    """What it is compared with: `state`, `motion` or `task`."""
    share: float = 1.0
    """The share of the cases that it is taken for."""
    needs: tuple[str, ...] = ()
    """What the case must have: features of the mechanism, or fields of the case."""
    without: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the function with that of its file."""
        return f"{self.run.__module__.rpartition('.')[2]}.{self.run.__name__}"


ROWS = ("loops", "constraints")

PATHS: tuple[Path, ...] = (
    Path(statics.auto, "state"),
    Path(statics.newton_euler, "state", 0.18),
    Path(statics.composite_body, "state", 0.18),
    Path(statics.articulated_body, "state", 0.18),
    Path(statics.kinetostatic, "state", 0.18),
    Path(statics.closed_form, "state", 0.12),
    Path(statics.gibbs_appell, "state", 0.18),
    Path(statics.lagrange, "state", 0.18),
    Path(statics.elements, "state", 0.12),
    Path(statics.frames, "state", 0.24),
    Path(statics.wrenches, "state", 0.12),
    Path(statics.reduced_fast, "state", 0.1),
    Path(statics.reduced_thesis, "state", 0.06),
    Path(statics.compiled, "state", 0.09),
    Path(statics.compiled_batch, "state", 0.15),
    Path(statics.program_bytes, "state", 0.05),
    Path(statics.emitted_python, "state", 0.12),
    Path(statics.stored, "state", 0.05),
    Path(statics.native_round_trip, "state", 0.15),
    Path(statics.urdf_round_trip, "state", 0.18),
    Path(statics.as_elements, "state", 0.2, without=("loops",)),
    Path(statics.builder, "state", 0.12),
    Path(bound.at_evaluate, "state", 0.24, needs=("values",)),
    Path(bound.at_evaluate_symbolic, "state", 0.09, needs=("values",)),
    Path(bound.by_bind, "state", 0.12, needs=("values",)),
    Path(bound.at_call, "state", 0.09, needs=("values",)),
    Path(bound.in_batch, "state", 0.15, needs=("values",)),
    Path(further.tree_form, "state", 0.4),
    Path(further.payload, "state", 0.12),
    Path(further.left_out, "state", 0.12),
    Path(further.named_by_table, "state", 0.08),
    Path(further.bad_arrays, "motion", 0.03),
    Path(further.spinning, "motion", 0.02),
    Path(further.unilateral, "motion", 0.4, needs=("stops",)),
    Path(further.computed_torque, "motion", 0.1, without=(*ROWS, "actuators")),
    Path(motions.simulated, "motion", 0.3),
    Path(motions.by_method, "motion", 0.2),
    Path(motions.reduced, "motion", 0.025),
    Path(motions.stabilised, "motion", 0.15, needs=("loops",)),
    Path(motions.outputs, "motion", 0.2),
    Path(motions.with_values, "motion", 0.2, needs=("values",)),
    Path(motions.batch, "motion", 0.1, without=(*ROWS, "actuators")),
    Path(motions.batch_with_fixed_steps, "motion", 0.1, without=(*ROWS, "actuators")),
    Path(motions.batch_with_values, "motion", 0.1, needs=("values",)),
    Path(motions.resumed, "motion", 0.125),
    Path(motions.resumed_with_more_times, "motion", 0.05),
    Path(motions.saved, "motion", 0.075),
    Path(motions.scenario, "motion", 0.075),
    Path(statics.single_precision, "state", 0.1),
    Path(motions.events, "motion", 0.6, needs=("events",)),
    Path(further.xacro, "state", 0.05),
    Path(further.vectors_form, "state", 0.1),
    Path(further.verified, "state", 0.15),
    Path(motions.resumed_from_store, "motion", 0.06),
    Path(statics.stored_in_postgres, "state", 0.1, needs=("postgres",)),
    Path(inverse.drives, "state", 0.15),
    Path(inverse.unknown_forces, "state", 0.15),
    Path(inverse.moved_by_unknowns, "motion", 0.5, needs=("pushes",)),
    Path(derivatives.first_derivatives, "state", 0.15),
    Path(derivatives.second_derivatives, "state", 0.05),
    Path(derivatives.regressors, "state", 0.15),
    Path(derivatives.small_motions, "state", 0.15),
    Path(derivatives.own_outputs, "state", 0.05),
    Path(tasks.kinematics, "task", 0.4),
    Path(tasks.completed, "task", 0.4),
    Path(tasks.loads, "task", 0.4),
    Path(tasks.held, "task", 0.35),
    Path(tasks.held_by_wrench, "task", 0.3),
    Path(tasks.workspace, "task", 0.3),
    Path(rest.equilibria, "task", 0.4),
    Path(rest.equilibrium_path, "task", 0.3),
    Path(poses.targets, "task", 0.35),
    Path(poses.target_path, "task", 0.35),
    Path(poses.closed_form, "task", 0.2),
    Path(prescribed.prescribed, "motion", 0.25),
    Path(prescribed.repeated, "motion", 0.15, without=(*ROWS, "actuators", "stops", "contacts")),
    Path(linear.linearised, "task", 0.4),
    Path(texts.expanded, "state", 0.4),
    Path(texts.in_c, "state", 0.08),
    Path(texts.in_numpy, "state", 0.12),
    Path(texts.in_javascript, "state", 0.08),
    Path(linear.modes, "task", 0.3),
    Path(linear.frequency_response, "task", 0.2),
    Path(motions.sampled, "motion", 0.6, needs=("controllers",)),
    Path(motions.sensitivities, "task", 0.2, without=(*ROWS, "contacts")),
)


def applies(path: Path, given: Given) -> bool:
    """Whether a path can be taken for a case."""
    has = {name for name, value in {**given["mechanism"], **given["motion"]}.items() if value}
    has |= {"postgres"} if os.environ.get("CAMPAIGN_POSTGRES") else set()
    has |= {"values"} if given["numbers"] or given["wrong"] else set()
    return has.issuperset(path.needs) and has.isdisjoint(path.without)
