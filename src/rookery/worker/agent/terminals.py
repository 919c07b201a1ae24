"""The agent's terminals: commands that run under the worker and outlive every client.

Output goes to the log as it comes, in pieces of one window each. For long output the head and the
tail are kept and the middle is counted; the agent itself gets as much as its own limit allows."""

import asyncio
import codecs
import os
import signal
import subprocess
from collections.abc import Callable
from functools import partial
from typing import Any

from rookery.core.json import Draft, Json, lenient
from rookery.core.policy import confinement
from rookery.core.tools.calls import key_of
from rookery.core.vendors.environment import TERMINAL
from rookery.processes import offspring, tree
from rookery.processes.child import Child
from rookery.wire.jsonrpc import INVALID_PARAMS, Incoming, RpcError
from rookery.wire.params import NOT_FOUND, invalid
from rookery.wire.pipes import PipeReader
from rookery.worker.agent.files import Files
from rookery.worker.agent.surviving_commands import left_running
from rookery.worker.environment import Surroundings
from rookery.worker.session import Session

MAX_TERMINALS = 100
"""Terminals that an agent may hold at once."""

SETTLE = 0.5
"""Seconds for the last output after the exit: a background job can hold the pipe for ever."""

REST = 0.02
"""Seconds between two looks at what a command prints."""

BACKGROUND = ("run_in_background", "is_background", "background")
"""Fields of a call's input by which agents say that it runs in the background."""

KEPT = 500
"""Calls of which is known which terminals they show."""

SHELL_SIGNS = frozenset(" \t\n;&|<>()$`\"'*?[#~=%")

type Log = Callable[[Json], None]


class Terminal:
    """One command. The output that the agent may ask for is kept apart from the output that is
    logged."""

    def __init__(
        self,
        session: Session,
        name: str,
        log: Log,
        limit: int | None = None,
        others: Callable[[], list[int]] = list,
    ) -> None:
        """`others`: returns the processes of the other terminals."""
        keep = session.policy.terminal_keep
        self.name = name
        self.child = Child(self._exited, session.fence)
        self._fence, self._sandbox = session.fence, session.sandbox
        self._others = others
        self._since = 0
        self._told_left = False
        self.waiting: list[Incoming] = []
        self.ended = False
        self._log = log
        self._window = session.policy.chunk_window
        self._limit = keep if limit is None else min(limit, keep)
        self._shown = bytearray()
        self.truncated = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head_left = keep // 2
        self._tail = bytearray()
        self._tail_most = keep // 2
        self._skipped = 0
        self._pending: list[str] = []
        self._flushing: asyncio.TimerHandle | None = None
        self._reader: PipeReader | None = None

    def start(self, argv: list[str], cwd: str, surroundings: Surroundings) -> None:
        """Start the command. Raises OSError or ValueError."""
        self._since = offspring.now()
        environment = surroundings.environment | {TERMINAL: self.name}
        inside, more = self._sandbox.spawn(argv, environment, cwd), dict[str, Any]()
        if inside is not None:
            argv, environment, cwd, more = (
                inside.argv,
                inside.environment,
                inside.cwd,
                inside.more(),
            )
        _, stdout, _ = self.child.spawn(
            argv,
            cwd=cwd,
            environment=environment,
            umask=surroundings.umask,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            **more,
        )
        self._reader = PipeReader(stdout, self._wrote, self._finish, lambda _late: REST)

    def output(self) -> str:
        """Return the output for the agent: its end, cut at the front between two characters."""
        shown = _from_a_character(self._shown) if self.truncated else self._shown
        return shown.decode("utf-8", "replace")

    def exit_status(self) -> Json:
        status = self.child.status
        if status is not None and status < 0:
            return {"exitCode": None, "signal": _signal_name(-status)}
        return {"exitCode": status, "signal": None}

    def kill(self, number: int = signal.SIGTERM, *, all_of_it: bool = True) -> None:
        """Signal the whole group, including what the command left in the background when it ended:
        while the group has a member, its id is not reused. With `all_of_it`, also signal processes
        it started that left the group."""
        pid, runs = self.child.pid, self.child.status is None
        if not pid:
            return
        root = offspring.Command(pid, runs, self._since, (TERMINAL, self.name))
        started = offspring.of_command(root, self._others()) if all_of_it else []
        spared = pid in self._fence.wrappers and number != signal.SIGKILL
        if not spared and (runs or tree.start_time(pid) is None):
            tree.end_group(pid, number)
        away = [process for process in self._fence.inside(started) if process.group != pid]
        tree.kill(away) if number == signal.SIGKILL else tree.terminate(away)
        if all_of_it and runs and self.child.start is not None:
            started.append(tree.Process(pid, self.child.start))
        if (refused := tree.forbidden(started)) and not self._told_left:
            self._told_left = True
            self._log(left_running(refused))

    def _wrote(self, data: bytes) -> None:
        self._shown += data
        if len(self._shown) > self._limit:
            del self._shown[: len(self._shown) - self._limit]
            self.truncated = True
        head, rest = data[: self._head_left], data[self._head_left :]
        self._head_left -= len(head)
        if head:
            self._pending.append(self._decoder.decode(head))
        if rest:
            self._tail += rest
            over = len(self._tail) - self._tail_most
            if over > 0:
                del self._tail[:over]
                self._skipped += over
        if self._pending and self._flushing is None:
            self._flushing = asyncio.get_running_loop().call_later(self._window, self._flush)

    def _flush(self) -> None:
        self._flushing = None
        text = "".join(self._pending)
        self._pending = []
        if text:
            self._log(_update(self.name, "output", text=text))

    def _exited(self, _status: int) -> None:
        asyncio.get_running_loop().call_later(SETTLE, self._finish)
        if self._reader is not None:
            self._reader.end_rest()
            self._reader.resume()
            if self._reader.ended:
                self._finish()

    def _finish(self) -> None:
        """Finish once exit and end of the output are here, or the latter was waited for."""
        if self.ended or self.child.status is None:
            return
        self.ended = True
        if self._reader is not None:
            self._reader.take_now()
            self._reader.close()
        if self._flushing is not None:
            self._flushing.cancel()
        self._flush()
        if text := self._rest():
            self._log(_update(self.name, "output", text=text))
        self._log(_update(self.name, "ended", **self.exit_status()))
        waiting, self.waiting = self.waiting, []
        for incoming in waiting:
            incoming.reply(self.exit_status())

    def _rest(self) -> str:
        """Return output not logged yet: the tail, behind a count of the bytes left out
        before it."""
        if not self._skipped:
            return self._decoder.decode(bytes(self._tail), final=True)
        whole = _from_a_character(self._tail)
        lost = self._skipped + len(self._tail) - len(whole)
        before = self._decoder.decode(b"", final=True)
        return f"{before}\n… {lost} bytes left out …\n{whole.decode('utf-8', 'replace')}"


