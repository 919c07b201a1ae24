"""A stand-in for the agent server and for OpenHands Cloud, on loopback: it speaks the part of their
wire that is used, and its model is a list of steps."""

import asyncio
import itertools
import json
import socket
import threading
import time
import uuid
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from tests.daemon.served import awaited

type Json = dict[str, Any]

PAGE = 3
BEHIND = timedelta(hours=7)
"""Its clock has no zone, and is not in ours."""
KEY = "key-of-the-stand-in"
TOKEN = "token-of-the-stand-in"


def call(command: str) -> Json:
    """A step in which the model wants to run a command."""
    return {"call": command}


def say(text: str) -> Json:
    return {"say": text}


def tool(name: str, kind: str, **given: Any) -> Json:
    """A step in which it wants to use another tool."""
    return {"tool": (name, kind, given)}


class Conversation:
    def __init__(self, request: Json) -> None:
        self.request = request
        self.status = "idle"
        self.policy = request["confirmation_policy"]["kind"]
        self.events: list[Json] = []
        self.pending: Json | None = None
        self.forked_at: str | None = None
        self.sockets: list[WebSocket] = []
        self.disorder: Callable[[Json], list[Json]] = lambda event: [event]
        """What its sockets are told instead of an event."""

    async def tell(self, kind: str, source: str, **fields: Any) -> Json:
        now = (datetime.now() - BEHIND).isoformat()  # noqa: DTZ005 (as the server does)
        event = {"kind": kind, "id": str(uuid.uuid4()), "timestamp": now, "source": source}
        event |= fields
        if kind not in ("ConversationStateUpdateEvent", "StreamingDeltaEvent"):
            self.events.append(event)
        for told in self.disorder(event):
            for each in list(self.sockets):
                with suppress(RuntimeError, WebSocketDisconnect):  # it is gone
                    await each.send_text(json.dumps(told))
        return event

    async def tell_state(self) -> None:
        value = {"execution_status": self.status, "stats": {}}
        kind = "ConversationStateUpdateEvent"
        await self.tell(kind, "environment", key="full_state", value=value)


