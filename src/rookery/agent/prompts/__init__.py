"""The text that our agent's model reads and neither it nor the user wrote, one file for each
purpose: its instructions (`system`), the descriptions and arguments of its tools (`tools`), the
outcome of an edit (`results`). Every request carries all of it: each sentence is said only once,
and only if a model would do worse without it."""
