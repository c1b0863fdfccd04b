"""Prescribed motions: where frames are along them, and the forces that they need."""
