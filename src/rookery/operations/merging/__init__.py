"""What becomes of the branches that sessions work on: merged, dropped, compared in a race."""
