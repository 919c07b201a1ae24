"""Events folded into what a session looks like."""
