"""The languages of benchmarks/languages.py, and how each is built, checked and timed."""
