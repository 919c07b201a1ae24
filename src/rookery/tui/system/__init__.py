"""The terminal's surroundings: other programs, notifications, the clock."""
