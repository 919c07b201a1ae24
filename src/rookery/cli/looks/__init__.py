"""Command-line additions to operations of the catalogue: a module for each, by its name."""