class Privileges:
    """Watches for a command of the agent's that lacked privileges withheld from confined agents,
    and names the setting in a notice."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.begin()

    def begin(self) -> None:
        """Start over for a new agent: the notice is given once for each."""
        self._noted = False
        self._before = ""
        """The end of what was heard last: a sentence may come in pieces."""

    def hear(self, *output: object) -> None:
        if self._noted or not self._session.fence.confined:
            return
        for text in confinement.texts(list(output)):
            if confinement.lost(self._before + text):
                self._noted = True
                self._session.append(confinement.notice(self._session.header.agent))
                return
            self._before = text[-confinement.MAX_SIGN_LENGTH :]


class BackgroundCalls:
    """The terminals of calls that were made to run in the background: a cancel leaves them alone. A
    call's input and the terminal it shows may come in different updates."""

    def __init__(self) -> None:
        self._shown: dict[str, set[str]] = {}
        """The terminals of each call of the turn."""
        self._background: set[str] = set()

    def clear(self) -> None:
        """Forget all calls: a new turn begins."""
        self._shown.clear()
        self._background.clear()

    def hear(self, update: Json) -> None:
        """Take a call, or an update of one."""
        key, given = key_of(update), lenient.mapping(update, "rawInput")
        if any(given.get(word) is True for word in BACKGROUND):
            self._background.add(key)
        parts = lenient.mappings(update, "content")
        if names := {name for part in parts if (name := lenient.text(part, "terminalId"))}:
            self._shown.setdefault(key, set()).update(names)
            if len(self._shown) > KEPT:
                del self._shown[next(iter(self._shown))]

    def terminals(self) -> set[str]:
        return {name for key in self._background for name in self._shown.get(key, ())}


