"""The demo: what a newcomer sees before any agent is set up. It changes no files."""

from typing import Any

PLAN = ["Look around", "Make a small change", "Run a command"]

GREETING = """\
Hello! I am Rookery's **demo agent**. There is no model behind me: I play a short scene, so that \
you can see what a turn looks like. I change nothing in your directory.
"""

SUMMARY = """\
## That was a turn

I made a plan, read a file, asked you about an edit, and ran a command. Rookery kept all of it, \
and a turn goes on when you close this window.

Try next:

- `rookery ps` lists your sessions
- `rookery tail` follows one as it happens
- `rookery show` prints what was said

Then let a real agent move in: any that speaks the Agent Client Protocol will do.
"""

TOUR: list[dict[str, Any]] = [
    {"title": "A tour of Rookery"},
    {"text": GREETING, "chunks": 12, "every": 0.03},
    {
        "thought": "A new user is here. A plan first, then something to look at, and no more "
        "than a few seconds of their time.",
        "chunks": 6,
        "every": 0.05,
    },
    {"plan": PLAN, "done": 0},
    {"wait": 0.3},
    {
        "read": "README.md",
        "limit": 40,
        "takes": 0.3,
        "content": "# A made-up project\n\nThere is no README.md here: the demo brings its own.\n",
    },
    {"plan": PLAN, "done": 1},
    {"wait": 0.2},
    {"text": "Here is a small edit. Nothing is written: say yes or no, and see what happens.\n"},
    {
        "diff": "greeting.py",
        "old": 'def greet():\n    print("Hello")\n',
        "new": 'def greet(name="world"):\n    """Say hello."""\n    print(f"Hello, {name}!")\n',
        "title": "Edit greeting.py (only a demo: nothing is written)",
        "ask": True,
        "takes": 0.2,
        "allowed": [
            {"text": "\nThank you. That is how an agent's edit looks when you allow it.\n"}
        ],
        "rejected": [
            {"text": "\nAll right, I leave it as it is: a rejected edit never happens.\n"}
        ],
        "cancelled": [{"text": "\nNo answer, no edit. On we go.\n"}],
    },
    {"plan": PLAN, "done": 2},
    {"wait": 0.2},
    {
        "command": "uname -sm && echo 'Three birds, all in their nests.'",
        "title": "Count the birds",
        "takes": 0.4,
        "output": "Three birds, all in their nests.\n",
    },
    {"plan": PLAN, "done": 3},
    {"usage": 4200, "size": 200000, "cost": 0.01},
    {"text": SUMMARY, "chunks": 30, "every": 0.03},
]

AGAIN: list[dict[str, Any]] = [
    {
        "text": "I am only the demo agent and have shown all that I can. A new session plays the "
        "tour again; `rookery ps` lists the ones you have.\n",
        "chunks": 4,
        "every": 0.03,
    }
]

DEMO: dict[str, Any] = {
    "agent": {"name": "rookery-demo", "title": "Rookery demo", "version": "1"},
    "turns": [TOUR],
    "otherwise": AGAIN,
}
