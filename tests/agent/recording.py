"""Records real conversations of the SDK with a scripted model: `python -m tests.agent.recording`
writes `fixtures/agent-events/*.json`, the events and token chunks in the order in which they came,
and beside each the updates that we make of them.

What is recorded is the SDK's own; look at every change of a golden file before keeping it.
"""

import asyncio
import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("OPENHANDS_SUPPRESS_BANNER", "1")

from openhands.sdk import LLM, Agent, LocalConversation, Tool
from openhands.sdk.event import ActionEvent, Event
from openhands.sdk.security.confirmation_policy import AlwaysConfirm
from openhands.tools.file_editor import FileEditorTool
from openhands.tools.preset.default import register_builtins_agents
from openhands.tools.task import TaskToolSet
from openhands.tools.task_tracker import TaskTrackerTool
from openhands.tools.terminal import TerminalTool
from pydantic import SecretStr

from rookery.agent import terminal
from rookery.agent.scripted.server import serving
from rookery.agent.sdk_patches import terminal_tool
from rookery.agent.translate import Translator
from rookery.agent.translate.children import Listener, Watcher

type Json = dict[str, Any]

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "agent-events"
PRIVATE = r'("(?:py_interpreter_path|username|hostname)": )"[^"]*"'
"""Fields that tell of the machine on which this was recorded."""
CWD = "/tmp/session-recording"
TOOLS = (TerminalTool, FileEditorTool, TaskTrackerTool, TaskToolSet)


def call(tool: str, **arguments: Any) -> Json:
    return {"name": tool, "arguments": arguments}


def edit(command: str, name: str, **arguments: Any) -> Json:
    return call("file_editor", command=command, path=f"{CWD}/{name}", **arguments)


FINISH = {"calls": [call("finish", message="All is done.\nSee `notes`.")]}
PLAN = [
    {"title": "Look", "notes": "", "status": "done"},
    {"title": "Leap", "notes": "far", "status": "in_progress"},
    {"title": "Land", "notes": "", "status": "todo"},
]

SCRIPTS: dict[str, list[Json]] = {
    "message": [{"thought": "A greeting. Answer it.", "text": "Hello **there**, friend."}],
    "command": [
        {
            "text": "I look first.",
            "calls": [call("terminal", command="echo one; echo '[bold]' \\[t\\]")],
        },
        {"calls": [call("terminal", command="ls /nowhere-at-all")]},
        FINISH,
    ],
    "edits": [
        {"calls": [edit("create", "new.txt", file_text="one\ntwo\nthree\n")]},
        {"calls": [edit("str_replace", "new.txt", old_str="two", new_str="2")]},
        {"calls": [edit("insert", "new.txt", insert_line=1, new_str="one and a half")]},
        {"calls": [edit("view", "new.txt", view_range=[2, 3])]},
        {"calls": [edit("str_replace", "new.txt", old_str="absent", new_str="x")]},
        FINISH,
    ],
    "plan": [{"calls": [call("task_tracker", command="plan", task_list=PLAN)]}, FINISH],
    "thinking": [
        {"calls": [call("think", thought='What if?\nThen "so" \u00e9\U0001f642.')]},
        FINISH,
    ],
    "parallel": [
        {
            "text": "Both at once.",
            "calls": [call("terminal", command="echo a"), edit("view", ".")],
        },
        FINISH,
    ],
    "mistakes": [
        {"calls": [call("no_such_tool", x=1)]},
        {"calls": [call("terminal", wrong="argument")]},
        FINISH,
    ],
    "sub-agent": [
        {"calls": [call("task", description="count files", prompt="Count the files here.")]},
        FINISH,
    ],
    "confirmation": [
        {"calls": [call("terminal", command="rm -rf build", security_risk="HIGH")]},
        FINISH,
    ],
}

SUB_AGENT: list[Json] = [
    {
        "thought": "How many?",
        "text": "I count.",
        "calls": [call("terminal", command="ls | wc -l"), call("task_tracker", command="view")],
    },
    {"calls": [call("finish", message="There are none.")]},
]


