"""Sessions that were begun with an agent elsewhere."""
