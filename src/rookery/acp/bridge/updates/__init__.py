"""Events as `session/update`s."""
