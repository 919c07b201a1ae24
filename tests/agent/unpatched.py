"""The SDK and the libraries below it without our corrections: for each file of `sdk_patches`,
whether the fault that it corrects is still there.

Prints one JSON object. Runs in a process of its own, where nothing is patched.
"""

import asyncio
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rookery.agent.process import sdk_import

ROOT = Path(__file__).parents[2]
UNKNOWN = "openai/nobody-knows-this-one"
SECRET = "sk-quite-a-long-secret-0123456789"


def answers() -> bool:
    """A signed thought is kept twice, and the words of a refusal are no part of the message."""
    from litellm import stream_chunk_builder
    from litellm.types.utils import Delta, Message, ModelResponseStream, StreamingChoices

    def chunk(**block: str) -> Any:
        delta = Delta(thinking_blocks=[{"type": "thinking", **block}], role="assistant")
        return ModelResponseStream(choices=[StreamingChoices(delta=delta)], model=UNKNOWN)

    built: Any = stream_chunk_builder(
        [chunk(thinking="Once."), chunk(thinking="Once.", signature="s")]
    )
    kept = built.choices[0].message.thinking_blocks
    said = Message(content=None, provider_specific_fields={"refusal": "no"})
    return "".join(block["thinking"] for block in kept) != "Once." and not said.content


def apply_patch() -> bool:
    """An error at a later file leaves the first changed."""
    from openhands.tools.apply_patch.definition import ApplyPatchAction, ApplyPatchExecutor

    lines = ("*** Begin Patch", "*** Add File: a", "+x", "*** Add File: a/b", "+x", "*** End Patch")
    with tempfile.TemporaryDirectory() as place:
        with suppress(OSError):
            ApplyPatchExecutor(place)(ApplyPatchAction(patch="\n".join(lines)))
        return os.path.exists(os.path.join(place, "a"))


def editors() -> bool:
    """Each editor makes LF of CRLF; one leaves a folder behind."""
    from openhands.tools.file_editor.editor import FileEditor
    from openhands.tools.gemini.edit.definition import EditAction
    from openhands.tools.gemini.edit.impl import EditExecutor
    from openhands.tools.gemini.write_file.definition import WriteFileAction
    from openhands.tools.gemini.write_file.impl import WriteFileExecutor

    with tempfile.TemporaryDirectory() as place:
        tempfile.tempdir = place
        editor = FileEditor(place)
        tempfile.tempdir = None
        left = bool(os.listdir(place))
        path = Path(place, "note.txt")
        replace: Any = {"command": "str_replace", "old_str": "a", "new_str": "b"}
        edits: tuple[Callable[[], Any], ...] = (
            lambda: editor(path=str(path), **replace),
            lambda: EditExecutor(place)(
                EditAction(file_path="note.txt", old_string="a", new_string="b")
            ),
            lambda: WriteFileExecutor(place)(WriteFileAction(file_path="note.txt", content="b\n")),
        )
        lost = []
        for edit in edits:
            path.write_bytes(b"a\r\n")
            edit()
            lost.append(path.read_bytes() == b"b\n")
    return left and all(lost)


def environment() -> bool:
    from openhands.sdk.utils import sanitized_env

    from rookery.agent.sdk_patches.environment import PLACES

    used = all(hasattr(importlib.import_module(name), "sanitized_env") for name in PLACES)
    return used and "ROOKERY_NONCE" in sanitized_env({"ROOKERY_NONCE": "x"})


def gate() -> bool:
    """A sub-agent runs a tool that a hook of its parent's forbids, and is given a secret; plugins
    are always looked for."""
    from openhands.sdk.conversation.impl import local_conversation

    assert local_conversation.load_available_plugins
    with conversation() as (delegate, seen):
        delegate()
        return SECRET in seen.results


