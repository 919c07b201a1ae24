"""The windows for the MCP servers that all agents use: a list, and a form."""

from rookery.core.json import Json
from rookery.forms.lists import Row, server_row
from rookery.home import mcp
from rookery.tui.keys import bindings
from rookery.tui.windows.parts.section import SectionScreen


class ServersScreen(SectionScreen[None]):
    LIST = "servers"
    NEW = "servers.new"
    REMOVES = ("Remove the MCP server {}?", "Running agents keep it until they stop.")
    BINDINGS = bindings.SERVERS

    def load(self) -> list[mcp.Server]:
        return mcp.load(self.home)

    def shown(self, loaded: list[mcp.Server]) -> list[Row]:
        self._servers = {server.name: server for server in loaded}
        return [server_row(self.home, server) for server in loaded]

    def choose(self, row: Row) -> None:
        self.open_form("servers", row.name, self._saved)

    def action_new(self) -> None:
        self.open_form("servers", "", self._saved)

    def _saved(self, answer: Json) -> None:
        self.reload()
        self.act("test", answer["name"])

    def action_turn(self) -> None:
        if row := self.current:
            self.act("off" if self._servers[row.name].enabled else "on", row.name)

    def action_log_in(self) -> None:
        """Log in to the server under the cursor."""
        server = self._servers[self.current.name] if self.current else None
        if server is None or server.fault or server.kind == "stdio":
            self.tell("Only a server with an address has a login." if server else "")
            return
        self.tell(self.shell.log_in(server.name, "mcp"))
        self.reload()
