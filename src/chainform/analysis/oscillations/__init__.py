"""Oscillations: modes, forced oscillations, poles along a parameter."""
