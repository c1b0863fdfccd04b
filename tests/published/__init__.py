"""Results that others published, computed again and compared."""
