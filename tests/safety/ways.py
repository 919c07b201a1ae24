"""How each operation of matrix.txt is done: as a frame to a worker, on the command line, over HTTP.

Words in braces stand for what `world.py` has made: `{other}` has an open ask and a queued prompt,
`{asleep}` has no worker. A row may be done in several ways; its cells hold for each of them.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

type Json = dict[str, Any]

TCP = "tcp"


class Cli(NamedTuple):
    line: str
    says: str = ""
    """What it prints where it may, but ends with 1: there is nothing to do."""


class Http(NamedTuple):
    method: str
    route: str
    """As the application knows it."""
    body: Json | str | None = None
    """A text is a form of a page."""
    params: Mapping[str, str] = MappingProxyType({})
    """Of the route, where they are not those of all."""
    query: str = ""
    says: str = ""
    """The error where it may, but there is no such thing here."""
    by: str = TCP
    """Or `own`: by the daemon's own socket."""


class Frame(NamedTuple):
    command: Json
    to: tuple[str, ...] = ("other", "own", "asleep")


type Way = Cli | Http | Frame

SESSION = "/api/sessions/{session}"
OPERATED = "/api/v1/sessions/{session}/{operation}"
ITEM = "{item}"


def text(words: str) -> list[Json]:
    return [{"type": "text", "text": words}]


def command(do: str, **fields: Any) -> tuple[Way, ...]:
    """To workers, and through the daemon."""
    given = {"do": do, **fields}
    return Frame(given), Http("POST", f"{SESSION}/commands", given)


def does(do: str, to: str = "other asleep", **fields: Any) -> tuple[Way, ...]:
    """The same, of what an agent may: each is done once."""
    given = {"do": do, **fields}
    return Frame(given, tuple(to.split())), Http("POST", f"{SESSION}/commands", given)


def answer(**fields: Any) -> tuple[Way, ...]:
    """To the open ask; `asked` is the one that the device with that role answers."""
    given = {"ask": "{ask}", "nonce": "{nonce}", **fields}
    return (
        Frame({"do": "answer", **given}, ("other",)),
        Http("POST", f"{SESSION}/answer", given),
        operated("answer", **given),
        Http("POST", f"{SESSION}/commands", {"do": "answer", **given}),
    )


def operated(name: str, /, **given: Any) -> Http:
    """An operation of the catalogue, at its own address."""
    return Http("POST", OPERATED, given, {"operation": name})


def performed(name: str, /, **given: Any) -> Http:
    """The same of one that is not about a session."""
    return Http("POST", "/api/v1/{operation}", given, {"operation": name})


def patch(**fields: Any) -> Http:
    return Http("PATCH", SESSION, fields)


def create(**fields: Any) -> Http:
    return Http("POST", "/api/sessions", {"agent": "demo", "cwd": "{work}", **fields})


def form(name: str, query: str = "", /, *, confirm: bool = False, **values: Any) -> Http:
    body = {"values": values, "confirm": confirm}
    return Http("PATCH", "/api/setup/forms/{form}", body, {"form": name}, query)


def listed(name: str, do: str, of: str = "x") -> Http:
    body = {"do": do, "confirm": True}
    return Http("POST", "/api/setup/lists/{listed}", body, {"listed": name}, f"name={of}")


def get(*routes: str, says: str = "", query: str = "", **params: str) -> tuple[Way, ...]:
    return tuple(Http("GET", route, None, params, query, says) for route in routes)


def of_session(*parts: str, **given: str) -> tuple[Way, ...]:
    return get(*(f"{SESSION}/{part}" for part in parts), **given)


def read(name: str, **given: str) -> tuple[Way, ...]:
    """Of a session, by an operation."""
    return get(OPERATED, operation=name, **given)


def cli(*lines: str, says: str = "") -> tuple[Way, ...]:
    return tuple(Cli(line, says) for line in lines)


