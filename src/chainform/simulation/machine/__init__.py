"""Equations as machine code, and the compiled procedures of systems under constraints."""
