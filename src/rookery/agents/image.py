"""The image for `--sandbox container`: the agents it can contain, and its Containerfile."""

import os
from collections.abc import Iterable, Mapping, Sequence

from rookery.agents import install, registry
from rookery.agents.registry import AGENTS, DEMO, OWN
from rookery.core.agent.addresses import address_of
from rookery.core.refusals import Fixed
from rookery.core.vendors.detection import is_player
from rookery.core.vendors.environment import IMAGE_BUILD

NAME = "localhost/rookery-agents:latest"
"""Used wherever no other image is chosen."""
MAKE = "rookery agents image"
AGENTS_LABEL, BASE_LABEL = "rookery.agents", "rookery.from"
"""Labels of an image: the agents in it, separated by spaces, and the base that the user chose."""

PYTHON_BASE, NODE_BASE = "docker.io/library/python:3.13-slim", "docker.io/library/node:24-slim"
PROGRAMS = "ca-certificates curl git openssh-client procps ripgrep tmux"
_APT = """\
RUN if command -v apt-get; then apt-get update \\
 && apt-get install --yes --no-install-recommends {programs} \\
 && rm -rf /var/lib/apt/lists/*; fi
"""
_NODE = f"""\
COPY --from={NODE_BASE} /usr/local/bin/node /usr/local/bin/
COPY --from={NODE_BASE} /usr/local/lib/node_modules /usr/local/lib/node_modules
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \\
 && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx
"""
_UV = """\
ENV UV_TOOL_DIR=/opt/uv/tools UV_TOOL_BIN_DIR=/usr/local/bin UV_PYTHON_INSTALL_DIR=/opt/uv/python
ENV UV_COMPILE_BYTECODE=1 UV_NO_CACHE=1
RUN python3 -m pip install --no-cache-dir uv
"""
_PIP = "ENV PIP_BREAK_SYSTEM_PACKAGES=1 PIP_ROOT_USER_ACTION=ignore\n"


class ImageError(Fixed):
    """There can be no such image; the message says why and what to do."""

    reason = "no_image"


def chosen(names: Sequence[str], custom: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the built-in agents that these names stand for; `custom`: those of config.toml. Raises
    ImageError, UnknownAgent."""
    agents: list[str] = []
    for name in names:
        if names.count(name) > 1:
            raise ImageError(f"{name} is named twice.")
        argv = registry.resolve(name, custom).argv
        if address_of(argv):
            raise ImageError(f"{name} runs on another machine ({argv[0]}): no image can have it.")
        known = name_of(argv)
        if not known:
            how = f": {AGENTS[name].install}" if name in AGENTS else f", but runs {argv[0]}"
            raise ImageError(
                f"{name} is not an npm or PyPI package that Rookery knows{how}. Put it into an "
                f"image of your own, and add other agents to that: {MAKE} --from IMAGE"
            )
        agents += [known] if known not in agents else []
    return agents


def name_of(argv: Sequence[str]) -> str:
    """Return the built-in agent that a command starts, if an image can contain it; else ""."""
    if registry.is_own(argv):
        return OWN
    if is_player(argv):
        return DEMO
    program = os.path.basename(argv[0]) if argv else ""
    packaged = (name for name in AGENTS if install.can_install(name))
    return next((name for name in packaged if AGENTS[name].argv[0] == program), "")


def make_line(argv: Sequence[str], image: str, *, ours: bool = False) -> str:
    """Return the command that builds an image with the agent of this command; "" if none does.
    `ours`: the image was built by such a command, so its base is known."""
    name = name_of(argv)
    base = "" if ours else f" --from {image}"
    onto = "" if image in ("", NAME) else f"{base} --tag {image}"
    return f"{MAKE} {name}{onto}" if name else ""


def containerfile(names: Sequence[str], base: str, wheel: str, build: str) -> str:
    """Return the Containerfile. `base`: the image that the user builds on; it has Python and npm as
    far as they are needed. `wheel`: the file name of Rookery's wheel in the build directory;
    `build`: its build."""
    packaged = [name for name in AGENTS if name in names and install.can_install(name)]
    npm, pypi = (_of_source(packaged, source) for source in (install.NPM, install.PYPI))
    needs_python = bool(pypi or {OWN, DEMO} & {*names})
    usual = PYTHON_BASE if needs_python else NODE_BASE
    programs = PROGRAMS if needs_python else f"{PROGRAMS} python3"
    lines = [f"FROM {base or usual}\nUSER root\n", _APT.format(programs=programs)]
    lines += [_NODE] if npm and needs_python and not base else []
    lines += [f"RUN {AGENTS[name].install}\n" for name in npm]
    lines += [_PIP] if needs_python else []
    lines += [_UV, *(f"RUN {AGENTS[name].install}\n" for name in pypi)] if pypi else []
    if wheel:
        extra = "[agent]" if OWN in names else ""
        lines.append(f"COPY {wheel} /tmp/\n")
        lines.append(f"RUN python3 -m pip install --no-cache-dir '/tmp/{wheel}{extra}'\n")
        lines.append(f"ENV {IMAGE_BUILD}={build}\n")
    lines.append(f'LABEL {AGENTS_LABEL}="{" ".join(names)}" {BASE_LABEL}="{base}"\n')
    return "".join(lines)


def _of_source(names: Iterable[str], source: str) -> list[str]:
    recipes = {name: install.recipe(AGENTS[name]) for name in names}
    return [name for name, recipe in recipes.items() if recipe and recipe.source == source]