LATER = 4102444800000
NEW = "agent=demo&cwd=/tmp&prompt=hello"
POINT = "BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"
"""A public key, in base64url: the curve's own generator."""
SUBSCRIPTION = {
    "endpoint": "https://push.example.org/send/1",
    "keys": {"p256dh": POINT, "auth": "A" * 22},
}
PUSH = "/api/push/subscriptions"
LINES = "file=kept.txt&digest=x&first=1&last=2"

WAYS: dict[str, tuple[Way, ...]] = {
    # --- commands to a session
    "prompt: plain": (
        *does("prompt", to="other", prompt=text("and /then/ go on")),
        Http("POST", f"{SESSION}/prompt", {"text": "go on"}),
        operated("prompt", text="go on"),
        *cli("prompt {other} 'go on'", says="The agent reads it when this turn ends."),
    ),
    "prompt: slash command": (
        *command("prompt", prompt=text("  /confirm all")),
        *command("prompt", prompt=[*text("Look:"), *text("/model other")]),
        Http("POST", f"{SESSION}/prompt", {"text": "/confirm all"}),
        operated("prompt", text="/confirm all"),
        operated("prompt", text="Look:", blocks=text("/model other")),
        *cli("prompt {other} '/confirm all'", "prompt {asleep} /compact"),
    ),
    "prompt: unattended from then on": cli("prompt {other} --approve all 'go on'"),
    "retry": (*command("retry"), operated("retry"), *cli("retry {failed}")),
    "retry: what met a limit, as a prompt": cli("retry {met}"),
    "queue: edit, plain": (
        *command("queue", op="edit", item=ITEM, prompt=text("other words")),
        operated("queue", op="edit", item=ITEM, prompt=text("other words")),
        *cli("queue {other} edit 1 'other words'"),
    ),
    "queue: edit, slash command": (
        *command("queue", op="edit", item=ITEM, prompt=text("/confirm all")),
        *cli("queue {other} edit 1 '/confirm all'"),
    ),
    "queue: move": (
        *command("queue", op="move", item=ITEM, to=0),
        operated("queue", op="move", item=ITEM),
        *cli("queue {other} move 1 1"),
    ),
    "queue: remove": (
        *command("queue", op="remove", item=ITEM),
        operated("queue", op="remove", item=ITEM),
        *cli("queue {other} remove 1", "queue {other} clear"),
    ),
    "queue: send": (*command("queue", op="send", item=ITEM), *cli("queue {other} send 1")),
    "cancel": (*command("cancel"), operated("cancel"), *cli("cancel {other}")),
    "cancel_subagent": command("cancel_subagent", subagent="one"),
    "force_end": (
        *command("force_end"),
        operated("cancel", force=True),
        *cli("cancel --force {other}"),
    ),
    "answer: allow once": (*answer(option="allow"), *cli("answer {other} y")),
    "answer: allow once, with a new prompt": cli("answer {other} y --and 'and the rest'"),
    "answer: allow what cannot be undone": (
        *answer(option="allow", confirm=True),
        *cli("answer {other} y --confirm"),
    ),
    "answer: allow always": (
        *answer(always=True),
        *answer(option="allow-always"),
        *cli("answer {other} a", "answer {other} --always-allow 1"),
    ),
    "answer: reject, with a reason": (
        *answer(option="reject", reason="no"),
        *cli("answer {other} n --reason no"),
    ),
    "answer: a form": answer(action="accept", content={"answer": "42"}),
    "answer: with no option": answer(cancel=True),
    "answer: later": (*answer(defer=True), *cli("answer {other} d", "answer {other} --defer")),
    "set: model": (
        *does("set", option="model", value="large"),
        operated("set", option="model", value="large"),
        *cli("set {asleep} model large"),
    ),
    "set: effort": (*does("set", option="effort", value="high"), *cli("set {asleep} effort high")),
    "set: mode": (*command("set", option="mode", value="yolo"), *cli("set {asleep} mode yolo")),
    "set: confirm, less": (
        *command("set", option="confirm", value="all"),
        operated("set", option="confirm", value="all"),
        *cli("set {other} confirm approve-all", "set {asleep} confirm ask-when-risky"),
    ),
    "set: confirm, more": (
        *command("set", option="confirm", value="every"),
        *cli("set {asleep} confirm ask-always"),
    ),
    "set: unattended": command("set", option="unattended", value="all", destructive=True),
    "set: budget": (
        *command("set", option="budget_turn", value="2 USD"),
        *command("set", option="budget_session", value="off"),
        *cli("set {asleep} budget_day off"),
    ),
    "set: critic": (
        *command("set", option="critic", value="off"),
        *command("set", option="refine", value="off"),
        *cli("set {asleep} critic off"),
    ),
    "set: an option of the agent's": (
        *command("set", option="sandboxing", value="none"),
        *cli("set {other} sandboxing none"),
    ),
    "rename": (
        *does("rename", title="by another"),
        patch(title="x"),
        operated("rename", title="y"),
        *cli("rename {asleep} other"),
    ),
    "resume: when the limit is lifted": (
        *command("resume"),
        operated("resume"),
        *cli("retry --at-reset {limited}"),
    ),
    "resume: no more": (*command("resume", off=True), operated("resume", off=True)),
    "start": does("start", to="other"),
    "stop": (*command("stop"), operated("stop"), *cli("stop {other}")),
    "stop: an idle one, for room": (Frame({"do": "stop", "idle": True, "room": True}, ("other",)),),
    "restart": (*command("restart"), operated("restart"), *cli("restart {other}")),
    "archive": (
        *command("archive"),
        patch(archived=True),
        operated("archive"),
        *cli("archive {other} {asleep}"),
    ),
    "unarchive": (
        *does("unarchive"),
        patch(archived=False),
        operated("unarchive"),
        *cli("unarchive {hidden}"),
    ),
    "snooze: until a time": (
        *command("snooze", until=LATER),
        patch(snoozed=LATER),
        operated("snooze", until=LATER),
        *cli("snooze {other} --for 3d", "snooze {asleep} --until 23:59"),
    ),
    "snooze: no more": (
        *does("snooze", until=0),
        patch(snoozed=0),
        operated("unsnooze"),
        *cli("snooze {asleep} --off", "unsnooze {asleep}"),
    ),
    "pin": (*does("pin", to="other"), patch(pinned=True), operated("pin"), *cli("pin {asleep}")),
    "unpin": (*command("unpin"), patch(pinned=False), operated("unpin"), *cli("unpin {other}")),
    "switch": (
        Frame({"do": "switch", "agent": "x", "argv": ["true"]}),
        Http("POST", f"{SESSION}/commands", {"do": "switch", "agent": "demo"}),
        operated("switch", agent="demo"),
        *cli("switch-agent {asleep} demo", "switch-agent {other} --cmd true"),
    ),
    "clear": (*command("clear"), operated("clear"), *cli("clear {other} {asleep}")),
    "rewind": (
        *command("rewind", turn=0),
        operated("rewind", turn=0),
        *cli("rewind {other} 0 --yes --cancel", "rewind {worked} 0 --yes"),
    ),
    "rewind: undo": (*command("rewind", undo=True), operated("rewind", undo=True)),
    "delete: by its worker": (Frame({"do": "delete"}),),
    "worktree: merged or dropped": (Frame({"do": "worktree", "state": "dropped"}),),
    "settings: take on held ones": command("settings", take="{held}"),
    # --- what agents alone have begun: in one session, in this order
    "begun by agents: queue, edit plain": (
        Frame({"do": "queue", "op": "edit", "item": ITEM, "prompt": text("x")}, ("made",)),
    ),
    "begun by agents: queue, edit slash": (
        Frame({"do": "queue", "op": "edit", "item": ITEM, "prompt": text("/x")}, ("made",)),
    ),
    "begun by agents: queue, remove": (
        Frame({"do": "queue", "op": "remove", "item": ITEM}, ("made",)),
    ),
    "begun by agents: archive": (Frame({"do": "archive"}, ("made",)),),
    "begun by agents: set confirm": (
        Frame({"do": "set", "option": "confirm", "value": "all"}, ("made",)),
    ),
    "begun by agents: cancel": (Frame({"do": "cancel"}, ("made",)),),
    "begun by agents: force_end": (Frame({"do": "force_end"}, ("made",)),),
    "begun by agents: restart": (Frame({"do": "restart"}, ("made",)),),
    "begun by agents: stop": (Frame({"do": "stop"}, ("made",)),),
    # --- sessions
    "create": (create(), *cli("new --agent demo --title made")),
    "create: with a prompt": (
        create(prompt="hello"),
        Http("POST", "/new", NEW),
        *cli("run --agent demo --ask-always --detach hello"),
    ),
    "create: asks less": (
        create(confirm="all"),
        *cli("run --agent demo hello", "run --agent demo --approve-all hello"),
        *cli("run --agent demo --approve risky hello", "run --agent demo --ask-when-risky hello"),
    ),
    "create: rejects instead of asking": cli("run --agent demo --approve reject --detach hello"),
    "create: with a mode": (create(mode="yolo"), *cli("new --agent demo --mode yolo")),
    "create: with a budget": (
        create(budget={"turn": "900 USD"}),
        *cli("new --agent demo --budget '900 USD'"),
    ),
    "fork": (Http("POST", f"{SESSION}/fork", {}), operated("fork"), *cli("fork {worked}")),
    "mark as seen": (Http("POST", f"{SESSION}/seen", {"seq": 1}),),
    "kill": (
        Http("POST", f"{SESSION}/kill", {}),
        operated("kill"),
        *cli("stop --now {other}"),
    ),
    "remove: to the trash": (
        Http("DELETE", SESSION),
        operated("remove"),
        *cli("remove --yes --force {asleep} {other}"),
    ),
    "remove: permanently": (
        Http("DELETE", SESSION, query="permanently=true"),
        operated("remove", permanently=True),
        *cli("remove --yes --force --permanently {asleep}"),
    ),
    "remove: what is in the trash": (
        Http("DELETE", "/api/trash/{session}", None, {"session": "{trashed}"}),
        performed("delete-trashed", name="{trashed}"),
        *cli("remove --yes --permanently {trashed}"),
    ),
    "restore": (
        Http("POST", "/api/trash/{session}/restore", {}, {"session": "{trashed}"}),
        performed("restore", name="{trashed}"),
        *cli("restore {trashed}"),
    ),
    "empty the trash": (
        Http("DELETE", "/api/trash"),
        performed("empty-trash"),
        *cli("trash --empty --yes"),
    ),
    "prune": (
        performed("prune", archived=True),
        *cli("prune --older-than 0s --yes", "prune --older-than 0s --yes --permanently"),
    ),
    "import: list": (
        Http("POST", "/api/agents/{agent}/sessions/list", {}),
        performed("importable", agent="player"),
        *cli("import --agent player --list"),
    ),
    "import: one": (
        Http("POST", "/api/agents/{agent}/sessions", {"id": "1", "cwd": "/tmp"}),
        performed("import", agent="player", ids=["1"]),
        *cli("import --agent player --session 1"),
    ),
    "import: all": (
        Http("POST", "/api/agents/{agent}/sessions/import", {"sessions": []}),
        performed("import", agent="player", all=True),
        *cli("import --agent player --all"),
    ),
    "sessions of an editor": (Http("WEBSOCKET", "/acp"),),
    # --- work trees
    "merge": (
        Http("POST", f"{SESSION}/merge", {}),
        operated("merge"),
        *cli("merge {runner}"),
    ),
    "drop": (
        Http("POST", f"{SESSION}/drop", {"force": True}),
        operated("drop", force=True),
        *cli("drop --force {runner}"),
    ),
    "move": (Http("POST", f"{SESSION}/move", {}), operated("move"), *cli("move {asleep}")),
    "race: asks always": (
        Http("POST", "/api/races", {"agents": ["demo"], "cwd": "{work}", "prompt": "go"}),
        *cli("race start --agents nobody --approve ask go", says="nobody"),
    ),
    "race: asks less": (
        Http(
            "POST",
            "/api/races",
            {"agents": ["demo"], "cwd": "{work}", "prompt": "go", "confirm": "all"},
        ),
        *cli("race start --agents demo go", "race start --agents demo --approve all go"),
    ),
    "race: pick": (
        Http("POST", "/api/races/pick", {"session": "{runner}"}),
        operated("pick"),
        *cli("race pick --yes {runner}"),
    ),
    "race: drop": (
        Http("POST", "/api/races/drop", {"race": "r1"}),
        performed("drop-race", race="r1"),
        *cli("race drop --yes r1"),
    ),
    "changes: undo": (
        Http("POST", f"{SESSION}/changes/undo", {"path": "kept.txt", "digest": "0" * 40}),
        operated("undo-change", path="kept.txt", digest="0" * 40),
    ),
    "changes: put back": (
        Http("POST", f"{SESSION}/changes/put-back", {"id": "1"}),
        operated("put-back-change", id="1"),
    ),
    "changes: commit": (
        Http("POST", f"{SESSION}/changes/commit", {"message": "m", "files": []}),
        operated("commit-changes", message="m", files={}),
    ),
    # --- settings
    "settings: tighten": (
        form("worker", confirm_destructive=True),
        performed("save-settings", form="worker", values={"worker.confirm_destructive": True}),
        *cli("config set session.confirm ask-always"),
    ),
    "settings: loosen": (
        *(form(name, confirm=True) for name in ("worker", "sandbox", "limits", "notify")),
        *cli(
            "config set session.confirm approve-all", "config set worker.confirm_destructive false"
        ),
        *cli("config set notify.webhook https://example.org/x"),
    ),
    "settings: edit the file": cli("config edit"),
    "settings: confirm": (
        Http("POST", "/api/setup/held", {"fingerprint": "{held}"}),
        performed("confirm-settings", held="{held}"),
        *cli("config confirm --yes"),
    ),
    "git filters: trust": cli("config trust-git --yes {hooks}"),
    "git filters: forget": cli("config trust-git --forget {decided}"),
    "models: save": (
        form("models", model="openai/x"),
        *cli("setup --name big --model openai/x --key abc --no-test"),
    ),
    "models: make the default": (listed("models", "default"), *cli("setup --name x --default")),
    "models: remove": (
        listed("models", "remove"),
        performed("change-settings-list", list="models", name="x", do="remove"),
        *cli("setup remove x"),
    ),
    "models: test": (
        listed("models", "test"),
        Http("POST", "/api/setup/forms/{form}/test", {"values": {}}, {"form": "models"}),
        performed("try-settings", form="models", values={}),
        *cli("setup --test --model openai/x --base-url http://127.0.0.1:9 --key x"),
    ),
    "models: import": cli("setup import --from {work}"),
    "models: log in": cli("setup login --device-code --issuer http://127.0.0.1:9"),
    "models: log out": cli("setup logout"),
    "models: critic": (form("critic", on=False), *cli("setup critic --on")),
    "models: condenser": (form("condenser", on=False), *cli("setup condenser --max-size 200")),
    "models: who searches the web": (form("web"), *cli("setup search --provider none")),
    "MCP servers: add": (
        form("servers", confirm=True, name="n", command="true"),
        *cli("mcp add other -- true"),
    ),
    "MCP servers: turn on": (listed("servers", "on", "served"), *cli("mcp enable served")),
    "MCP servers: turn off": (listed("servers", "off", "served"), *cli("mcp disable served")),
    "MCP servers: remove": (listed("servers", "remove", "served"), *cli("mcp remove served")),
    "MCP servers: test": (
        listed("servers", "test", "served"),
        *cli("mcp test served", says="served"),
    ),
    "MCP servers: log in": (form("server_login", "name=far"), *cli("mcp login far")),
    "MCP servers: log out": cli("mcp logout far"),
    "agents: add": (
        form("agents", confirm=True, name="n", command="true"),
        *cli("agents add box --container"),
    ),
    "agents: remove": (listed("agents", "remove", "player"), *cli("agents remove --yes player")),
    "agents: make the default": (
        listed("agents", "default", "demo"),
        *cli("config set default_agent demo"),
    ),
    "agents: install": (
        Http("POST", "/api/agents/{agent}/install", {}, {"agent": "qwen"}),
        performed("install-agent", agent="qwen"),
        *cli("agents install --yes qwen"),
    ),
    "agents: end an installation": (
        Http("DELETE", "/api/agents/{agent}/install"),
        performed("cancel-installation", agent="qwen"),
    ),
    "agents: log in": (
        form("login", "name=demo"),
        *cli("agents login demo"),
    ),
    "agents: log out": cli("agents logout demo"),
    "agents: make an image": cli("agents image --yes"),
    "agents: import": cli("agents import --yes {registry}"),
    "rules: add": (
        form("rules", confirm=True, do="allow"),
        *cli("policy add allow --command '*'", "policy add deny --command '*'"),
    ),
    "rules: remove": (listed("rules", "remove", "1"), *cli("policy remove 1")),
    "rules: move": (listed("rules", "up", "1"), listed("rules", "down", "1")),
    "hooks of a project: trust": cli("policy hooks --trust {hooks}"),
    "hooks of a project: forget": cli("policy hooks --forget {decided}"),
    # --- the daemon, its devices, other machines
    "daemon: start": cli("serve --background --port 0", "serve --port 0 --auth none"),
    "daemon: stop": cli("serve --stop"),
    "daemon: restart": cli("serve --restart"),
    "daemon: start with the desktop": cli("serve --install"),
    "log in by a link": (Http("POST", "/login", "code={code}"),),
    "devices: make a link": (
        Http("POST", "/api/devices/link", {}),
        Http("POST", "/settings/devices/link", "role=all"),
        *cli("serve --link"),
    ),
    "devices: make a link on this machine": (Http("POST", "/api/devices/link", {}, by="own"),),
    "devices: change the role": (
        Http("PATCH", "/api/devices/{device}", {"role": "all"}),
        *cli("devices role {device} all"),
    ),
    "devices: rename, say whose it is": (
        Http("PATCH", "/api/devices/{device}", {"name": "x"}),
        Http("PATCH", "/api/devices/{device}", {"person": "x"}),
        *cli("devices rename {device} x", "devices person {device} x"),
    ),
    "devices: log another out": (
        Http("DELETE", "/api/devices/{device}"),
        *cli("devices revoke {device}", "devices --revoke {device}"),
    ),
    "notifications: subscribe": (Http("POST", PUSH, SUBSCRIPTION),),
    "notifications: end a subscription": (
        Http("DELETE", PUSH, None, {}, "endpoint=https://push.example.org/send/1"),
    ),
    "notifications: try out": cli("notify test", says="No notifications are set up"),
    "other machines: log in": cli("login http://127.0.0.1:9"),
    "other machines: use a login": cli(
        "--daemon {there} ps", "--daemon {there} api GET /api/about"
    ),
    "other machines: log out": cli("logout {there}"),
    "update": cli("update --yes", "update --check"),
    "uninstall": cli("uninstall --yes", "uninstall --json"),
    # --- reading
    "read: sessions": (
        *get(
            "/",
            "/api/sessions",
            "/api/v1/sessions",
            "/api/v1/operations",
            "/pieces/fleet",
            "/pieces/palette",
        ),
        *cli("ps", "ps --all --json"),
    ),
    "read: a session": (
        *get(SESSION, f"{SESSION}/header", "/sessions/{session}"),
        *cli("show {other}", "queue {other} --json"),
        *get(OPERATED, operation="resumption"),
        *read("header"),
    ),
    "read: its events and transcript": (
        *of_session("events", "document", "turns", "recap"),
        *(each for name in ("events", "document", "turns", "part") for each in read(name)),
        *read("recap"),
        *of_session("part", query="block=1.1", says="not_found"),
        *get("/sessions/{session}/timeline"),
        *get("/sessions/{session}/older", query="before=3"),
        *get("/sessions/{session}/newer", query="after=1"),
        *of_session("blobs/{name}", name="0" * 64, says="unknown_blob"),
        *cli("show {worked} --events", "recap {worked}"),
    ),
    "read: its files and changes": (
        *of_session("changes", "diff", "files"),
        *(each for name in ("changes", "diff", "files") for each in read(name)),
        *read("known-files", query="paths=kept.txt"),
        *read("file", query="path=kept.txt"),
        *of_session("files/known", query="paths=kept.txt"),
        *of_session("file", query="path=kept.txt"),
        *get("/sessions/{session}/changes"),
        *get("/sessions/{session}/changes/lines", query=LINES, says="changed_since"),
        *get("/sessions/{session}/file", query="path=kept.txt"),
        *cli("diff {worked}"),
    ),
    "read: its logs": (
        *of_session("logs/{of}", of="worker"),
        *read("logs"),
        *cli("logs --worker {worked}"),
    ),
    "read: what a merge would do": (
        *of_session("merge", says="no_worktree"),
        *get(OPERATED, says="no_worktree", operation="merge-plan"),
    ),
    "read: what a rewind would do": (
        *of_session("rewind", "rewind/{turn}", turn="0"),
        *of_session("rewind/undo", says="nothing_to_undo"),
        *get(OPERATED, operation="rewinds"),
        *get(OPERATED, operation="rewind-preview", query="turn=0"),
        *cli("rewind {worked} --list", "rewind {worked} 0 --dry-run"),
    ),
    "read: what could be pruned": get(
        "/api/v1/{operation}", operation="prune-plan", query="archived=true"
    ),
    "read: an export": (*of_session("export"), *cli("export {worked} --output {work}/out.md")),
    "read: questions": (
        *get("/inbox", "/pieces/inbox"),
        *get("/api/v1/{operation}", operation="asks"),
        *cli("asks", "answer {other}"),
    ),
    "read: search": (
        *get("/search", "/api/search", query="q=hello"),
        *get("/api/v1/{operation}", operation="search", query="q=hello"),
        *cli("search hello"),
    ),
    "read: usage and limits": (
        *get("/usage", "/api/usage", "/api/limits"),
        *get("/api/v1/{operation}", operation="usage"),
        *get("/api/v1/{operation}", operation="limits"),
        *cli("usage --json"),
    ),
    "read: races": (
        *get("/races/{race}", "/api/races/{race}"),
        *get("/api/v1/{operation}", query="race=r1", operation="race"),
        *cli("race show r1", says="No tests ran"),
    ),
    "read: the trash": (
        *get("/api/trash"),
        *get("/api/v1/{operation}", operation="trash"),
        *cli("trash"),
    ),
    "read: live news": (
        Http("WEBSOCKET", "/api/stream"),
        *get("/api/events", query="topic=fleet&form=x", says="invalid"),
    ),
    "read: the daemon": (
        *get("/api/about", "/api/docs", "/api/openapi.json", "/metrics", "/settings"),
        Http("HEAD", "/api/openapi.json"),
        *get("/api/push/key"),
        *cli("serve --status", "api GET /api/about"),
    ),
    "read: agents": (
        *get("/api/agents"),
        *get("/api/v1/{operation}", operation="agents"),
        *cli("agents list", "agents"),
    ),
    "read: settings": (
        *get("/api/setup", "/settings/{section}", section="worker"),
        *get("/pieces/settings", query="q=worker"),
        *get("/api/v1/{operation}", operation="setup"),
        *get("/api/v1/{operation}", operation="settings-form", query="form=worker"),
        *get("/api/v1/{operation}", operation="settings-list", query="list=rules"),
        *get("/api/setup/forms/{form}", form="worker"),
        *get("/settings/agents", "/settings/trash"),
        *get("/settings/{kind}/new", "/settings/{kind}/edit", kind="agents", query="name=mine"),
        *get("/settings/agents/login", query="name=demo"),
        *cli("config show", "config path", "config explain session.confirm"),
        *cli("config confirm --json", "policy hooks {hooks}"),
    ),
    "read: models": (
        *get("/settings/models"),
        *get("/api/setup/forms/{form}", form="models"),
        *get("/api/setup/lists/{listed}", listed="models"),
        *cli("setup list"),
    ),
    "read: MCP servers": (
        *get("/settings/servers"),
        *get("/api/setup/forms/{form}", form="servers", query="name=served"),
        *get("/api/setup/lists/{listed}", listed="servers"),
        *get("/settings/servers/login", query="name=far"),
        *cli("mcp list", "mcp get served"),
    ),
    "read: rules": (
        *get("/settings/rules"),
        *get("/api/setup/lists/{listed}", listed="rules"),
        *cli("policy list", "policy test --command ls"),
    ),
    "read: devices, and what they did": (
        *get("/settings/devices", "/api/devices", "/api/devices/log"),
        *cli("devices", "devices --log"),
    ),
    "read: what an installation would run": (
        *get("/api/agents/{agent}/install", agent="qwen"),
        *get("/api/v1/{operation}", operation="installation", query="agent=qwen"),
    ),
    "read: the form of a new session": (*get("/new"), *get("/new/options", query="agent=demo")),
    "read: directories of this machine": (
        *get("/api/directories", query="prefix=/tmp"),
        *get("/api/directories/files", "/api/directories/branches", query="cwd={work}"),
        *get("/api/v1/{operation}", operation="directories", query="prefix=/tmp"),
        *get("/api/v1/{operation}", operation="directory-files", query="cwd={work}"),
        *get("/api/v1/{operation}", operation="branches", query="cwd={work}"),
    ),
    "read: before logging in": (
        *get("/login", "/healthz", "/offline", "/style.css", "/sw.js", "/manifest.webmanifest"),
        *get("/favicon.svg", "/apple-touch-icon.png", "/icon-512.png"),
        Http("HEAD", "/healthz"),
        *get("/assets/{digest}/{name}", digest="x", name="main.js"),
    ),
    # --- the end of a login
    "devices: log itself out": (
        Http("DELETE", "/api/devices/{device}", None, {"device": "{itself}"}),
    ),
    # --- doors: probe.py knows how to knock
    "the worker's socket": (),
    "the worker's control socket": (),
    "the daemon's socket": (),
    "the daemon's control socket": (),
    "the files of the home": (),
}

NO_OPERATION = {
    "acp": "a door for editors: what comes through it are commands of the rows above",
    "agent": "an agent itself, which a worker starts",
    "GET /api/agents/{agent}/sessions": "refused to all; earlier builds listed sessions so",
    "completions": "a text",
    "doctor": "reads, and tests an agent as `run` would",
    "help": "a text",
    "GET /api/v1/{operation}": "reads, whose rows name them",
    "GET /api/v1/sessions/{session}/{operation}": "reads of a session, whose rows name them",
    "POST /api/v1/{operation}": "works, whose rows name them",
    "GET /pieces/operations/{name}": "a form: what it sends are the operations above",
    "model": "a model for tests",
    "open": "a screen: what is done there are the rows above",
    "play": "an agent for tests",
    "tail": "follows what `show` prints",
}
"""Commands of the command line and routes without a row, and why."""
