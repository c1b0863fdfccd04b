"""The peers of benchmarks/derivatives.py and what compares them."""
