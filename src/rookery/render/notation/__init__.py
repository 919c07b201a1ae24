"""Notations that extend CommonMark: formulas, diagrams, footnotes."""
