"""Ways back: which turns there are, what a rewind would change, and a fork at one of them."""