def head() -> bool:
    """After a kill within a step the newest event is not the conversation's last one."""
    with conversation() as (_, seen):
        state = seen.conversation.state
        stored = Path(state.persistence_dir, "base_state.json")
        seen.conversation.send_message("first")
        with state:
            seen.conversation._on_event(pause_event())
            return state.leaf_event_id != json.loads(stored.read_text()).get("leaf_event_id")


def imports() -> bool:
    """What no turn needs is loaded with the SDK, with a first client, or with a first answer."""
    import litellm
    import openai
    import openhands.sdk
    import openhands.tools.terminal

    from rookery.agent.sdk_patches.imports import UNNEEDED

    assert openai.OpenAI(api_key="none").chat.completions
    said: Any = [{"role": "user", "content": "x"}]
    list(litellm.completion(UNKNOWN, said, mock_response="hi", stream=True))
    return {openhands.sdk.__name__, openhands.tools.terminal.__name__, *UNNEEDED} <= (
        sys.modules.keys()
    )


def imports_encoding() -> bool:
    """A text that is empty is counted, and a thought that the provider has counted."""
    from litellm import stream_chunk_builder
    from litellm.litellm_core_utils import streaming_chunk_builder_utils as chunks
    from litellm.types.utils import Delta, ModelResponseStream, StreamingChoices, Usage

    counted: list[Any] = []
    theirs: Any = chunks.ChunkProcessor.count_reasoning_tokens
    noting: Any = lambda self, response: counted.append(1) or theirs(self, response)  # noqa: E731
    chunks.ChunkProcessor.count_reasoning_tokens = noting  # type: ignore[method-assign]
    known = Usage(1, 9, 10, reasoning_tokens=7)
    delta = Delta(reasoning_content="hm", role="assistant")
    chunk = ModelResponseStream(choices=[StreamingChoices(delta=delta)], model=UNKNOWN, usage=known)
    stream_chunk_builder([chunk])
    chunks.ChunkProcessor.count_reasoning_tokens = theirs  # type: ignore[method-assign]
    return bool(counted) and "litellm.litellm_core_utils.default_encoding" in sys.modules


@cache
def lean() -> list[bool]:
    """The same of the SDK as `imports` loads it: in another process."""
    code = """
import json, sys
from rookery.agent.sdk_patches import imports
imports.install()
from openhands.sdk import AgentBase
from openhands.sdk.conversation.impl import local_conversation
from openhands.sdk.tool import ToolDefinition

def is_unknown(owner, kind):
    try:
        owner.resolve_kind(kind)
    except ValueError:
        return True
    return False

kinds = is_unknown(ToolDefinition, "MCPToolDefinition") and is_unknown(AgentBase, "ACPAgent")
before = "fastmcp" in sys.modules
local_conversation.DefaultMCPToolProvider()
print(json.dumps([kinds, not before and "fastmcp" in sys.modules]))
"""
    with sdk_import.surroundings():
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    found: list[bool] = json.loads(ran.stdout.splitlines()[-1])
    return found


def imports_kinds() -> bool:
    return lean()[0]


def imports_mcp_provider() -> bool:
    return lean()[1]


def private() -> bool:
    """What we use of the SDK has no public name."""
    from openhands.sdk import LLM, Agent, LocalConversation
    from openhands.sdk.critic.impl.api import APIBasedCritic, chat_template
    from openhands.sdk.hooks.conversation_hooks import HookEventProcessor
    from openhands.sdk.llm.auth.credentials import CredentialStore
    from openhands.sdk.mcp import utils
    from openhands.sdk.mcp.client import MCPClient
    from openhands.tools.task.impl import TaskExecutor
    from openhands.tools.task.manager import TaskManager
    from openhands.tools.terminal.impl import TerminalExecutor

    names = {
        LocalConversation: "on_event base_callback released_state_lock_during_io arun_task "
        "ensure_agent_ready visualizer mcp_tool_provider",
        HookEventProcessor: "handle_pre_tool_use handle_post_tool_use",
        LLM: "subscription_credential_store subscription_credentials",
        TaskExecutor: "manager",
        TaskManager: "tasks tasks_lock",
        Agent: "on_mcp_tools_reconciled",
        utils: "ToolListChangedHandler connect_and_list_tools",
        MCPClient: "tools_reconciled_callback",
        chat_template: "get_cache_path",
        APIBasedCritic: "client close",
        CredentialStore: "get_credentials_file",
        TerminalExecutor: "export_envs mask_observation",
    }
    return not [
        name for owner, each in names.items() for name in each.split() if hasattr(owner, name)
    ]


