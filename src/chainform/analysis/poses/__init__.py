"""Inverse kinematics: coordinates that put frames at targets, and what frames can reach."""
