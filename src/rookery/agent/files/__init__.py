"""Files that a model edits: decoded to text, and written back in their own encoding and line
ends."""
