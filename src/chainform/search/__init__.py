"""The fewest operations: drives reductions again and again."""
