"""Blocks as text, the same in a terminal and in a pipe; colour only in a terminal."""

from rookery.cli.output.safe import clean, clean_line, clean_output, columns, cut, pad
from rookery.cli.output.screen import Screen, standard

__all__ = ["Screen", "clean", "clean_line", "clean_output", "columns", "cut", "pad", "standard"]
