"""Web access: fetches a page by its address, and searches with the user's provider."""
