"""Mechanics in maximal coordinates: six freedoms for each body, joints as equations.

An answer to compare with. It reads the same table of numbers as the product and imports nothing of
it but itself, which a contract in `pyproject.toml` enforces; it is slow and small on purpose.
Quantities of a state need numpy, motions scipy too.

expressions   laws as text, with two derivatives
bodies        the table as elementary bodies, one for each elementary joint
kinematics    poses, velocities, the linear equations of all joints
loops         the rows of loops, by the joint that closes them
dynamics      forces, mass matrix, accelerations under loops and constraints
centroid      the mass centre of all bodies, and momentum about it
quantities    what the product derives, by the same names
inverse       drives and other forces that a motion needs
drives        actuators and controllers
motions       motions by `scipy.integrate.solve_ivp`, with stops
events        times at which laws become zero in a motion
"""