class StandIn:
    def __init__(self) -> None:
        self.conversations: dict[str, Conversation] = {}
        self.steps: list[Json] = []
        self.heard: list[str] = []
        self.ran: list[str] = []
        self.folders: set[str] = set()
        self.lies = False
        """It runs what it should ask about."""
        self.answer: Callable[[str], Response | None] = lambda path: None
        """Instead of the right one."""
        self.socket = "open"
        """Or `silent`, or an address that it leads to."""
        self.first_words: list[str] = []
        """Of sockets."""
        self.began = time.monotonic()
        self.sandboxes: dict[str, str] = {}
        self._numbers = itertools.count(1)
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    # --- the model -------------------------------------------------------------------------------

    async def run(self, of: Conversation) -> None:
        of.status = "running"
        await of.tell_state()
        if of.pending is not None:
            await self._observe(of, of.pending)
            of.pending = None
        while of.status == "running":
            step = self.steps.pop(0) if self.steps else say("Nothing more.")
            number = next(self._numbers)
            if "say" not in step:
                terminal = "terminal", "Terminal", {"command": step.get("call")}
                action = await self._act(of, number, *step.get("tool", terminal))
                if not self.lies:
                    of.pending, of.status = action, "waiting_for_confirmation"
                else:
                    await self._observe(of, action)
            else:
                text = step["say"]
                for part in (text[:3], text[3:]):
                    await of.tell("StreamingDeltaEvent", "agent", content=part)
                content = [{"type": "text", "text": text}]
                message = {"role": "assistant", "content": content}
                more = {"llm_message": message, "llm_response_id": f"answer-{number}"}
                await of.tell("MessageEvent", "agent", **more)
                of.status = "finished"
        await of.tell_state()

    async def _act(self, of: Conversation, number: int, name: str, kind: str, given: Json) -> Json:
        made = {"id": f"call-{number}", "name": name, "arguments": json.dumps(given)}
        return await of.tell(
            *("ActionEvent", "agent"),
            thought=[],
            action={"kind": f"{kind}Action", **given},
            tool_name=name,
            tool_call_id=f"call-{number}",
            tool_call=made | {"origin": "completion"},
            llm_response_id=f"answer-{number}",
            security_risk="LOW",
        )

    async def _observe(self, of: Conversation, action: Json) -> None:
        given = action["action"]
        ran = given["command"] if "command" in given else given["pattern"]
        self.ran.append(ran)
        content = [{"type": "text", "text": f"ran {ran}"}]
        seen = {"kind": "TerminalObservation", "content": content, "command": ran, "exit_code": 0}
        same = {key: action[key] for key in ("tool_name", "tool_call_id")}
        more = {"action_id": action["id"], "observation": seen, **same}
        await of.tell("ObservationEvent", "environment", **more)

    async def refuse(self, of: Conversation, reason: str) -> None:
        action, of.pending, of.status = of.pending, None, "idle"
        assert action is not None
        same = {key: action[key] for key in ("tool_name", "tool_call_id")}
        more = {"action_id": action["id"], "rejection_reason": reason, **same}
        await of.tell("UserRejectObservation", "environment", **more)

    # --- the wire --------------------------------------------------------------------------------

    async def perform(self, work: Coroutine[Any, Any, Any]) -> None:
        """In its own thread: another client has it do this."""
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def begin(self, request: Request) -> Response:
        self._loop = asyncio.get_running_loop()
        body = await request.json()
        id = body["conversation_id"]
        self.conversations[id] = Conversation(body)
        return self._info(id)

    def _info(self, id: str) -> Response:
        found = self.conversations.get(id)
        if found is None:
            return Response(status_code=404)
        told = {"id": id, "agent": found.request["agent"], "max_iterations": 500}
        return JSONResponse(told | {"execution_status": found.status, "stats": {}})

    async def info(self, request: Request) -> Response:
        return self._info(request.path_params["id"])

    async def events(self, request: Request) -> Response:
        page = request.query_params.get("page_id", "")
        found = self.conversations[request.path_params["id"]].events
        places = [place for place, event in enumerate(found) if event["id"] == page]
        begin = places[0] if places else 0
        items, more = found[begin : begin + PAGE], found[begin + PAGE : begin + PAGE + 1]
        return JSONResponse({"items": items, "next_page_id": more[0]["id"] if more else None})

    async def command(self, request: Request) -> Response:
        of, what = self.conversations[request.path_params["id"]], request.path_params["what"]
        body = await request.json() if await request.body() else {}
        self.heard.append(what)
        match what:
            case "run":
                asyncio.get_running_loop().call_soon(lambda: self._keep(self.run(of)))
            case "events":
                message = {"role": "user", "content": body["content"]}
                await of.tell("MessageEvent", "user", llm_message=message)
            case "events/respond_to_confirmation":
                await self.refuse(of, body["reason"])
            case "confirmation_policy":
                of.policy = body["policy"]["kind"]
            case "fork":
                made = self.conversations[str(uuid.UUID(body["id"]))] = Conversation(of.request)
                made.events = list(of.events)
                made.forked_at = body.get("from_event_id")
        return JSONResponse({"success": True})

    def _keep(self, work: Any) -> None:
        self._task = asyncio.ensure_future(work)

    async def listen(self, websocket: WebSocket) -> None:
        if self.socket.startswith("http"):
            await websocket.send_denial_response(RedirectResponse(self.socket))
            return
        await websocket.accept()
        self.first_words.append(await websocket.receive_text())
        if (of := self.conversations.get(websocket.path_params["id"])) is None:
            return
        if self.socket == "open":
            of.sockets.append(websocket)
            await of.tell_state()
        try:
            while True:
                await websocket.receive_text()
        except WebSocketDisconnect:
            if websocket in of.sockets:
                of.sockets.remove(websocket)

    async def about(self, _: Request) -> Response:
        return JSONResponse({"uptime": int(time.monotonic() - self.began), "version": "1"})

    async def subdirectories(self, request: Request) -> Response:
        there = request.query_params["path"] in self.folders
        return JSONResponse({"items": []}, status_code=200 if there else 404)

    async def me(self, _: Request) -> Response:
        return JSONResponse({"email": "ada@example.com"})

    async def sandbox(self, request: Request) -> Response:
        if request.method == "POST":
            name = f"box-{len(self.sandboxes) + 1}"
            self.sandboxes[name] = "RUNNING"
        else:
            name = request.query_params["id"]
        address = [{"name": "AGENT_SERVER", "url": self.url}]
        told = {"id": name, "status": self.sandboxes.get(name, "MISSING"), "session_api_key": KEY}
        told |= {"exposed_urls": address}
        return JSONResponse(told if request.method == "POST" else [told])

    def app(self) -> Any:
        server = "/api/conversations"
        routes = [
            Route(f"{server}/count", lambda _: JSONResponse(0)),
            Route("/server_info", self.about),
            Route(server, self.begin, methods=["POST"]),
            Route(f"{server}/{{id}}", self.info, methods=["GET", "DELETE"]),
            Route(f"{server}/{{id}}/events/search", self.events),
            Route(f"{server}/{{id}}/{{what:path}}", self.command, methods=["POST"]),
            WebSocketRoute("/sockets/events/{id}", self.listen),
            Route("/api/file/search_subdirs", self.subdirectories),
            Route("/api/v1/users/me", self.me),
            Route("/api/v1/sandboxes", self.sandbox, methods=["GET", "POST"]),
        ]
        inner = Starlette(routes=routes)

        async def guarded(scope: Any, receive: Any, send: Any) -> None:
            headers = dict(scope.get("headers") or [])
            key = headers.get(b"x-session-api-key") == KEY.encode()
            token = headers.get(b"authorization") == f"Bearer {TOKEN}".encode()
            is_cloud = scope.get("path", "").startswith("/api/v1")
            if scope["type"] == "http" and (wrong := self.answer(scope["path"])) is not None:
                await wrong(scope, receive, send)
            elif scope["type"] != "http" or (token if is_cloud else key):
                await inner(scope, receive, send)
            else:
                await Response(status_code=401)(scope, receive, send)

        return guarded

    @contextmanager
    def serving(self) -> Iterator["StandIn"]:
        config = uvicorn.Config(
            self.app(), log_level="error", lifespan="off", ws="websockets-sansio"
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [self._socket]})
        thread.start()
        try:
            awaited(lambda: server.started)
            yield self
        finally:
            server.should_exit = server.force_exit = True
            thread.join()
            self._socket.close()
