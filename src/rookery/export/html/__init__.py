"""Rendering blocks as HTML, for the exported file and the web page. All text is escaped, nothing is
loaded from elsewhere, and styling uses classes of `style.css` alone: no inline styles, no scripts.
"""