def subscribed() -> bool:
    """Tokens that another session has renewed are not read again."""
    from openhands.sdk import LLM
    from openhands.sdk.llm.auth.credentials import CredentialStore, OAuthCredentials

    reads: list[str] = []

    class Store(CredentialStore):
        def get(self, vendor: str) -> OAuthCredentials | None:
            reads.append(vendor)
            return super().get(vendor)

    with tempfile.TemporaryDirectory() as place:
        llm: Any = LLM(model="openai/gpt-5", api_key="none")
        tokens = {"access_token": SECRET, "refresh_token": SECRET, "expires_at": 1 << 60}
        llm.is_subscription = True
        llm._subscription_credential_store = Store(Path(place))
        llm._subscription_credentials = OAuthCredentials(vendor="openai", **tokens)
        llm._get_litellm_auth_values()
    return not reads


def prompt() -> bool:
    """Their own words, in a prompt and in a declaration."""
    from openhands.sdk.agent import base
    from openhands.sdk.context.prompts import presets
    from openhands.sdk.tool.builtins import ThinkTool

    [think] = ThinkTool.create()
    declared = str(think.to_openai_tool())
    many = len(presets._DEFAULT_STATIC_SECTIONS) > 1
    return many and "OpenHands" in base._DEFAULT_SOUL and "Common use cases" in declared


def llm() -> bool:
    """An account without credit is asked again, and thoughts are streamed as text."""
    from litellm.exceptions import RateLimitError
    from litellm.types.llms.openai import ReasoningSummaryTextDeltaEvent
    from openhands.sdk import LLM

    model = LLM(model=UNKNOWN, api_key="none")
    asked: list[int] = []

    @model.retry_decorator(
        num_retries=2, retry_exceptions=(RateLimitError,), retry_min_wait=0, retry_max_wait=0
    )
    def ask() -> None:
        asked.append(1)
        raise RateLimitError("insufficient_quota", "openai", UNKNOWN)

    with suppress(RateLimitError):
        ask()
    thought = ReasoningSummaryTextDeltaEvent.model_construct(
        type="response.reasoning_summary_text.delta",
        item_id="rs_1",
        output_index=0,
        summary_index=0,
        delta="x",
    )
    _, chunk = model._process_stream_event(thought)
    return len(asked) == 2 and chunk is not None and chunk.choices[0].delta.content == "x"


def log_in() -> bool:
    """The page of a failed login cannot be made, the server is a constant, and the variable for
    the port is read by nobody."""
    import inspect

    from openhands.sdk.llm.auth import openai

    try:
        openai._HTML_ERROR.format(error="x")
        shown = True
    except (KeyError, ValueError, IndexError):
        shown = False
    given = inspect.signature(openai.OpenAISubscriptionAuth).parameters
    unread = inspect.getsource(openai).count("OPENHANDS_OAUTH_PORT") == 1
    return not shown and list(given) == ["credential_store", "oauth_port"] and unread


def remote_history() -> bool:
    """A list of a server's events reads all of them as it is made."""
    from openhands.sdk.conversation.impl import remote_conversation

    class Noting(remote_conversation.RemoteEventsList):
        read = 0

        def _do_full_sync(self) -> None:
            self.read += 1

    return bool(Noting(SimpleNamespace(), "c").read)  # type: ignore[arg-type]


