"""The terminal interface: a look at blocks and actions, which knows no kind of event."""
