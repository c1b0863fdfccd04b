"""Scenarios: files that tell a whole simulation."""

from chainform.simulation.scenarios.scenario import Scenario
from chainform.simulation.scenarios.taking import takes_batches, takes_scenarios

__all__ = ["Scenario", "takes_batches", "takes_scenarios"]
