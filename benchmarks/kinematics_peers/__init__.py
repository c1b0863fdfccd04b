"""Peers of inverse kinematics: Pinocchio's damped least squares and the Robotics Toolbox."""
