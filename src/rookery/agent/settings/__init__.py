"""What the agent is set up with: model profiles, hooks, secrets. Quick to import: no SDK here."""
