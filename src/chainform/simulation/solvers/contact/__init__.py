"""Which stops and contacts hold, with which forces, and what impacts do."""
