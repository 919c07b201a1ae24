"""One file for each command."""

COMPLETING = "_ROOKERY_COMPLETE"
"""In the environment: a shell wants to know how a word may go on."""

EVERYTHING = "rookery.help.everything"
"""In a context's `meta`: the help lists every command."""
