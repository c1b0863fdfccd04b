"""The peers of benchmarks/speed.py and what times them."""
