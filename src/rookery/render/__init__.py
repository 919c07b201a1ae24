"""Text processing that every face needs before anything is styled: blocks, rows, runs and
tokens."""
