"""The parts of benchmarks/simulation.py, and the peers that chainform is timed beside."""

from pathlib import Path

SWINGS = Path(__file__).parent / "swings.c"
"""Semi-implicit Euler over a function of one state."""
