"""The models that a person saved for Rookery's own agent: who reads, checks, tests or changes them
does it here. Quick to import: no SDK, so that every face calls it directly."""
