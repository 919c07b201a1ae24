"""Installing the daemon as a service of the user: a systemd unit or a launchd agent. On other
systems the file is printed, to be put wherever it belongs."""

import os
import plistlib
import shutil
import subprocess
import sys
from collections.abc import Callable

from rookery.core.refusals import Refused
from rookery.daemon.options import PASSPHRASE, Options
from rookery.home import paths
from rookery.processes.lineage import LINUX

UNIT = "rookery.service"
LABEL = "org.rookery.serve"


def command(options: Options) -> list[str]:
    """Return the command that runs the daemon in the foreground, as a service manager needs it."""
    usual = Options()
    argv = [sys.executable, "-P", "-m", "rookery", "serve"]
    for field in (
        "host",
        "port",
        "auth",
        "tls_cert",
        "tls_key",
        "proxy_user",
        "trusted_user_header",
    ):
        value = getattr(options, field)
        if value != getattr(usual, field):
            argv += [f"--{field.replace('_', '-')}", str(value)]
    argv += ["--read-only"] if options.read_only else []
    argv += ["--behind-proxy"] if options.behind_proxy else []
    argv += ["--hsts"] if options.hsts else []
    for name in options.allowed_hosts:
        argv += ["--allowed-host", name]
    for name in options.allowed_origins:
        argv += ["--allowed-origin", name]
    return argv


UNIT_TEXT = """\
[Unit]
Description=Rookery: coding agents in the background

[Service]
Type=exec
ExecStart={command}
Environment={home} {path}
Restart=on-failure
RestartSec=2
TimeoutStopSec=10
# Workers and agents are no part of the daemon: they live on when it stops, and one that runs out of
# memory does not end it.
KillMode=process
OOMPolicy=continue
# They inherit whatever binds the daemon. So no limit, and no option such as NoNewPrivileges,
# ProtectSystem, PrivateTmp or SystemCallFilter: agents could not run sudo, tests or containers.
# To confine agents: rookery run --sandbox.
TasksMax=infinity

[Install]
WantedBy=default.target
"""


def systemd(home: str, options: Options) -> str:
    return UNIT_TEXT.format(
        command=" ".join(_quoted(word).replace("$", "$$") for word in command(options)),
        home=_quoted(f"ROOKERY_HOME={home}"),
        path=_quoted(f"PATH={os.environ.get('PATH', '')}"),
    )


def _quoted(word: str) -> str:
    """Quote an argument for systemd, where % is special. So is $ in a command, and only there."""
    word = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{word}"'


def launchd(home: str, options: Options) -> str:
    log = os.path.join(home, "run", "daemon.log")
    return plistlib.dumps(
        {
            "Label": LABEL,
            "ProgramArguments": command(options),
            "EnvironmentVariables": {"ROOKERY_HOME": home, "PATH": os.environ.get("PATH", "")},
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "AbandonProcessGroup": True,
            "StandardErrorPath": log,
            "StandardOutPath": log,
        }
    ).decode()


def install(home: str, options: Options, say: Callable[[str], object]) -> None:
    """Write the file and start the service. Raises Refused."""
    if options.auth == PASSPHRASE:
        raise Refused(
            "passphrase_unit",
            "A service cannot ask for a passphrase, and its file is no place for one. Leave "
            "--passphrase out: devices log in by links then (rookery serve --link).",
        )
    if LINUX:
        _install_systemd(systemd(home, options), say)
    else:
        _install_launchd(launchd(home, options), say)


def file() -> str:
    """Return the path of the service's file."""
    if not LINUX:
        return os.path.expanduser(f"~/Library/LaunchAgents/{LABEL}.plist")
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(config, "systemd", "user", UNIT)


def undoing() -> str:
    """Return the command that removes the service."""
    if not LINUX:
        return f"launchctl bootout gui/{os.getuid()}/{LABEL}; rm {file()}"
    return f"systemctl --user disable --now {UNIT}; rm {file()}"


def _install_systemd(text: str, say: Callable[[str], object]) -> None:
    path = file()
    if shutil.which("systemctl") is None or not _runs("systemctl", "--user", "show-environment"):
        raise Refused(
            "no_systemd",
            f"systemd does not run for your user here. This is the unit, for another service "
            f"manager or for {path}:\n\n{text}",
        )
    os.makedirs(os.path.dirname(path), exist_ok=True)
    paths.write_atomic(path, text.encode(), 0o644)
    say(f"Wrote {path}")
    _must("systemctl", "--user", "daemon-reload")
    _must("systemctl", "--user", "enable", "--now", UNIT)
    say("It runs now, and starts when you log in. To start it with the computer instead:")
    say("  loginctl enable-linger")
    say("To undo this:")
    say(f"  {undoing()}")


def _install_launchd(text: str, say: Callable[[str], object]) -> None:
    path = file()
    if shutil.which("launchctl") is None:
        raise Refused("no_launchd", f"launchctl is not here. This is the file, {path}:\n\n{text}")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    paths.write_atomic(path, text.encode(), 0o644)
    say(f"Wrote {path}")
    _must("launchctl", "bootstrap", f"gui/{os.getuid()}", path)
    say("It runs now, and starts when you log in. To undo this:")
    say(f"  {undoing()}")


def _runs(*argv: str) -> bool:
    try:
        done = subprocess.run(argv, capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _must(*argv: str) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise Refused("not_installed", f"{' '.join(argv)} failed: {done.stderr.strip()}")
