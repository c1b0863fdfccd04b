"""Scenarios: files that tell a whole simulation."""

from chainform.simulation.scenarios.scenario import Scenario, takes_scenarios

__all__ = ["Scenario", "takes_scenarios"]
