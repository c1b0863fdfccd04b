"""What moves a system: efforts, signals, actuators."""
