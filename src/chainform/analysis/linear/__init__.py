"""Small motions about a state, and the equations that they come from."""
