"""What the command line adds to operations of the catalogue: a file for each, with its name."""
