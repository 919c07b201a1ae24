"""Support for writing prompts: history, files, clipboard, slash commands."""
