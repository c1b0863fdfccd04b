"""How motions change with their start and with parameters: exact derivatives along a motion."""
