"""Updating Rookery, and replacing the workers that an older build started."""
