"""HTML fragments of the page, rendered by functions of plain data."""
