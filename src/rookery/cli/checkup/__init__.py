"""What `doctor` does: looks at the home, and examines agents row by row of the ACP checklist."""
