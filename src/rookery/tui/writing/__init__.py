"""What helps to write: history, files, clipboard, slash commands."""
