"""How the daemon fares, for whoever operates it."""
