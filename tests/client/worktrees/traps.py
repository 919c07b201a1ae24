"""A repository that is an enemy: everything in it that can name a program does, and each leaves a
note when it runs (`fixtures/git-traps.txt`)."""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from tests.client.work_tree.trees import Tree

TRAPS = Path(__file__).parents[3] / "fixtures" / "git-traps.txt"


def traps() -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(TRAPS.read_text().splitlines(), 1):
        kind, _, what = line.partition(" ")
        if what and kind != "#":
            yield number, kind, what


FILTERED = "*.txt diff=trap\n*.bin filter=trap merge=trap diff=trap\n"


class Enemy(Tree):
    """With a submodule and an embedded bare repository. Files of the kind `.bin` go through the
    filter, the others do not."""

    def __init__(self, place: Path, notes: Path, attributes: str = FILTERED) -> None:
        super().__init__(place, a__txt="1\n2\n3\n4\n5\n", b__txt="b\n", c__bin="c\n")
        notes.mkdir()
        self.notes = notes
        sub = Tree(place / "sub", s__txt="s\n")
        self.put({".gitattributes": attributes})
        self.git("-c", "advice.addEmbeddedRepo=false", "add", "sub", ".gitattributes")
        self.git("commit", "-qm", "second")
        self.git("init", "-q", "--bare", "bare")
        self.put({"bare/HEAD.old": "", "sub/.gitattributes": "* filter=trap\n", "a.txt": "1\n"})
        sub.put({"s.txt": "t\n"})
        self.plain = (place / ".git" / "config").read_text()
        self.set_up()
        for folder in (".git", "sub/.git", "bare"):
            (place / folder / "config").write_text(self.trapped(folder))
        os.utime(place / "b.txt", (1, 1))

    def trapped(self, folder: str = ".git") -> str:
        text = "[core]\n\trepositoryformatversion = 0\n"
        text += "\tbare = true\n" if folder == "bare" else "\tbare = false\n"
        for number, kind, what in traps():
            if kind == "config":
                key, value = what.replace("{run}", self.run(number)).split(" = ", 1)
                section, _, rest = key.partition(".")
                name, _, word = rest.rpartition(".")
                head = f'{section} "{escaped(name)}"' if name else section
                text += f'[{head}]\n\t{word} = "{escaped(value)}"\n'
        return text

    def set_up(self) -> None:
        config = f'[core]\n\tfsmonitor = "{escaped(self.run(9001))}"\n'
        self.put({".trap-config": config, ".trap-attributes": "*.txt diff=trap\n"})
        (self.place / ".git" / "config.worktree").write_text(config.replace("9001", "9002"))
        for number, kind, what in traps():
            if kind == "hook":
                self.program(f".git/hooks/{what}", number)
            elif kind == "file":
                self.program(what, number)

    def program(self, name: str, number: int) -> None:
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".py"):
            path.write_text(f"open({str(self.notes / str(number))!r}, 'w').close()\n")
        else:
            path.write_text(f"#!/bin/sh\n{self.run(number)}\nexit 1\n")
            path.chmod(0o755)

    def run(self, number: int) -> str:
        return f": > {shlex.quote(str(self.notes / str(number)))}"

    @property
    def ran(self) -> list[str]:
        """The lines of the traps that ran."""
        lines = {str(number): f"{kind} {what}" for number, kind, what in traps()}
        return [lines.get(each, each) for each in sorted(os.listdir(self.notes))]


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
