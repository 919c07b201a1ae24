"""Files that a model edits: read as text, written back as the files that they were."""
