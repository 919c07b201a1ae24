"""The transcript: a window on a session's pages, laid out lazily, painted line by line."""