def lost_events() -> bool:
    from litellm.litellm_core_utils.core_helpers import map_finish_reason
    from litellm.litellm_core_utils.streaming_handler import CustomStreamWrapper
    from litellm.types.llms.openai import GenericEvent, ResponseIncompleteEvent
    from openhands.sdk.llm import _response_stream
    from openhands.sdk.llm import llm as models
    from openhands.sdk.llm.exceptions import LLMNoResponseError

    ended = ResponseIncompleteEvent.model_construct(type="response.incomplete", response=None)
    try:
        cut = models.get_completed_response(SimpleNamespace(completed_response=ended)) is None
    except LLMNoResponseError:
        cut = True
    thought = GenericEvent(type="response.reasoning_summary_text.delta", delta="x")
    unheard = _response_stream._response_event(thought) is None
    delta = SimpleNamespace(content=None, refusal="no", tool_calls=None)
    chunk = SimpleNamespace(choices=[SimpleNamespace(delta=delta, finish_reason=None)])
    read: Any = CustomStreamWrapper.handle_openai_chat_completion_chunk
    paused = map_finish_reason("pause_turn") == "stop"
    return cut and unheard and paused and read(SimpleNamespace(), chunk)["text"] == ""


def mcp_calls() -> bool:
    """A server does not hear that a call was cancelled; a program that ended is not started anew
    with the next call."""
    from fastmcp import FastMCP
    from openhands.sdk.mcp.client import MCPClient
    from openhands.sdk.mcp.definition import MCPToolAction
    from openhands.sdk.mcp.tool import MCPToolExecutor

    server: Any = FastMCP("slow")

    async def cancelled_there() -> bool:
        begun, ended = asyncio.Event(), asyncio.Event()

        @server.tool
        async def slow() -> str:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            return ""

        async with MCPClient(server) as client:
            plain: Any = MCPToolExecutor("slow", client, 60.0)
            call = asyncio.ensure_future(plain.call_tool(MCPToolAction(data={})))
            await begun.wait()
            call.cancel()
            await asyncio.wait({asyncio.ensure_future(ended.wait()), call}, timeout=0.5)
            return ended.is_set()

    async def stays_down(place: Path) -> bool:
        start = f"echo $$ > {place}/pid; exec {sys.executable} {ROOT}/fixtures/mcp_server.py"
        config: Any = {"mcpServers": {"one": {"command": "sh", "args": ["-c", start]}}}
        async with MCPClient(config) as client:
            plain: Any = MCPToolExecutor("peck", client, 60.0)
            first = await plain.call_tool(MCPToolAction(data={}))
            os.kill(int((place / "pid").read_text()), signal.SIGKILL)
            incoming: Any = client.session._read_stream
            while incoming.statistics().open_send_streams:  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0.01)
            later = await plain.call_tool(MCPToolAction(data={}))
            return not first.is_error and later.is_error

    with tempfile.TemporaryDirectory() as place:
        down = asyncio.run(stays_down(Path(place)))
    return down and not asyncio.run(cancelled_there())


def memory() -> bool:
    """There is one folder for all that is the user's; a pipe is waited for, a link out of the
    project followed, and a long text cut line by line."""
    import inspect

    from openhands.sdk.context import memory as found

    with tempfile.TemporaryDirectory() as place:
        index = Path(place, "project", found.MEMORY_INDEX_RELPATH)
        index.parent.mkdir(parents=True)
        secret = Path(place, "secret")
        secret.write_text(SECRET)
        index.symlink_to(secret)
        followed = SECRET in str(found.load_memory(Path(place, "project")))
        index.unlink()
        os.mkfifo(index)
        waits = is_waited_for(index, lambda: found.load_memory(Path(place, "project")))
    slow = "while lines" in inspect.getsource(found._truncate_top)
    one = list(inspect.signature(found.load_memory).parameters) == ["working_dir", "char_budget"]
    return followed and waits and slow and one


