"""The log is the truth: one SQLite file per session, written by a lock's holder, read by anyone."""
