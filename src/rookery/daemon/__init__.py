"""The daemon: one address for all sessions of a home. It reads logs, talks to workers and serves;
it holds no truth of its own."""
