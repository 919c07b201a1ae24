"""The demo agent: its name, and the prompts for which it has a prepared scene."""

NAME = "demo"
TOUR = "Show me around"
SECOND = "Show me a second session"
