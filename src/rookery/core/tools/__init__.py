"""An agent's tool calls: their names, places, output and terminals."""
