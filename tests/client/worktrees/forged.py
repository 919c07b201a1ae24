"""Objects that no git would make, in the object directory of a sandboxed session."""

import os
import shutil
import zlib
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path

from tests.client.work_tree.trees import Tree


def put(own: Path, kind: str, data: bytes, name: str = "") -> str:
    """A loose object, under its own name or another."""
    whole = b"%b %d\0" % (kind.encode(), len(data)) + data
    name = name or sha1(whole, usedforsecurity=False).hexdigest()
    path = own / "objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(whole))
    return name


def commit(own: Path, tree: str, *parents: str) -> str:
    above = "".join(f"parent {each}\n" for each in parents)
    who = "A <a@example.org> 1700000000 +0000"
    text = f"tree {tree}\n{above}author {who}\ncommitter {who}\n\nforged\n"
    return put(own, "commit", text.encode())


def entry(mode: str, name: str, id: str) -> bytes:
    return f"{mode} {name}\0".encode() + bytes.fromhex(id)


def _wrong_name(own: Path) -> str:
    return commit(own, put(own, "tree", entry("100644", "x", put(own, "blob", b"x", "ab" * 20))))


def _wrong_commit(own: Path) -> str:
    tree = put(own, "tree", b"")
    return put(own, "commit", f"tree {tree}\n\nnobody\n".encode(), "cd" * 20)


def _spoilt(own: Path) -> str:
    blob = put(own, "blob", b"x")
    (own / "objects" / blob[:2] / blob[2:]).write_bytes(b"not zlib")
    return commit(own, put(own, "tree", entry("100644", "x", blob)))


def _instead(make: Callable[[Path], None]) -> Callable[[Path], str]:
    def forge(own: Path) -> str:
        blob = put(own, "blob", b"a private key")
        path = own / "objects" / blob[:2] / blob[2:]
        path.rename(own.parent / "elsewhere")
        make(path)
        return commit(own, put(own, "tree", entry("100644", "x", blob)))

    return forge


def _folder(own: Path) -> str:
    """A fan directory that is a link."""
    blob = put(own, "blob", b"a private key")
    shutil.move(own / "objects" / blob[:2], own.parent / "fan")
    (own / "objects" / blob[:2]).symlink_to(own.parent / "fan")
    return commit(own, put(own, "tree", entry("100644", "x", blob)))


def _borrowed(own: Path) -> str:
    """An object of another repository, by alternates."""
    other = Tree(own.parent / "other", x="secret")
    (own / "objects" / "info" / "alternates").write_text(f"{other.place}/.git/objects\n")
    return other.git("rev-parse", "HEAD").strip()


def _tree(*entries: tuple[str, str]) -> Callable[[Path], str]:
    def forge(own: Path) -> str:
        blob = put(own, "blob", b"x")
        return commit(own, put(own, "tree", b"".join(entry(*each, blob) for each in entries)))

    return forge


FORGED: dict[str, Callable[[Path], str]] = {
    "a blob under another's name": _wrong_name,
    "a commit under another's name": _wrong_commit,
    "no zlib": _spoilt,
    "a link": _instead(lambda path: path.symlink_to(path.parents[3] / "elsewhere")),
    "a pipe": _instead(os.mkfifo),
    "a directory": _instead(Path.mkdir),
    "a link to a directory": _folder,
    "another repository's": _borrowed,
    "no parent": lambda own: commit(own, put(own, "tree", b""), "12" * 20),
    "no tree": lambda own: commit(own, "12" * 20),
    "no commit": lambda _: "12" * 20,
    "a blob": lambda own: put(own, "blob", b"x"),
    "a tree without order": _tree(("100644", "b"), ("100644", "a")),
    ".git in a tree": _tree(("100644", ".git")),
    ".GIT in a tree": _tree(("100644", ".GIT")),
    "dots in a tree": _tree(("100644", "..")),
    "a slash in a tree": _tree(("100644", "../x")),
    "a name twice": _tree(("100644", "a"), ("100644", "a")),
    "a commit of nobody's": lambda own: put(
        own, "commit", f"tree {put(own, 'tree', b'')}\n\nx\n".encode()
    ),
}
