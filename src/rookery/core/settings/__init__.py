"""Settings as values: their definitions, former names, and which changes loosen them."""
