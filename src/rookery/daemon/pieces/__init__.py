"""Pieces of the page as HTML: functions of plain data."""
