"""What `doctor` does: looks at the home, and examines agents check by check."""
