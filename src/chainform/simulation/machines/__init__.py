"""Equations and loops as machine code, and the arrays around them."""
