"""The warm process: the SDK loaded once, and an agent forked from it for each session."""
