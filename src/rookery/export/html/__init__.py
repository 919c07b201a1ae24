"""Blocks as HTML, for the exported file and the web page. Every text is escaped, nothing is loaded
from elsewhere, and looks are classes of `style.css` alone: no inline style, no script."""
