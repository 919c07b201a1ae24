"""The turn machine: one prompt at a time, each with one end."""
