"""Rendering blocks as lines of a terminal: pure functions of a block, a width and a look."""
