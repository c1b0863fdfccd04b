"""What comes and goes in a motion: stops, contacts, dry friction, impacts."""
