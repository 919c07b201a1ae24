"""A home with all that an operation of matrix.txt can be about; and who tries: its columns."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from rookery.client.config import in_force
from rookery.client.daemon import logins
from rookery.client.project_hooks import trust as project_hooks
from rookery.client.project_hooks.hook_file import find
from rookery.client.trash import moves
from rookery.client.work_tree import drivers
from rookery.core.json.events import kind_of
from rookery.git import places
from rookery.home import paths
from tests.client.work_tree.trees import WHO
from tests.daemon.served import Served, awaited, serve
from tests.e2e.house import CALM, LONG, unconfine
from tests.safety import probe
from tests.safety.ways import TCP, WAYS, Cli, Frame, Http, Way
from tests.worker.aviary import Aviary, Bird, blocks

type Json = dict[str, Any]

HERE, DAEMON, LOOK, ANSWER, READ_ONLY, NOBODY, UID = COLUMNS = (
    *("here", "daemon", "look", "answer", "read-only", "nobody", "uid"),
)
STRANGER = 4712
THERE = "http://127.0.0.1:9"
MADE = "begun by agents: "
PROBE = str(Path(probe.__file__))
SCRIPT: Json = {
    "agent": {
        "configOptions": [
            {
                "id": id,
                "name": id,
                "category": category,
                "type": "select",
                "currentValue": values[0],
                "options": [{"value": value, "name": value} for value in values],
            }
            for id, category, values in (
                ("model", "model", ("small", "large")),
                ("effort", "thought_level", ("default", "high")),
                ("mode", "mode", ("ask", "yolo")),
                ("sandboxing", "other", ("all", "none")),
            )
        ]
    }
}
DANGER: Json = {"ask": "Delete?", "kind": "execute", "rawInput": {"command": "rm -rf build"}}
PLAIN: Json = {"ask": "Go on?"}
FORM: Json = {"question": "Which?"}
ASKED = [each for each in (PLAIN, DANGER, PLAIN, FORM, PLAIN) for _ in range(3)] + [PLAIN]
"""What the answer device may answer, three ways each, as the matrix has them; the last, later."""
DOORS = "the worker's socket", "the worker's control socket", "the daemon's socket"
DOORS += "the daemon's control socket", "the files of the home"


class Cell(NamedTuple):
    row: str
    column: str


class Try(NamedTuple):
    cell: Cell
    way: str
    came: str


class World:
    def __init__(self, aviary: Aviary, guard: str) -> None:
        self.aviary, self.home = aviary, aviary.home
        unconfine(aviary, guard, "player")
        self.root, work = aviary.root, aviary.work
        self.tries: list[Try] = []
        self._answered = frozenset[str]()
        self.before: Json = {}
        self.after: Json = {}
        _repository(work)
        (work / "kept.txt").write_text("kept\n")
        self.other, self.asleep, self.asked = (aviary.hatch(SCRIPT) for _ in range(3))
        lost, hidden, self.failed = (aviary.hatch() for _ in range(3))
        self.limited, self.met = aviary.hatch(), aviary.hatch()
        runner = aviary.hatch(race="r1", worktree="r1-player")
        Path(runner.header().worktree["path"], "made.txt").write_text("made\n")
        self.own = aviary.hatch()
        self.fill: dict[str, str] = {
            "other": self.other.id,
            "asleep": self.asleep.id,
            "worked": self.asked.id,
            "runner": runner.id,
            "hidden": hidden.id,
            "failed": self.failed.id,
            "limited": self.limited.id,
            "met": self.met.id,
            "trashed": lost.id,
            "race": "r1",
            "agent": "player",
            "work": str(work),
            "there": THERE,
        }
        self._settings(Path(self.home))
        moves.remove(self.home, lost.id)
        aviary.birds.remove(lost)

    def _settings(self, home: Path) -> None:
        servers = {"served": {"command": "true"}, "far": {"type": "http", "url": THERE}}
        (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
        with (home / "config.toml").open("a") as file:
            file.write('[agents.mine]\ncommand = ["true"]\n')
            file.write('[[policy.rules]]\ndo = "ask"\ntool = "nothing"\n')
        logins.save(self.home, logins.Login(logins.normal(THERE), "rk_there"))
        for name in ("hooks", "decided"):
            place = self.root / name
            _repository(place)
            (place / ".rookery").mkdir()
            hooks = [{"hooks": [{"type": "command", "command": "true"}]}]
            (place / ".rookery" / "hooks.json").write_text(json.dumps({"Stop": hooks}))
            _git(place, "config", "filter.own.clean", "cat")
            self.fill[name] = str(place)
        found = find(self.home, self.fill["decided"])
        assert found
        project_hooks.remember(self.home, found, trusts=True)
        place = places.find(self.fill["decided"])
        assert place
        drivers.trust(self.home, place, drivers.configured(place))
        registry = self.root / "registry.json"
        offer = {"id": "heron", "distribution": {"npx": {"package": "heron"}}}
        registry.write_text(json.dumps({"agents": [offer]}))
        self.fill["registry"] = str(registry)

    # --- what is under way -----------------------------------------------------------------------

    async def begin(self) -> None:
        """An ask is open and two prompts wait; then settings are loosened in the file."""
        for bird in (self.limited, self.met):
            await bird.turn([{"rate_limit": "2099-01-01T00:00:00Z"}])
        await self.failed.turn([{"error": {"code": -32603, "message": "out of luck"}}])
        begun = await self.other.prompt(CALM)
        ask = await self.other.ask(begun)
        for words in ("later", "and later"):
            await self.other.prompt([{"text": words}])
        await self.asked.prompt([*ASKED, {"text": "hello"}])
        queue = self.other.header().queue
        self.fill |= {"ask": ask["id"], "nonce": ask["nonce"], "item": queue[0]["id"]}
        await asyncio.to_thread(self._loosen)
        held = in_force.settings(self.home).held
        assert held
        self.fill["held"] = held.fingerprint

    def _loosen(self) -> None:
        with Path(self.home, "config.toml").open("a") as file:
            file.write("[session]\napprove_all = true\n")

    def _answering(self) -> dict[str, str]:
        """The ask that waits for the answer device."""
        asks: Json = awaited(lambda: self.asked.header().asks.keys() - self._answered)
        [name] = asks
        nonce = self.asked.header().asks[name]["nonce"]
        return {"ask": name, "nonce": nonce, "session": self.asked.id}

    # --- who tries -------------------------------------------------------------------------------

    def serve(self, **options: Any) -> Served:
        self.served = serve(Path(self.home), **options)
        return self.served

    def log_in(self, role: str) -> tuple[str, str]:
        """A new device's id and token."""
        code = self.code(role)
        token = self.served.log_in(code=code).json()["token"]
        about = self.served.ask("GET", "/api/about", token=token)
        return str(about.json()["device"]), str(token)

    def code(self, role: str = "look") -> str:
        link = self.served.own("POST", "/api/devices/link", {"role": role}).json()["link"]
        return str(urlsplit(link).query.rpartition("=")[2])

    def order(self, way: Http, token: str, **fill: str) -> Json:
        """What probe.py needs for a request."""
        fill = {"session": self.other.id, **self.fill, **fill}
        filled = {name: value.format(**fill) for name, value in way.params.items()}
        if "{code}" in str(way.body):
            fill["code"] = self.code()
        query = f"?{way.query.format(**fill)}" if way.query else ""
        record = self.served.record
        own = f"@{record['control']}" if record.get("control") else str(record["socket"])
        place = self.served.netloc if way.by == TCP else own
        order: Json = {"do": "ask", "method": way.method, "says": way.says, "place": place}
        order |= {"path": way.route.format(**fill | filled) + query}
        order |= {"token": token if way.by == TCP else ""}
        return order | {"body": filled_in(way.body, fill)}

    def asks(self, column: str, token: str, **fill: str) -> Iterator[tuple[Cell, str, Json]]:
        here = column not in (LOOK, ANSWER, NOBODY)
        for row, ways in WAYS.items():
            for way in ways:
                if isinstance(way, Http) and (here or way.by == TCP):
                    answers = column == ANSWER and row.startswith("answer: ")
                    more = self._answering() if answers else {}
                    yield (
                        Cell(row, column),
                        f"{way.method} {way.route}",
                        self.order(way, token, **fill, **more),
                    )

    def try_all(self, column: str, token: str, **fill: str) -> None:
        """From this process, which is nobody's agent."""
        for cell, way, order in self.asks(column, token, **fill):
            came = probe.ask(order)
            self.tries.append(Try(cell, way, came))
            answer = order["body"] if cell.row.startswith("answer: ") else {}
            if came == probe.DOES and not answer.get("defer"):
                self._answered |= {answer.get("ask")}

    # --- an agent's process ----------------------------------------------------------------------

    def here(self) -> Iterator[tuple[Cell, str, Json]]:
        for row, ways in WAYS.items():
            for way in ways:
                for name, order in self._orders(way):
                    yield Cell(row, HERE), name, order

    def _orders(self, way: Way) -> Iterator[tuple[str, Json]]:
        if isinstance(way, Cli):
            line = way.line.format(**self.fill)
            yield way.line, {"do": "line", "line": line, "says": way.says}
        if isinstance(way, Frame):
            command = filled_in(way.command, self.fill)
            for to in way.to:
                name = f"{command['do']} to {to}"
                if to == "asleep":
                    yield name, {"do": to, "session": self.asleep.id, "command": command}
                elif to == "made":
                    yield name, {"do": "frame", "made": 0, "command": command}
                else:
                    bird: Bird = getattr(self, to)
                    for place in {bird.socket, bird.control.replace("\0", "@")}:
                        given = {"place": place, "command": command}
                        yield f"{name}, {place[:1]}", {"do": "frame", **given}

    def doors(self, column: str) -> Iterator[tuple[Cell, str, Json]]:
        record = self.served.record
        get = {"do": "ask", "method": "GET", "path": "/api/about"}
        control = self.other.control.replace("\0", "@")
        knocks: list[Json] = [
            {"do": "frame", "place": self.other.socket},
            {"do": "frame", "place": control},
            {**get, "place": record["socket"]},
            {**get, "place": f"@{record.get('control')}"},
            {"do": "files", "place": self.home},
        ]
        for row, order in zip(DOORS, knocks, strict=True):
            yield Cell(row, column), "knock", order

    def agent_orders(self, token: str) -> Iterator[tuple[Cell, str, Json]]:
        yield from self.asks(DAEMON, token)
        yield from self.doors(HERE)
        here = list(self.here())
        yield from (each for each in here if not each[0].row.startswith(MADE))
        about = {"argv": self.aviary.player(), "cwd": str(self.aviary.work)}
        prompts = [blocks(CALM)[0]["text"], "one", "two"]
        yield Cell("", ""), "", {"do": "begin", "prompts": prompts, **about}
        yield from (each for each in here if each[0].row.startswith(MADE))

    async def let_agent_try(self, token: str) -> None:
        await self.own.turn([{"text": "hello"}])
        orders = list(self.agent_orders(token))
        files = self._write(HERE, orders)
        begun = await self.own.prompt([{"spawn": [sys.executable, "-P", PROBE, *files]}, *CALM])
        await self.own.ask(begun)
        await asyncio.to_thread(self._read, orders, files[1])

    def let_stranger_try(self, token: str) -> None:
        orders = [*self.asks(UID, token), *self.doors(UID)]
        files = self._write(UID, orders)
        argv = [sys.executable, "-P", PROBE, *files, str(STRANGER)]
        subprocess.run(argv, check=True)
        self._read(orders, files[1])

    def _write(self, name: str, orders: list[tuple[Cell, str, Json]]) -> tuple[str, str]:
        path = self.root / f"orders-{name}"
        named = [{"name": str(n), **order} for n, (_, _, order) in enumerate(orders)]
        path.write_text("".join(json.dumps(each) + "\n" for each in named))
        return str(path), str(self.root / f"came-{name}")

    def _read(self, orders: list[tuple[Cell, str, Json]], out: str) -> None:
        def told() -> list[Json]:
            text = Path(out).read_text() if os.path.exists(out) else ""
            lines = [
                json.loads(line) for line in text.splitlines(keepends=True) if line[-1] == "\n"
            ]
            return lines if lines and lines[-1]["name"] == "done" else []

        for (cell, way, _), line in zip(orders, awaited(told, LONG), strict=False):
            if cell.row:
                self.tries.append(Try(cell, way, line["came"]))

    # --- what must stay --------------------------------------------------------------------------

    def state(self) -> Json:
        """What only a person changes."""
        kept = ("confirm", "mode", "agent", "argv", "archived", "snoozed", "budget", "unattended")
        found: Json = {}
        for bird in (self.other, self.asleep):
            header = bird.header()
            found[bird.id] = {key: header.raw.get(key) for key in kept}
            found[bird.id] |= {"asks": sorted(header.asks), "turn": header.turn}
            found[bird.id] |= {"queue": [each["prompt"] for each in header.queue][:2]}
            found[bird.id] |= {
                "cleared": any(kind_of(event.update) == "_context" for event in bird.events())
            }
        found["worker"] = self.other.worker
        for name in ("config.toml", "mcp.json", "trusted.json", "logins.json", "confirmed.json"):
            path = Path(self.home, name)
            found[name] = path.read_text() if path.exists() else ""
        found["trash"] = [row["id"] for row in moves.listed(self.home)]
        names = (bird.id for bird in self.aviary.birds)
        found["gone"] = [
            each for each in names if not os.path.isdir(paths.session_dir(self.home, each))
        ]
        return found


def filled_in(given: Any, fill: dict[str, str]) -> Any:
    """With the words in braces."""
    if isinstance(given, dict):
        return {key: filled_in(value, fill) for key, value in given.items()}
    if isinstance(given, list):
        return [filled_in(each, fill) for each in given]
    return given.format(**fill) if isinstance(given, str) else given


def _repository(place: Path) -> None:
    place.mkdir(exist_ok=True)
    _git(place, "init", "-q")
    _git(place, "commit", "-q", "--allow-empty", "-m", "first")


def _git(place: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(place), *words], check=True, env=os.environ | WHO)
