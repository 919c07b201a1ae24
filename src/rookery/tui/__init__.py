"""The terminal interface: shows blocks and sends actions; it knows no kinds of events."""