class Terminals:
    def __init__(self, session: Session, files: Files, privileges: Privileges) -> None:
        self._session = session
        self._files = files
        self._privileges = privileges
        self._open: dict[str, Terminal] = {}
        self._earlier: set[str] = set()
        """Those of earlier turns."""
        self.background = BackgroundCalls()

    def _log(self, update: Json) -> None:
        self._session.append(Draft(update))
        self._privileges.hear(update.get("text"))
        self._session.wake()

    def take(self, incoming: Incoming) -> None:
        """Answer a `terminal/*` request, at once or when its command has ended."""
        params = incoming.params if isinstance(incoming.params, dict) else {}
        if incoming.method == "terminal/create":
            self._create(incoming, params)
            return
        terminal = self._open.get(lenient.text(params, "terminalId"))
        if terminal is None:
            incoming.fail(NOT_FOUND, "there is no such terminal, or it was released")
            return
        match incoming.method:
            case "terminal/output":
                answer: Json = {"output": terminal.output(), "truncated": terminal.truncated}
                if terminal.ended:
                    answer["exitStatus"] = terminal.exit_status()
                incoming.reply(answer)
            case "terminal/wait_for_exit" if terminal.ended:
                incoming.reply(terminal.exit_status())
            case "terminal/wait_for_exit":
                terminal.waiting.append(incoming)
            case "terminal/kill":
                end_terminal(terminal)
                incoming.reply({})
            case "terminal/release":
                end_terminal(terminal, all_of_it=terminal.child.status is None)
                del self._open[terminal.name]
                incoming.reply({})
            case _:
                incoming.unknown()

    def _create(self, incoming: Incoming, params: Json) -> None:
        if len(self._open) >= MAX_TERMINALS:
            incoming.fail(INVALID_PARAMS, f"{MAX_TERMINALS} terminals are open; release one first")
            return
        command = lenient.text(params, "command")
        argv = _argv(command, lenient.texts(params, "args"))
        name = "term_" + os.urandom(6).hex()
        limit = lenient.integer(params, "outputByteLimit")
        terminal = Terminal(self._session, name, self._log, limit, self._processes)
        if not command or "\0" in "".join(argv):
            incoming.fail(INVALID_PARAMS, "a command is required and must not contain NUL")
            return
        try:
            asked = self._session.sandbox.to_host(lenient.text(params, "cwd"))
            cwd = self._files.folder(asked or self._session.header.cwd)
            terminal.start(argv, cwd, self._with(params))
        except RpcError as refused:
            incoming.fail(refused.code, refused.message)
            return
        except (OSError, ValueError) as error:
            incoming.fail(INVALID_PARAMS, f"{command}: {getattr(error, 'strerror', None) or error}")
            return
        self._open[name] = terminal
        shown = command if argv[0] == "/bin/sh" else " ".join(argv)
        self._log(_update(name, "started", command=shown, cwd=cwd))
        incoming.reply({"terminalId": name})

    def _with(self, params: Json) -> Surroundings:
        added = {
            lenient.text(item, "name"): lenient.text(item, "value")
            for item in lenient.mappings(params, "env")
        }
        if any(not key or "\0" in key + value or "=" in key for key, value in added.items()):
            raise invalid("the name of an environment variable must not contain = or NUL")
        surroundings = self._session.surroundings
        return surroundings._replace(environment=surroundings.environment | added)

    def _processes(self) -> list[int]:
        return [
            terminal.child.pid for terminal in self._open.values() if terminal.child.status is None
        ]

    def are_running(self) -> bool:
        return bool(self._processes())

    def waited_for(self) -> bool:
        return any(terminal.waiting for terminal in self._open.values())

    def turn_begins(self) -> None:
        """Note the open terminals as an earlier turn's: this turn did not start them."""
        self._earlier = set(self._open)
        self.background.clear()

    def cancel(self) -> None:
        """End the commands of a cancelled turn, except those that were put into the background on
        purpose, and do not wait for them."""
        spared = self._earlier | self.background.terminals()
        for terminal in self._open.values():
            if terminal.waiting or terminal.name not in spared:
                end_terminal(terminal)

    def release_all(self) -> None:
        """End all terminals: the agent is gone, so nobody holds them."""
        for terminal in self._open.values():
            end_terminal(terminal)
        self._open.clear()


def end_terminal(terminal: Terminal, *, all_of_it: bool = True) -> None:
    """Send TERM, and KILL if that was not enough. If a command has ended by itself, processes it
    put into a session of their own were meant to stay; `all_of_it` ends those, too."""
    terminal.kill(all_of_it=all_of_it)
    loop = asyncio.get_running_loop()
    loop.call_later(2.0, partial(terminal.kill, signal.SIGKILL, all_of_it=all_of_it))


def _update(name: str, state: str, **fields: Any) -> Json:
    return {"sessionUpdate": "_terminal", "id": name, "state": state, **fields}


def _from_a_character(data: bytearray) -> bytearray:
    """Drop the rest of a character whose beginning was cut off."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]


def _argv(command: str, args: list[str]) -> list[str]:
    """Return a program with its arguments; a whole line without arguments is for the shell."""
    if not args and SHELL_SIGNS.intersection(command):
        return ["/bin/sh", "-c", command]
    return [command, *args]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
