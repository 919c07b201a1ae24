"""What a model's provider says: errors, limits, and whether to ask again."""
