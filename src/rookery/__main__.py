"""`python -m rookery` does the same as the command `rookery`, also if its script is not on PATH."""

from rookery.cli import main

main()
