"""Scenarios: files that tell a whole simulation."""

from chainform.simulation.scenarios.scenario import Scenario, scenario_of
from chainform.simulation.scenarios.words import errors_of_file

__all__ = ["Scenario", "errors_of_file", "scenario_of"]
