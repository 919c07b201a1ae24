"""Reading the web: one page by its address, and a search by the user's provider."""
