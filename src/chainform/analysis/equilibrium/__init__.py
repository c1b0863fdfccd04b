"""Mechanisms at rest: forces that hold a pose, equilibria and their paths."""
