"""The bot of docs/api.md, run as it is printed there."""

import re
import subprocess
import sys
from pathlib import Path

from tests.daemon.served import Served

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.md"


def printed() -> str:
    (found,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return str(found)


def test_the_bot_of_the_docs_gives_a_task_allows_and_prints_the_answer(
    served: Served, tmp_path: Path
) -> None:
    program = tmp_path / "bot.py"
    program.write_text(printed(), encoding="utf-8")
    assert len([line for line in printed().splitlines() if line.strip()]) <= 30
    line = [sys.executable, str(program), served.address, served.token, str(tmp_path), "Birds?"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    assert "demo agent" in done.stdout
    rows = served.ask("GET", "/api/v1/sessions").json()["sessions"]
    assert [row["reason"] for row in rows if row["agent"] == "demo"] == ["end_turn"]


def test_a_list_is_read_page_by_page_with_cursors(served: Served) -> None:
    made = [served.create(title=f"Number {number}") for number in range(5)]
    listed: list[str] = []
    cursor = ""
    while True:
        page = served.ask("GET", f"/api/v1/sessions?limit=2&cursor={cursor}").json()
        listed += [row["id"] for row in page["sessions"]]
        if page["next"] is None:
            break
        cursor = page["next"]
    assert set(made) <= set(listed)
    assert len(listed) == len(set(listed)) == page["total"]
    wrong = served.ask("GET", "/api/v1/sessions?cursor=3")
    assert wrong.status == 200  # a place before all that are there: from the beginning
    assert served.ask("GET", "/api/v1/sessions?cursor=much").status == 422


def test_an_earlier_address_and_its_versioned_one_are_the_same(served: Served) -> None:
    session = served.create(title="Twice")
    for rest in ("", "/header", "/turns", "/events"):
        earlier = served.ask("GET", f"/api/sessions/{session}{rest}")
        now = served.ask("GET", f"/api/v1/sessions/{session}{rest}")
        assert (earlier.status, earlier.json()) == (now.status, now.json())
    assert served.ask("GET", "/api/v1/about").json() == served.ask("GET", "/api/about").json()
    assert served.ask("GET", "/api/v1/nonsense").status == 404
    assert served.ask("GET", "/api/v1/about", token="").status == 401
