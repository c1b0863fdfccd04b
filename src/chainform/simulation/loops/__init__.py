"""Loops of integrators, as procedures: they run without a return to Python between steps."""
