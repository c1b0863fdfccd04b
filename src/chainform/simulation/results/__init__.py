"""Runs in files and in the store: Parquet, CSV, NPZ."""
