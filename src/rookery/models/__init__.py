"""The saved models of Rookery's own agent: reading, checking, testing and changing them. Needs no
SDK."""
