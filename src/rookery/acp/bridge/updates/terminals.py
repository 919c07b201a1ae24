"""The worker's terminals, and the agent's own, in an editor that does not run them: their output is
shown in the tool call that refers to them, or in a call of ours.

A client that shows terminals by `_meta.terminal_output` gets terminal_info, the output as it comes,
and terminal_exit. Elsewhere text stands in for the terminal. An id that the editor does not know is
never sent: it would drop the whole update.
"""

from rookery.acp.bridge.updates.shapes import MAX_CHUNK_LENGTH
from rookery.core.json import Event, Json, lenient
from rookery.core.tools import terminals

SHOWN = 32 * 1024
"""The last characters of a terminal, which stand in for it."""

ALONE_AFTER = 500
"""Milliseconds after which a terminal that no tool call refers to gets one of its own."""


class Screen:
    def __init__(self, update: Json, at: int) -> None:
        self.id = lenient.text(update, "id")
        self.command = lenient.text(update, "command") or "Terminal"
        self.cwd = lenient.text(update, "cwd")
        self.at = at
        self.call = ""
        """The tool call that shows it."""
        self.alone = False
        """That tool call is one of ours."""
        self.owner = ""
        """The tool call of an agent's own terminal."""
        self.ended: Json | None = None
        self.stale = False
        self._text = ""
        self._cut = 0

    def write(self, text: str) -> None:
        whole = self._text + text
        self._cut += max(0, len(whole) - SHOWN)
        self._text = whole[-SHOWN:]

    @property
    def output(self) -> str:
        return (f"… {self._cut} characters before …\n" if self._cut else "") + self._text

    @property
    def text(self) -> str:
        """The text in place of a terminal. Nothing else shows the exit code of an agent's own."""
        code = lenient.integer(self.ended, "exitCode") if self.owner else 0
        return self.output + (f"\n(exit code {code})" if code else "")

    def status(self) -> str:
        if self.ended is None:
            return "in_progress"
        return "completed" if self.ended.get("exitCode") == 0 else "failed"


