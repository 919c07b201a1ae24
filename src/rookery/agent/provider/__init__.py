"""The model's provider: what it answers, mended where a client library below us does not, and how
often it is asked again."""
