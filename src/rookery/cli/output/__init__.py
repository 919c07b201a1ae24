"""Blocks as text: the same words in a terminal and in a pipe, and colour only where it is seen."""
