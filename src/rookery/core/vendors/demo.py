"""The demo agent: its name, and the prompts for which it has a scene of its own."""

NAME = "demo"
TOUR = "Show me around"
SECOND = "Show me a second session"
