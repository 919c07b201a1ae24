"""`setup`: from a provider's name and a key to a model that is known to answer."""