def skills() -> bool:
    """A skill's commands and a repository's own program are run, a pipe is waited for, one file
    that is not UTF-8 hides all skills, and there may be any number of them."""
    from openhands.sdk.skills import Skill, load_available_skills
    from openhands.sdk.skills.skill import load_skills_from_dir
    from openhands.sdk.skills.utils import _git_worktree_relpaths

    from rookery.agent.sdk_patches.skills import MAX_SKILLS

    runs = Skill(name="x", content="!`echo 4`2").render_content().startswith("4")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, ".agents", "skills")
        for number in range(MAX_SKILLS + 1):
            Path(folder, f"s{number}").mkdir(parents=True)
            Path(folder, f"s{number}", "SKILL.md").write_text("---\ndescription: x\n---\nx")
        many = len(load_available_skills(place, include_project=True)) > MAX_SKILLS
        Path(place, "AGENTS.md").write_bytes(b"caf\xe9")
        hidden = load_available_skills(place, include_project=True) == {}
        ran = Path(place, "ran")
        program = Path(place, "program")
        program.write_text(f"#!/bin/sh\ntouch {ran}\n")
        program.chmod(0o755)
        for words in (("init", "-q"), ("config", "core.fsmonitor", str(program))):
            subprocess.run(["git", "-C", place, *words], check=True)
        _git_worktree_relpaths(Path(place))
        pipe = Path(folder, "pipe.md")
        os.mkfifo(pipe)
        waits = is_waited_for(pipe, lambda: load_skills_from_dir(folder))
        return runs and many and hidden and ran.exists() and waits


def is_waited_for(pipe: Path, read: Callable[[], Any]) -> bool:
    """Whether somebody opens a pipe to read it."""
    reading = threading.Thread(target=read, daemon=True)
    reading.start()
    while reading.is_alive():
        try:
            file = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads it yet
            reading.join(0.01)
            continue
        os.close(file)
        reading.join()
        return True
    return False


