"""The daemon: one address for all sessions of a home. It reads logs, talks to workers and serves
clients, and keeps no authoritative state of its own."""
