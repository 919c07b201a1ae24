"""Pictures drawn in the terminal itself: what it can draw, and how each protocol is spoken."""