def outgoing() -> bool:
    """Messages are checked field by field, those of a long prompt are made, checked and copied
    anew, and so are the schemas of tools."""
    from openai.resources.chat.completions import completions
    from openai.types.chat import completion_create_params as shapes
    from openhands.sdk import LLM, Message, TextContent
    from openhands.sdk.event import LLMConvertibleEvent, MessageEvent
    from openhands.sdk.tool.builtins import FinishAction, FinishTool

    given = {"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}
    shape: Any = shapes.CompletionCreateParamsNonStreaming
    sent: Any = asyncio.run(completions.async_maybe_transform(given, shape))
    said = MessageEvent(
        source="user", llm_message=Message(role="user", content=[TextContent(text="x")])
    )
    first, second = (LLMConvertibleEvent.events_to_messages([said]) for _ in range(2))
    copied, _ = LLM(model=UNKNOWN, api_key="none")._begin_chat_messages(first)
    anew = first[0] is not second[0] and copied[0] is not first[0]
    shapes_made = []

    class Noted(FinishAction):
        @classmethod
        def to_mcp_schema(cls) -> dict[str, Any]:
            shapes_made.append(1)
            return super().to_mcp_schema()

    tool = FinishTool.create()[0].model_copy(update={"action_type": Noted})
    for _ in range(2):
        tool.to_openai_tool()
    anew = anew and len(shapes_made) == 2
    checked = importlib.import_module("litellm.main").validate_and_fix_openai_messages
    unsigned = importlib.import_module("litellm.utils")._remove_thought_signatures_from_messages
    message = given["messages"][0]
    anew = anew and checked([message])[0] is not message is not unsigned([message], "__")[0]
    return anew and sent["messages"] is not given["messages"]


def refused_images() -> bool:
    from openhands.sdk import LLM, ImageContent, Message
    from openhands.sdk.agent import agent

    seen = Message(role="user", content=[ImageContent(image_urls=["data:image/png;base64,AA"])])
    llm = LLM(model=UNKNOWN, api_key="none")
    return agent._should_handle_non_multimodal_image_input(llm, [seen])


def sdk_files() -> bool:
    """Secrets are written, every event is read and looked at again although none was added, and a
    folder is made outside of the home."""
    from openhands.sdk.conversation.event_store import EventLog
    from openhands.sdk.conversation.state import ConversationState
    from openhands.sdk.critic.impl.api import chat_template
    from openhands.sdk.io import LocalFileStore

    class Counting(EventLog):
        looks = 0

        def get_index(self, event_id: str) -> int:
            self.looks += 1
            return super().get_index(event_id)

    class Walked(list[Any]):
        looks = 0

        def __reversed__(self) -> Iterator[Any]:
            for each in super().__reversed__():
                self.looks += 1
                yield each

    with tempfile.TemporaryDirectory() as place:
        files = LocalFileStore(place)
        files.write("note", SECRET)
        log = Counting(files)
        events = [pause_event() for _ in range(20)]
        for event in events:
            log.append(event)
        log.path_to_root(events[-1].id)
        log.looks = 0
        walked = len(log.path_to_root(events[-1].id))
        kept = log.looks >= walked == len(events) and SECRET in files.read("note")
        branch = Walked(events)
        ConversationState.get_unmatched_actions(branch)
        kept = kept and branch.looks == len(events)
        kept = kept and any(name.startswith(".eventlog") for name in os.listdir(f"{place}/events"))
    return kept and chat_template.CACHE_DIR.is_relative_to(os.path.expanduser("~"))


def subagent_tasks() -> bool:
    """A sub-agent has neither the class of its parent nor, when it is resumed, a watcher."""
    from openhands.sdk import Agent, LocalConversation
    from openhands.tools.task import manager

    with conversation() as (delegate, seen):
        delegate()
        delegate(resume="task_00000001")
        plain = {type(state.agent) for state in seen.states} == {Agent}
        return plain and len(seen.states) == 1 and manager.LocalConversation is LocalConversation


def terminal_tool() -> bool:
    """An interrupt does not end a command that ignores it."""
    from openhands.tools.terminal.definition import TerminalAction
    from openhands.tools.terminal.impl import TerminalExecutor

    with tempfile.TemporaryDirectory() as place:
        begun = Path(place, "begun")
        os.mkfifo(begun)
        executor = TerminalExecutor(working_dir=place, terminal_type="subprocess")
        stubborn = TerminalAction(
            command=f"bash -c 'trap \"\" INT; : >{begun}; sleep 3'", timeout=4
        )
        work = threading.Thread(target=executor, args=(stubborn,))
        work.start()
        begun.read_text()
        executor.interrupt()
        work.join(1.0)
        runs_on = work.is_alive()
        executor.close()
        work.join()
        return runs_on


def usage() -> bool:
    from litellm import ModelResponse
    from openhands.sdk import LLM, Agent
    from openhands.sdk.llm.utils.metrics import Metrics
    from openhands.sdk.llm.utils.telemetry import Telemetry

    class Own(LLM):
        __qualname__ = "OwnModel"

    given = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2, "cost": 0.5}
    with warnings.catch_warnings(action="ignore"):
        telemetry = Telemetry(model_name=UNKNOWN, metrics=Metrics(model_name=UNKNOWN))
        cost = telemetry._compute_cost(ModelResponse(usage=given))
    agent = Agent(llm=Own(model=UNKNOWN, api_key="none"), tools=[])
    return cost != 0.5 and not list(agent.get_all_llms())


# ---------------------------------------------------------------- a conversation with a sub-agent


def pause_event() -> Any:
    from openhands.sdk.event import PauseEvent

    return PauseEvent()


@cache
def own_agent() -> type[Any]:
    import openhands.sdk.agent
    from openhands.sdk import Agent

    class Own(Agent):
        __qualname__ = "Own"  # the SDK takes no class of a function

        @property
        def prompt_dir(self) -> str:
            return os.path.join(os.path.dirname(openhands.sdk.agent.__file__), "prompts")

    return Own


