"""What declares equations: rows of constraints, drives, controllers, contact laws, events."""
