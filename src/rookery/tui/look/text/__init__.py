"""Text with a look of its own: Markdown, code, diffs, terminal output."""
