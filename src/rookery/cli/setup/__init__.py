"""`setup`: from a provider's name and a key to a model that has been tested."""
