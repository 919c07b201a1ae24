"""What windows are made of: forms, fields, rows, small dialogs."""
