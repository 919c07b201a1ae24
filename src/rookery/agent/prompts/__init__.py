"""What our agent's model reads before the user's first words, one file for each purpose: its
instructions (`system`), and what its tools are and take (`tools`). Every request carries all of it:
a sentence stands here once, and only if a model would do worse without it."""
