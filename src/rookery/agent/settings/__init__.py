"""What the agent is set up with besides its models: hooks. Quick to import: no SDK here."""
