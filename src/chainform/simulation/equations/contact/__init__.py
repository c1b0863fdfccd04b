"""Stops, contacts and dry friction: their laws, and their rows in the equations."""