def watcher(seen: Any) -> Any:
    from openhands.sdk.conversation.visualizer import ConversationVisualizerBase

    class Watcher(ConversationVisualizerBase):
        def on_event(self, event: Any) -> None:
            seen.results += str(getattr(event, "observation", ""))

        def create_sub_visualizer(self, agent_id: str) -> "Watcher":
            return Below()  # type: ignore[no-untyped-call]

    class Below(Watcher):
        def initialize(self, state: Any) -> None:
            super().initialize(state)
            seen.states.append(state)

    return Watcher()  # type: ignore[no-untyped-call]


def call(name: str, **arguments: str) -> Any:
    from openhands.sdk import Message, TextContent
    from openhands.sdk.llm import MessageToolCall

    given = json.dumps({"security_risk": "LOW", **arguments})
    made = MessageToolCall(id=f"c{time.time_ns()}", name=name, arguments=given, origin="completion")
    return Message(role="assistant", content=[TextContent(text="")], tool_calls=[made])


@contextmanager
def conversation() -> Iterator[tuple[Callable[..., None], Any]]:
    """One whose hook forbids the file editor, with a way to let a sub-agent read a secret by it;
    and what was seen of the sub-agent."""
    from openhands.sdk import LocalConversation, Tool
    from openhands.sdk.hooks import HookConfig
    from openhands.sdk.testing import TestLLM
    from openhands.tools.file_editor import FileEditorTool
    from openhands.tools.preset.default import register_builtins_agents
    from openhands.tools.task import TaskToolSet

    seen = SimpleNamespace(results="", states=[], conversation=None)

    register_builtins_agents(enable_browser=False)
    with tempfile.TemporaryDirectory() as place:
        note = Path(place, "note.txt")
        note.write_text(SECRET)
        llm = TestLLM.from_messages([])
        forbids = {"matcher": "file_editor", "hooks": [{"command": "exit 2"}]}
        made = seen.conversation = LocalConversation(
            agent=own_agent()(
                llm=llm, tools=[Tool(name=FileEditorTool.name), Tool(name=TaskToolSet.name)]
            ),
            workspace=place,
            persistence_dir=os.path.join(place, "kept"),
            visualizer=watcher(seen),
            hook_config=HookConfig.model_validate({"pre_tool_use": [forbids]}),
        )
        made.update_secrets({"KEY": SECRET})

        def delegate(**more: str) -> None:
            task = {"description": "look", "prompt": "look", "subagent_type": "general-purpose"}
            llm._scripted_responses.extend(
                [
                    call("task", **task, **more),
                    call("file_editor", command="view", path=str(note)),
                    call("finish", message="seen"),
                    call("finish", message="done"),
                ]
            )
            made.send_message("go")
            made.run()

        try:
            yield delegate, seen
        finally:
            made.close()


def search_tools() -> bool:
    """A pattern that begins with a dash is an option of the program that searches."""
    from openhands.tools.grep.definition import GrepAction
    from openhands.tools.grep.impl import GrepExecutor

    with tempfile.TemporaryDirectory() as place:
        return bool(GrepExecutor(place)(GrepAction(pattern="--help")).matches)


PATCHES: tuple[Callable[[], bool], ...] = (
    *(imports, imports_encoding, imports_kinds, imports_mcp_provider, answers, apply_patch),
    *(editors, environment, gate, head, llm, log_in, lost_events, mcp_calls, memory, outgoing),
    *(
        private,
        prompt,
        refused_images,
        remote_history,
        sdk_files,
        search_tools,
        skills,
        subagent_tasks,
        subscribed,
        terminal_tool,
        usage,
    ),
)


if __name__ == "__main__":
    wanted = sys.argv[1:]
    with sdk_import.surroundings():
        found = {
            patch.__name__: patch() for patch in PATCHES if not wanted or patch.__name__ in wanted
        }
    print(json.dumps(found))