class Recorder(Listener):
    def __init__(self) -> None:
        self.items: list[Json] = []

    def event(self, event: Event) -> None:
        self.add("event", event.model_dump(mode="json", exclude_none=True))

    def chunk(self, chunk: Any) -> None:
        self.add("chunk", chunk.model_dump(mode="json", exclude_none=True))

    def output(self, tool_call: str, text: str) -> None:
        self.items.append({"output": {"call": tool_call, "text": text}})

    def child_event(self, call: str, child: str, event: Event) -> None:
        dumped = event.model_dump(mode="json", exclude_none=True)
        self.add("child", {"call": call, "conversation": child, "event": dumped})

    def add(self, kind: str, value: Json) -> None:
        event = value["event"] if kind == "child" else value
        if event.get("kind") == "SystemPromptEvent":  # its words are another project's
            event |= {"system_prompt": {"type": "text", "text": "You are."}, "tools": []}
            event.pop("dynamic_context", None)
        text = re.sub(PRIVATE, r'\1"x"', json.dumps(value))
        self.items.append({kind: json.loads(text)})


def play(script: list[Json], *, streaming: bool, asks: bool) -> list[Json]:
    recorder = Recorder()
    child = {"contains": "Count the files here.", "turns": SUB_AGENT}
    with serving({"turns": script, "match": [child]}) as model:
        llm = LLM(
            model="openai/scripted",
            base_url=model.url,
            api_key=SecretStr("none"),
            stream=streaming,
            usage_id="agent",
        )
        conversation = LocalConversation(
            agent=Agent(llm=llm, tools=[Tool(name=tool.name) for tool in TOOLS]),
            workspace=CWD,
            callbacks=[recorder.event],
            token_callbacks=[recorder.chunk],
            visualizer=Watcher(recorder),
        )
        terminal.on_output(conversation, recorder.output)
        try:
            asyncio.run(_converse(conversation, asks=asks))
        finally:
            terminal.close(conversation)
            conversation.close()
    return recorder.items


async def _converse(conversation: LocalConversation, *, asks: bool) -> None:
    if asks:
        conversation.set_confirmation_policy(AlwaysConfirm())
    await asyncio.to_thread(conversation.send_message, "Do it, please.")
    await conversation.arun()
    if asks:
        conversation.reject_pending_actions("not that directory")
        await conversation.arun()


def replay(items: list[Json], translator: Translator, *, live: bool = True) -> list[Json]:
    """What we make of a recording, as the agent would: a call begins when it may run."""
    updates: list[Json] = []
    children: dict[str, Translator] = {}
    for item in items:
        if "chunk" in item:
            updates += translator.delta(chunk_of(item["chunk"])) if live else []
        elif "output" in item:
            output = item["output"]
            updates += translator.output(output["call"], output["text"]) if live else []
        elif "child" in item:
            child = item["child"]
            below = children.setdefault(
                child["conversation"], translator.child(child["call"], child["conversation"])
            )
            updates += below.live(Event.model_validate(child["event"])) if live else []
        else:
            event = Event.model_validate(item["event"])
            updates += translator.live(event) if live else translator.replay(event)
            if live and isinstance(event, ActionEvent) and event.tool_name == "task":
                updates += translator.started(event)
    return updates


def chunk_of(value: Json) -> Any:
    from litellm.types.utils import ModelResponseStream

    return ModelResponseStream(**value)


def write(name: str, value: Any) -> None:
    text = json.dumps(value, indent=1, ensure_ascii=True, sort_keys=True)
    (FOLDER / name).write_text(text + "\n")


def main(wanted: list[str]) -> None:
    terminal_tool.install()
    register_builtins_agents(enable_browser=False)
    for name, script in SCRIPTS.items():
        if wanted and name not in wanted:
            continue
        for streaming in (True, False):
            full = name if streaming else f"{name}-whole"
            os.mkdir(CWD)
            try:
                items = play(script, streaming=streaming, asks=name == "confirmation")
            finally:
                shutil.rmtree(CWD)
            write(f"{full}.json", items)
            write(f"{full}.updates.json", replay(items, Translator(CWD)))


if __name__ == "__main__":
    main(sys.argv[1:])
