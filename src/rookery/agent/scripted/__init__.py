"""A model server on loopback that plays a script: for tests, and for a first run without an
account."""
