"""What cannot be undone, program by program. Most of it is tables: a line names the words and
options that make a command dangerous, and says in a few words what it does."""
