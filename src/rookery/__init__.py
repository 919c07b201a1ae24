"""Rookery runs ACP agents in detached workers, keeps every turn and lets their owner steer."""

__version__ = "0.1.0"
