"""Ten tasks of two or three files, as the steps that a model takes: 63 in all. Every agent gets the
same steps, each with the tools that it has."""

from typing import NamedTuple


class Run(NamedTuple):
    """A command that changes nothing."""

    command: str


class Write(NamedTuple):
    path: str
    text: str


class Edit(NamedTuple):
    """Whole lines that occur once."""

    path: str
    before: str
    after: str


type Step = Run | Write | Edit


class Task(NamedTuple):
    prompt: str
    files: dict[str, str]
    steps: tuple[Step, ...]

    def expected(self) -> dict[str, str]:
        """The files once every step is taken."""
        files = dict(self.files)
        for step in self.steps:
            match step:
                case Write(path, text):
                    files[path] = text
                case Edit(path, before, after):
                    assert files[path].count(before) == 1
                    files[path] = files[path].replace(before, after)
        return files


LIST = Run("ls -la")

TASKS = (
    Task(
        "Rename greet to salute.",
        {
            "greet.py": 'def greet(name):\n    return f"Hello, {name}"\n',
            "main.py": 'from greet import greet\n\nprint(greet("you"))\n',
        },
        (
            LIST,
            Run("cat greet.py main.py"),
            Edit("greet.py", "def greet(name):\n", "def salute(name):\n"),
            Edit("main.py", "from greet import greet\n", "from greet import salute\n"),
            Edit("main.py", 'print(greet("you"))\n', 'print(salute("you"))\n'),
            Run("grep -n salute greet.py main.py"),
        ),
    ),
    Task(
        "Add a limit to the settings and use it.",
        {
            "settings.toml": "[server]\nport = 8080\n",
            "server.py": "PORT = 8080\n\n\ndef accept(count):\n    return True\n",
        },
        (
            LIST,
            Run("cat settings.toml"),
            Run("cat server.py"),
            Edit("settings.toml", "port = 8080\n", "port = 8080\nlimit = 20\n"),
            Edit("server.py", "PORT = 8080\n", "PORT = 8080\nLIMIT = 20\n"),
            Edit("server.py", "    return True\n", "    return count < LIMIT\n"),
            Run("grep -rn -i limit settings.toml server.py"),
        ),
    ),
    Task(
        "Write a word counter and a test for it.",
        {"text.txt": "one two three\nnaïve café\n"},
        (
            LIST,
            Run("wc -w text.txt"),
            Write("count.py", "def words(text):\n    return len(text.split())\n"),
            Write("check.sh", '#!/bin/sh\nset -e\ntest "$(wc -w <text.txt)" -eq 5\n'),
            Run("sh check.sh && echo passed"),
            Run("cat count.py"),
        ),
    ),
    Task(
        "Split the constants from the code.",
        {"shop.py": "TAX = 0.2\nSHIPPING = 5\n\n\ndef total(net):\n    return net * (1 + TAX)\n"},
        (
            LIST,
            Run("cat shop.py"),
            Write("constants.py", "TAX = 0.2\nSHIPPING = 5\n"),
            Edit("shop.py", "TAX = 0.2\nSHIPPING = 5\n", "from constants import SHIPPING, TAX\n"),
            Edit(
                "shop.py",
                "    return net * (1 + TAX)\n",
                "    return net * (1 + TAX) + SHIPPING\n",
            ),
            Run("cat constants.py shop.py"),
        ),
    ),
    Task(
        "Translate the labels.",
        {"en.txt": "title\tOrders\nsave\tSave\n", "about.md": "# Labels\n\n- en.txt\n"},
        (
            LIST,
            Run("cat en.txt about.md"),
            Write("de.txt", "title\tAufträge\nsave\tSpeichern\n"),
            Edit("about.md", "- en.txt\n", "- en.txt\n- de.txt\n"),
            Run("paste en.txt de.txt"),
            Run("cat about.md"),
        ),
    ),
    Task(
        "Correct the off-by-one error.",
        {
            "ranges.py": "def last(items):\n    return items[len(items)]\n",
            "notes.md": "# Known errors\n\n- last fails\n",
        },
        (
            LIST,
            Run("cat notes.md"),
            Run("cat -A ranges.py"),
            Edit("ranges.py", "    return items[len(items)]\n", "    return items[-1]\n"),
            Edit("notes.md", "- last fails\n", "None.\n"),
            Run("grep -c . ranges.py notes.md"),
            Run("cat ranges.py"),
        ),
    ),
    Task(
        "Make a build file for the two programs.",
        {"a.c": "int main(void) { return 0; }\n", "b.c": "int main(void) { return 1; }\n"},
        (
            LIST,
            Run("head -n 3 a.c b.c"),
            Write("Makefile", "all: a b\n\na: a.c\n\tcc -o $@ $<\n\nb: b.c\n\tcc -o $@ $<\n"),
            Edit("b.c", "int main(void) { return 1; }\n", "int main(void) { return 0; }\n"),
            Run("grep -n main a.c b.c"),
            Run("cat Makefile"),
        ),
    ),
    Task(
        "Add a command-line option.",
        {
            "cli.py": 'import sys\n\nverbose = False\nprint("ready")\n',
            "README.md": "# cli\n\nRun `python cli.py`.\n",
        },
        (
            LIST,
            Run("cat cli.py README.md"),
            Edit("cli.py", "verbose = False\n", 'verbose = "-v" in sys.argv\n'),
            Edit(
                "README.md",
                "Run `python cli.py`.\n",
                "Run `python cli.py`, with `-v` for more.\n",
            ),
            Run("grep -n verbose cli.py"),
            Run("tail -n 1 README.md"),
        ),
    ),
    Task(
        "Put the log lines in order.",
        {"log.txt": "3 third\n1 first\n2 second\n"},
        (
            LIST,
            Run("sort -n log.txt"),
            Write("sorted.txt", "1 first\n2 second\n3 third\n"),
            Write("sort.sh", "#!/bin/sh\nexec sort -n log.txt\n"),
            Run("sh sort.sh | diff - sorted.txt && echo equal"),
            Run("cat sort.sh"),
        ),
    ),
    Task(
        "Give the class a description.",
        {
            "bird.py": "class Bird:\n    wings = 2\n",
            "nest.py": "from bird import Bird\n\nhome = [Bird()]\n",
        },
        (
            LIST,
            Run("cat bird.py"),
            Run("cat nest.py"),
            Edit("bird.py", "class Bird:\n", 'class Bird:\n    """Lives in a nest."""\n\n'),
            Edit("nest.py", "home = [Bird()]\n", "home = [Bird(), Bird()]\n"),
            Write("about.txt", "Two birds.\n"),
            Run("cat bird.py nest.py about.txt"),
        ),
    ),
)
assert sum(len(task.steps) for task in TASKS) == 63
