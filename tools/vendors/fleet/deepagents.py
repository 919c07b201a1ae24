"""LangChain's Deep Agents Code, with the adapter that it wants beside it."""

from pathlib import Path

from tools.vendors.vendor import Environment, Vendor, call


def _surroundings(_home: Path, url: str) -> Environment:
    return {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "sk-scripted"}


VENDOR = Vendor(
    "deepagents",
    _surroundings,
    run=lambda command: call("execute", command=command),
    edit=lambda path, before, after: [
        call("read_file", file_path=path),
        call("edit_file", file_path=path, old_string=before, new_string=after),
    ],
    pypi=("deepagents-code==0.1.88", "deepagents-acp==0.0.13"),
    python="3.13",
    programs=("dcode",),
    command=("dcode", "--acp", "--model", "openai:scripted"),
    untouched=("model",),  # it lists models of all providers, and keeps one that it refused
    faults={"mcp": "it uses only the MCP servers in its own settings."},
)
