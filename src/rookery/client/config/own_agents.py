"""Writes and removes the tables [agents.NAME] of config.toml without touching anything else
in it."""

import tomllib
from typing import Any

from rookery.client.config.toml_file import editing, save
from rookery.core.json import Json
from rookery.core.settings.agent_tables import fault_of
from rookery.home import config


def put(home: str, name: str, table: Json | None) -> None:
    """Write an agent's table, or remove it if `table` is None. Raises ConfigError, NotEdited."""
    if table is not None and (fault := fault_of(table)) is not None:
        raise config.ConfigError(f"Not changed: agents.{name}.{fault.key} {fault.why}.")

    def meant(tables: Json) -> None:
        agents = tables.setdefault("agents", {})
        agents.pop(name, None)
        if table is not None:
            agents[name] = table

    with editing(home) as text:
        save(home, text, _edited(text, name, table), meant)


def table_of(home: str, name: str) -> Json:
    """Return an agent's table as it is in the file, {} if there is none. Raises ConfigError."""
    with editing(home) as text:
        table = tomllib.loads(text).get("agents", {}).get(name, {})
    return dict(table)


def _edited(text: str, name: str, table: Json | None) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    agents: Any = document.get("agents")
    if table is None:
        if agents is not None:
            agents.pop(name, None)
        return tomlkit.dumps(document)
    if agents is None:
        agents = document["agents"] = tomlkit.table(is_super_table=True)
    if name not in agents:
        agents[name] = tomlkit.table()
    mine = agents[name]
    for key in [key for key in mine if key not in table]:
        mine.pop(key)
    for key, value in table.items():
        if mine.get(key) != value:
            mine[key] = value
    return tomlkit.dumps(document)