class Screens:
    def __init__(self, client: Json) -> None:
        meta = lenient.mapping(client, "_meta")
        offered = [key for key in terminals.PIECES if lenient.flag(meta, key)]
        self.native = bool(offered)
        self._key = offered[0] if offered else ""
        """Under which the client wants the output of a terminal."""
        self._screens: dict[str, Screen] = {}

    def take(self, event: Event) -> list[Json]:
        """Return the updates of a terminal's event."""
        update = event.update
        name = lenient.text(update, "id")
        if update.get("state") == "started":
            self._screens[name] = Screen(update, event.at)
        screen = self._screens.get(name)
        if screen is None:
            return []
        match update.get("state"):
            case "output":
                text = lenient.text(update, "text")
                screen.write(text)
                if screen.call:
                    return self._wrote(screen, text)
                if event.at - screen.at >= ALONE_AFTER:
                    return self._alone(screen)
            case "ended":
                screen.ended = update
                if screen.call:
                    return self._ended(screen)
        return []

    def hear(self, call: str, update: Json, cwd: str) -> list[Json]:
        """Return the updates of what an agent reports about its own terminal in `_meta` of a call.
        A new terminal is sent with the call that shows it."""
        news, updates = terminals.terminal_news(update), list[Json]()
        if news is not None:
            own = news.name == terminals.MARK + lenient.text(update, "toolCallId")
            info = lenient.mapping(lenient.mapping(update, "_meta"), "terminal_info")
            screen = self._agents(news.name, call, own=own, cwd=lenient.text(info, "cwd") or cwd)
            screen.write(news.text)
            updates += self._wrote(screen, news.text) if screen.call and news.text else []
            if news.over:
                screen.ended = {"exitCode": news.code, "signal": news.signal or None}
                updates += self._ended(screen) if screen.call else []
        if lenient.text(update, "status") in terminals.ENDED:
            for screen in self._screens.values():
                if screen.owner == call and screen.ended is None:
                    screen.ended = {}
                    updates += self._ended(screen) if screen.call else []
        return updates

    def _agents(self, name: str, call: str, *, own: bool, cwd: str) -> Screen:
        """Return the screen of an agent's own terminal. `own`: it is named for its call, and so
        belongs to no other."""
        screen = self._screens.get(name)
        if screen is None or (screen.owner != call and (own or screen.ended is not None)):
            shown = call if own else f"{call}:{name[1:]}"
            screen = self._screens[name] = Screen({"id": shown, "cwd": cwd}, 0)
            screen.owner = call
        return screen

    def shown_by(self, call: str, content: list[Json]) -> list[Json]:
        """Return a call's content with the agent's own terminals that it does not name itself."""
        named = {lenient.text(item, "terminalId") for item in content}
        mine = [name[1:] for name, screen in self._screens.items() if screen.owner == call]
        missing = [{"type": "terminal", "terminalId": name} for name in mine if name not in named]
        return [*content, *missing]

    def _known(self, item: Json) -> Screen | None:
        name = lenient.text(item, "terminalId")
        return self._screens.get(name) or self._screens.get(terminals.MARK + name)

    def show(self, item: Json) -> Json | None:
        """Return what stands for a terminal in a tool call's content; None for nothing."""
        screen = self._known(item)
        if screen is None:
            return None
        if self.native:
            return {"type": "terminal", "terminalId": screen.id}
        return _text(screen.text) if screen.text or not screen.owner else None

    def refer(self, call: str, update: Json) -> list[Screen]:
        """Return the terminals that a tool call shows for the first time from now on."""
        screens = []
        for item in lenient.mappings(update, "content"):
            screen = self._known(item)
            if screen is not None and item.get("type") == "terminal" and not screen.call:
                screen.call = call
                screens.append(screen)
        return screens

    def info(self, screen: Screen) -> Json:
        return {"terminal_info": {"terminal_id": screen.id, "cwd": screen.cwd}}

    def so_far(self, screen: Screen) -> list[Json]:
        """Return the output of a terminal from before a call showed it."""
        if not self.native:
            return []
        updates = [self._output(screen, screen.output)] if screen.output else []
        return updates + ([_exit(screen)] if screen.ended is not None else [])

    def stale(self) -> list[str]:
        """Return the tool calls whose text is out of date; the caller sends it."""
        outdated = [screen for screen in self._screens.values() if screen.stale]
        for screen in outdated:
            screen.stale = False
        return list(dict.fromkeys(screen.call for screen in outdated))

    def alone(self) -> list[Json]:
        """Return a call of ours for each terminal that no tool call refers to: the turn is over."""
        return [
            update
            for screen in self._screens.values()
            if not screen.call
            for update in self._alone(screen)
        ]

    def own(self, call: str) -> list[Json] | None:
        """Return the content of a tool call that is one of ours; None if it is not."""
        for screen in self._screens.values():
            if screen.alone and screen.call == call:
                return [_text(screen.text)]
        return None

    def forget(self) -> None:
        """Forget terminals that have ended: in a new turn, nothing refers to them."""
        self._screens = {
            name: screen for name, screen in self._screens.items() if screen.ended is None
        }

    def _alone(self, screen: Screen) -> list[Json]:
        screen.call, screen.alone = f"terminal-{screen.id}", True
        shown = self.show({"terminalId": screen.id})
        announced: Json = {
            "sessionUpdate": "tool_call",
            "toolCallId": screen.call,
            "title": screen.command,
            "kind": "execute",
            "status": "in_progress" if self.native else screen.status(),
            "content": [shown],
        }
        if self.native:
            announced["_meta"] = self.info(screen)
        return [announced, *self.so_far(screen)]

    def _wrote(self, screen: Screen, text: str) -> list[Json]:
        if self.native:
            pieces = range(0, len(text), MAX_CHUNK_LENGTH)
            return [self._output(screen, text[at : at + MAX_CHUNK_LENGTH]) for at in pieces]
        screen.stale = True
        return []

    def _output(self, screen: Screen, text: str) -> Json:
        return _update(screen, _meta={self._key: {"terminal_id": screen.id, "data": text}})

    def _ended(self, screen: Screen) -> list[Json]:
        if not screen.owner or screen.text:
            screen.stale = not self.native
        updates = [_exit(screen)] if self.native else []
        if screen.alone and not self.native:
            updates.append(_update(screen, status=screen.status()))
        return updates


def _update(screen: Screen, **fields: object) -> Json:
    return {"sessionUpdate": "tool_call_update", "toolCallId": screen.call, **fields}


def _exit(screen: Screen) -> Json:
    ended = screen.ended or {}
    code, signal = ended.get("exitCode"), ended.get("signal")
    left = {"terminal_id": screen.id, "exit_code": code, "signal": signal}
    status = {"status": screen.status()} if screen.alone else {}
    return _update(screen, **status, _meta={"terminal_exit": left})


def _text(text: str) -> Json:
    return {"type": "content", "content": {"type": "text", "text": text}}
