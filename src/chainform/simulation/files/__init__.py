"""Scenarios and results in files."""
