"""The transcript: loaded pages, layout, scrolling."""
