"""`python -m rookery`: the same as the command `rookery`, also where its script is not on PATH."""

from rookery.cli import main

main()
