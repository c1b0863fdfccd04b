"""What a task found, whole or interrupted."""
