"""Blocks as text, the same in a terminal and in a pipe; colour only in a terminal."""
