"""What Markdown is written with beside CommonMark: formulas, diagrams, footnotes."""
