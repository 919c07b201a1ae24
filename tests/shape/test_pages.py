"""Links in the pages lead somewhere; what pages say of other pages and of the code is so."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "tests").rglob("*.md"),
]
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:href|src|srcset)=\"([^\"]+)\"")
ELSEWHERE = ("http://", "https://", "mailto:")


@cache
def text_of(page: Path) -> str:
    """The page without its code."""
    text = re.sub(r"(?ms)^ *```.*?^ *```", "", page.read_text(encoding="utf-8"))
    return re.sub(r"`([^`\n]*)`", lambda code: code[1].replace("](", "] ("), text)


@cache
def anchors_of(page: Path) -> set[str]:
    """A heading's anchor, as GitHub makes it: the second of the same name ends in `-1`."""
    anchors: list[str] = []
    for heading in re.findall(r"(?m)^#+ +(.+)$", text_of(page)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchors.append(re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-"))
    again = [f"{name}-{anchors[:n].count(name)}" for n, name in enumerate(anchors)]
    return {*anchors, *again}


def links_of(page: Path) -> list[tuple[Path, str]]:
    """The files and headings of this repository that a page points to."""
    links = [either[0] or either[1] for either in LINK.findall(text_of(page))]
    ours = [link.partition("#") for link in links if not link.startswith(ELSEWHERE)]
    return [((page.parent / path).resolve() if path else page, name) for path, _, name in ours]


def test_every_link_leads_somewhere() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {target.name}#{anchor}"
        for page in PAGES
        for target, anchor in links_of(page)
        if not target.exists() or (anchor and anchor not in anchors_of(target))
    ]
    assert broken == []


def test_every_page_of_docs_is_reachable_from_the_readme() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached and page.suffix == ".md":
            reached.add(page)
            waiting += [target for target, _ in links_of(page)]
    docs = {page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "decisions"}
    assert docs <= reached, sorted(page.name for page in docs - reached)


def test_the_index_has_each_decision_once_by_its_title() -> None:
    folder = ROOT / "docs" / "decisions"
    entry = r"(?m)^- \[(\d{4})\]\((.+?)\): (.+?)(?: \((?:superseded|amended) by [^()]+\))?$"
    listed = re.findall(entry, (folder / "README.md").read_text(encoding="utf-8"))
    there = []
    for page in sorted(folder.glob("[0-9]*.md")):
        number, _, title = page.read_text(encoding="utf-8").partition("\n")[0].partition(": ")
        there.append((number.removeprefix("# "), page.name, title))
    assert sorted(listed) == there


# What goes wrong, in the words that users see


def sentences() -> set[str]:
    """Every text in the code, with … for what is filled in."""
    texts = set[str]()
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [getattr(part, "value", "") for part in node.values]
                texts.add("".join(part if isinstance(part, str) else "…" for part in parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
    return texts


def test_troubleshooting_quotes_what_rookery_says() -> None:
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    quoted = re.findall(r"(?m)^\| `(.+?)` \|", page)
    assert len(quoted) > 40
    known = "\n".join(re.sub("…+", "…", text) for text in sentences())
    missing = [sentence for sentence in quoted if sentence not in known]
    assert not missing, "no such words in src: quote what the code says now"


def test_every_lengthy_test_exists() -> None:
    names = (ROOT / "tests" / "lengthy.txt").read_text(encoding="utf-8").splitlines()
    assert [name for name in names if not is_defined(name)] == []


def is_defined(test: str) -> bool:
    """Return whether a file of that name mentions the test, or the class that it is made of."""
    file, name, *_ = test.partition("[")[0].split("::")
    path = ROOT / file
    return path.is_file() and re.search(rf"\b{name}\b", path.read_text("utf-8")) is not None
