"""Closed loops and constraints: their rows, what they leave free, how they are closed and kept."""
