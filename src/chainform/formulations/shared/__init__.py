"""What the formulations share: kinematics, the tree, turns, forces, constraints, outputs."""
