"""A login that is a program run in the user's own terminal."""

import os
import signal
import subprocess
from contextlib import suppress

from rookery.agents import programs, registry
from rookery.client.login import status
from rookery.client.login.agent import LoginFailed, environment_of
from rookery.core.vendors import logins
from rookery.core.vendors.logins import Method
from rookery.home.config import Config
from rookery.processes import tree
from rookery.processes.child import Fence


def run(home: str, agent: registry.Agent, config: Config, method: Method) -> None:
    """Run the program and wait for it; Ctrl-C goes to the program. Raises LoginFailed,
    KeyboardInterrupt."""
    environment = environment_of(config, agent.name) | dict(method.environment)
    beside = programs.beside(
        programs.located(agent.argv, environment, config.node_path), environment
    )
    argv = programs.located(list(method.command), beside, config.node_path)
    fence, cwd = Fence(home, confined=False), os.path.expanduser("~")
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        child = subprocess.Popen(
            argv,
            cwd=cwd if os.path.isdir(cwd) else "/",
            env=programs.beside(argv, beside),
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        )
        start = tree.start_time(child.pid)
        fence.entered(child.pid, start)  # an agent's program: it cannot answer for the user
        try:
            code = child.wait()
        finally:
            fence.left(child.pid, start)
    except OSError as error:
        raise LoginFailed(f"{argv[0]} could not be started: {error.strerror}.") from None
    finally:
        with suppress(ValueError, TypeError):
            signal.signal(signal.SIGINT, heard)
    if code in (-signal.SIGINT, 128 + signal.SIGINT):
        raise KeyboardInterrupt
    if code:
        raise LoginFailed(f"The login failed: {method.command[0]} ended with {code}.")
    known = status.read(home, agent.name, agent.argv)
    status.note(home, agent.name, known._replace(state=logins.IN, by=method.id))
