"""The form for logging in to an agent: which method, and a key if the method takes one.

A login that needs the user elsewhere (a page to open, a code to enter) continues in the background;
the prompts that waited for it are sent when it is done."""

import asyncio
import threading
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import ClassVar, override

from rookery.client.config import in_force
from rookery.client.guard import require_person
from rookery.client.login import held_prompts, status
from rookery.client.login.agent import LoginAgent, LoginFailed
from rookery.core.json import Json
from rookery.core.json.safe_text import clean_line
from rookery.core.refusals import Refused
from rookery.core.turn.remedies import LOG_IN
from rookery.core.vendors import logins, profiles
from rookery.core.vendors.logins import Method
from rookery.forms.form import PASSWORD, Form, Saved, choices, described

WAIT = 15.0
"""Seconds until the user is told that it takes longer."""
ELSEWHERE = "A browser may have opened on the machine where Rookery runs: log in there."
GOES_ON = "The prompts that wait for it are sent when it is done."


class LoginForm(Form):
    save_label: ClassVar[str] = "Log in"

    def __init__(self, home: str, name: str) -> None:
        """Nothing is started: for an agent that has not run yet, no method is known. Raises
        UnknownAgent, ConfigError."""
        self.title = f"Log in to {name}"
        self._config = in_force.load(home)
        self._agent, self._named = held_prompts.resolve(home, self._config, name)
        self._take(status.read(home, *self._agent).methods())

    def _take(self, known: list[Method]) -> None:
        self._methods = {method.id: method for method in known}
        keys = [each.id for each in known if self._takes_key(each)]
        field = described(
            "Method",
            oneOf=choices({each.id: each.name for each in known}),
            hints={"method": {each.id: self._about(each) for each in known}},
        )
        key = described("API key", "The agent saves it.", format=PASSWORD, when={"method": keys})
        fields = ({"method": field} if known else {}) | ({"key": key} if keys else {})
        self.schema = {"properties": fields, "required": ["method"] if known else []}
        self.values = {"method": known[0].id} if known else {}

    async def _learn(self, home: str) -> list[Method]:
        async with LoginAgent(home, self._agent, self._config) as agent:
            await agent.learn()
            return agent.methods

    def _takes_key(self, method: Method) -> bool:
        return method.takes_key and profiles.profile_of(*self._agent).keeps_key

    def _about(self, method: Method) -> str:
        line = f"{LOG_IN} {self._agent.name} --method {method.id}"
        match method.kind:
            case logins.TERMINAL:
                return f"Run this in a terminal on the machine where Rookery runs: {line}"
            case logins.VARIABLES:
                names = " and ".join(method.variables)
                return f"Put {names} into [agents.{self._agent.name}] env in config.toml."
        return method.about

    @override
    def save(self, home: str, answers: Json) -> Saved:
        require_person(home, "log in to agents")
        if not self._methods:
            try:
                self._take(asyncio.run(self._learn(home)))
            except LoginFailed as error:
                return Saved(False, str(error))
            if not self._methods:
                return Saved(False, f"{self._agent.name} lists no way to log in.")
        method = self._methods.get(str(answers.get("method") or ""))
        if method is None:
            return Saved(True, "Choose how to log in.")
        if method.kind != logins.AGENT:
            return Saved(False, self._about(method))
        key = str(answers.get("key") or "") if self._takes_key(method) else ""
        return self._begun(home, method, key)

    def _begun(self, home: str, method: Method, key: str) -> Saved:
        """Start the login; return its outcome, or what the user has to do while it continues."""
        outcomes, name = SimpleQueue[Saved](), self._agent.name

        def show(lines: list[str]) -> None:
            outcomes.put(Saved(False, clean_line(" ".join([*lines, GOES_ON]))))

        async def work() -> None:
            async with LoginAgent(home, self._agent, self._config, show) as agent:
                await agent.authenticate(method, key)
            outcomes.put(Saved(True, f"Logged in to {name}.", name=name))
            for session in held_prompts.waiting(home, self._agent, named=self._named):
                with suppress(Refused, OSError):  # the session itself says why
                    await held_prompts.send(home, session, "web", terminal=False)

        def run() -> None:
            try:
                asyncio.run(work())
            except LoginFailed as error:
                outcomes.put(Saved(False, str(error)))

        threading.Thread(target=run, name=f"log in to {name}", daemon=True).start()
        try:
            return outcomes.get(timeout=WAIT)
        except Empty:
            return Saved(False, f"{ELSEWHERE} {GOES_ON}")
