"""The model provider's errors, quotas and limits, and whether to try again."""
