"""Programs in motion: integrators, events, closed loops, results."""

from typing import TYPE_CHECKING

from chainform import lazy

if TYPE_CHECKING:
    from chainform.simulation.batch import run_batch
    from chainform.simulation.batch_run import BatchInterrupted, BatchRun, needs_runs
    from chainform.simulation.cases import Cases, cases_of
    from chainform.simulation.equations.assembly import (
        CLOSED,
        Mobility,
        Places,
        assemble,
        consistent_rates,
        descend,
        free_rates,
        mobility,
        rank_of,
    )
    from chainform.simulation.equations.builder import EquationBuilder
    from chainform.simulation.equations.contact.contact_tables import barriers_of, tables_of
    from chainform.simulation.equations.contact.laws import (
        Barrier,
        Barriers,
        Contact,
        GapContext,
        PointContact,
        Stop,
    )
    from chainform.simulation.equations.controllers import (
        Controller,
        SampledController,
        controllers_of,
    )
    from chainform.simulation.equations.efforts import Efforts, efforts_of, with_signals
    from chainform.simulation.equations.evaluate import check_rate_of_time, values_along
    from chainform.simulation.equations.events import Event, EventRecord, Impact, StateChange
    from chainform.simulation.equations.initial import (
        initial_rest,
        initial_state,
        rest_names,
        whole_states,
    )
    from chainform.simulation.equations.inputs import law_inputs
    from chainform.simulation.equations.loop_constraints import ConstraintResiduals, stabilise_of
    from chainform.simulation.equations.motion_laws import graph_of_laws, motion_name
    from chainform.simulation.equations.parameters import (
        check_fixed,
        check_known,
        parameters_of,
        with_unknowns,
        without_values,
    )
    from chainform.simulation.equations.spline import (
        MOTION_FIELDS,
        contradiction,
        known_rates,
        spline_through,
        table_columns,
        table_spline,
    )
    from chainform.simulation.equations.times import OutputTimes
    from chainform.simulation.execution import Interrupted, MotionError
    from chainform.simulation.files.about import END, About, digests_of
    from chainform.simulation.files.formats import (
        FORMS,
        form_of,
        made_of_file,
        motion_file,
        write_record,
    )
    from chainform.simulation.files.mechanism_source import origin_of
    from chainform.simulation.files.record import ResultRecord, columns_of
    from chainform.simulation.files.scenario import Scenario, is_mechanism_file, scenario_of
    from chainform.simulation.files.sections import DriveSection
    from chainform.simulation.interface import simulate, simulate_batch
    from chainform.simulation.machine.method import Solver
    from chainform.simulation.problem import Problem, System
    from chainform.simulation.problem_options import ProblemOptions
    from chainform.simulation.quantities import check_output
    from chainform.simulation.resumption import StartState
    from chainform.simulation.run import Run
    from chainform.simulation.solvers import settings_of

__all__ = [
    "About",
    "CLOSED",
    "END",
    "FORMS",
    "MOTION_FIELDS",
    "Barrier",
    "Barriers",
    "BatchInterrupted",
    "BatchRun",
    "Cases",
    "ConstraintResiduals",
    "Contact",
    "Controller",
    "SampledController",
    "DriveSection",
    "Efforts",
    "EquationBuilder",
    "Event",
    "EventRecord",
    "GapContext",
    "Impact",
    "Interrupted",
    "Mobility",
    "MotionError",
    "OutputTimes",
    "Places",
    "PointContact",
    "Problem",
    "ProblemOptions",
    "ResultRecord",
    "Run",
    "Scenario",
    "Solver",
    "StartState",
    "StateChange",
    "Stop",
    "System",
    "assemble",
    "barriers_of",
    "cases_of",
    "check_rate_of_time",
    "check_fixed",
    "check_known",
    "check_output",
    "columns_of",
    "consistent_rates",
    "contradiction",
    "controllers_of",
    "descend",
    "digests_of",
    "efforts_of",
    "form_of",
    "free_rates",
    "graph_of_laws",
    "initial_rest",
    "initial_state",
    "is_mechanism_file",
    "known_rates",
    "law_inputs",
    "made_of_file",
    "motion_file",
    "motion_name",
    "mobility",
    "needs_runs",
    "origin_of",
    "parameters_of",
    "rank_of",
    "rest_names",
    "run_batch",
    "scenario_of",
    "settings_of",
    "simulate",
    "simulate_batch",
    "spline_through",
    "stabilise_of",
    "table_columns",
    "table_spline",
    "tables_of",
    "values_along",
    "whole_states",
    "with_signals",
    "with_unknowns",
    "without_values",
    "write_record",
]

lazy.door(__name__)
