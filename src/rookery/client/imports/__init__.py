"""Importing sessions that were started with an agent outside Rookery."""
