"""What every face needs of a text before it has a look: blocks, rows, runs and tokens."""
