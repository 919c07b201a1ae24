"""The windows for the MCP servers that all agents use: a list, and a form."""

from collections.abc import Callable
from functools import partial

from rookery.client.config import in_force
from rookery.core.json import Json
from rookery.forms.form import Saved
from rookery.forms.lists import Row, server_row
from rookery.forms.servers import ServerForm, tested
from rookery.home import mcp
from rookery.tui.keys import bindings
from rookery.tui.windows.parts.form import SavedForm
from rookery.tui.windows.parts.rows import RowsScreen


class ServersScreen(RowsScreen[None]):
    HEADING = "MCP servers, for every agent"
    EMPTY = "No MCP servers yet. {key} adds one."
    NEW = "servers.new"
    REMOVES = ("Remove the MCP server {}?", "Running agents keep it until they stop.")
    BINDINGS = bindings.SERVERS

    def load(self) -> list[mcp.Server]:
        return mcp.load(self.home)

    def shown(self, loaded: list[mcp.Server]) -> list[Row]:
        self._servers = {server.name: server for server in loaded}
        return [server_row(self.home, server) for server in loaded]

    def choose(self, row: Row) -> None:
        self.shell.ask(SavedForm(ServerForm(self._servers[row.name])), self._saved)

    def action_new(self) -> None:
        self.shell.ask(SavedForm(ServerForm()), self._saved)

    def _saved(self, answer: Json) -> None:
        self.reload()
        self._test(answer["name"])

    def action_turn(self) -> None:
        if (row := self.current) is None:
            return
        on = not self._servers[row.name].enabled
        text = f"{row.name} is {'on' if on else 'off'} for agents started from now on."
        self._do(partial(mcp.set_enabled, self.home, row.name, enabled=on), text, adds=on)

    def drop(self, name: str) -> None:
        self._do(partial(mcp.remove, self.home, name), f"Removed {name}.")

    def _do(self, work: Callable[[], object], text: str, *, adds: bool = False) -> None:
        home = self.home

        def change() -> None:
            with in_force.editing(home, adds=adds):
                work()

        self.change(change, text, mcp.FILE)

    def action_log_in(self) -> None:
        """Log in to the server under the cursor."""
        server = self._servers[self.current.name] if self.current else None
        if server is None or server.fault or server.kind == "stdio":
            self.tell("Only a server with an address has a login." if server else "")
            return
        self.tell(self.shell.log_in(server.name, "mcp"))
        self.reload()

    def action_test(self) -> None:
        if self.current:
            self._test(self.current.name)

    def _test(self, name: str) -> None:
        self.tell(f"Testing {name} …")
        self.fetch(partial(tested, self.home, name), self._tested)
        self.shell.look_around()

    def _tested(self, outcome: Saved) -> None:
        self.tell(outcome.message if outcome.ok else f"✗ {outcome.message}")
