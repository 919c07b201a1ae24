"""Building blocks of windows: forms, fields, rows, small dialogs."""
