"""Building an SDK conversation, guarding its steps, hooks, skills, summaries and repairs."""
