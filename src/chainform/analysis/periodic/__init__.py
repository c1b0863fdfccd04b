"""Periodic motions, their stability, and how fast neighbouring motions part."""
