"""The session log, the only source of truth: one SQLite file per session, written by the holder of
its lock, read by anyone."""
