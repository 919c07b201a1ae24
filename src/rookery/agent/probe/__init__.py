"""One call to a model, to see whether it can be used: before it is saved, not in the first turn."""
