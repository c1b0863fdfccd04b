"""All cases, by sources. A new file of cases gets one line here."""

from __future__ import annotations

from tests.published.cases import (
    adams_forces,
    adams_joints,
    bicycle,
    corke,
    drake,
    exudyn,
    iftomm,
    ivp,
    modelica_chains,
    modelica_constraints,
    modelica_drives,
    modelica_engines,
    modelica_fields,
    modelica_loops,
    modelica_robot,
    modelica_rotors,
    modelica_springs,
    modelica_wheels,
    rbdl,
    rimless_wheel,
    simbody,
    sundials,
)
from tests.published.records import Case

CASES: tuple[Case, ...] = (
    *modelica_chains.CASES,
    *modelica_springs.CASES,
    *modelica_fields.CASES,
    *modelica_loops.CASES,
    *modelica_constraints.CASES,
    *modelica_wheels.CASES,
    *modelica_rotors.CASES,
    *modelica_drives.CASES,
    *modelica_robot.CASES,
    *modelica_engines.CASES,
    *adams_joints.CASES,
    *adams_forces.CASES,
    *ivp.CASES,
    *sundials.CASES,
    *bicycle.CASES,
    *drake.CASES,
    *rimless_wheel.CASES,
    *simbody.CASES,
    *exudyn.CASES,
    *iftomm.CASES,
    *rbdl.CASES,
    *corke.CASES,
)
