"""Many motions at once, on all cores."""
