"""Foreign JSON and foreign text: read leniently, shown safely."""
