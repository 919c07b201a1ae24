"""The demo for newcomers, before any agent is set up. It changes no files."""

from typing import Any

from rookery.core.vendors.demo import SECOND, TOUR

PLAN = ["Look around", "Make a small change", "Run a command"]

GREETING = """\
Hello! I am Rookery's **demo agent**. There is no model behind me: I play a short scene, so that \
you can see what a turn looks like. I change nothing in your directory.
"""

SUMMARY = """\
## That was a turn

I made a plan, read a file, asked you about an edit, and ran a command. Rookery kept all of it, \
and a turn goes on when you close this window.
"""

TRIAGE = """
Now what Rookery is for: several agents at once. I have one more question, and it can wait.

1. In the terminal interface, press `Ctrl+N`, then `Enter`: a second session starts.
2. Once it asks too, press `F2` `y` `F2` `y`: `F2` goes to the next question in any session, \
`y` allows it.
"""

NEXT = """
That was the tour. Try next:

- `rookery ps` lists your sessions
- `rookery tail` follows one as it happens
- `rookery show` prints what was said

Then let a real agent move in: any that speaks the Agent Client Protocol will do.
"""

SCENE: list[dict[str, Any]] = [
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

LAST: list[dict[str, Any]] = [
    {"text": TRIAGE, "chunks": 12, "every": 0.03},
    {
        "command": "echo 'All birds are home.'",
        "title": "Count the birds again",
        "ask": True,
        "takes": 0.2,
        "output": "All birds are home.\n",
        "rejected": [{"text": "\nAll right, they stay uncounted.\n"}],
    },
]

BESIDE: list[dict[str, Any]] = [
    {"title": "A second session"},
    {
        "text": "Hello from a second session, with an agent of its own. Both wait for you now: "
        "press `F2` `y` `F2` `y`, and both are answered.\n",
        "chunks": 6,
        "every": 0.03,
    },
    {
        "diff": "nest.py",
        "old": "eggs = 2\n",
        "new": "eggs = 3\n",
        "title": "Edit nest.py (only a demo: nothing is written)",
        "ask": True,
        "takes": 0.2,
        "allowed": [{"text": "\nThank you. `F2` goes to the next question, if there is one.\n"}],
        "rejected": [{"text": "\nThen two it is. `F2` goes to the next question.\n"}],
        "cancelled": [{"text": "\nNo answer, no edit.\n"}],
    },
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
    "turns": [[*SCENE, {"text": NEXT}]],
    "match": [
        {"regex": f"^{TOUR}$", "steps": [*SCENE, *LAST, {"text": NEXT}]},
        {"regex": f"^{SECOND}$", "steps": BESIDE},
    ],
    "otherwise": AGAIN,
}
