"""What our agent's model reads that neither it nor the user wrote, one file for each purpose: its
instructions (`system`), what its tools are and take (`tools`), what an edit did (`results`). Every
request carries all of it: a sentence stands here once, and only if a model would do worse without
it."""
