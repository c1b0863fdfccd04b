"""What the tables of operation counts are made of: cases, baselines, verification."""
