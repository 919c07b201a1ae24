"""Search over everything that was ever said in the sessions of a home: with a daemon or without."""
