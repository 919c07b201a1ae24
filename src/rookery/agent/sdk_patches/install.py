"""Installs all patches of the SDK. Safe to call twice."""

from rookery.agent.sdk_patches import (
    editors,
    environment,
    gate,
    lost_events,
    memory,
    outgoing,
    prompt,
    refused_images,
    sdk_files,
    skills,
    subagent_tasks,
    terminal_tool,
    usage,
)
from rookery.agent.sdk_patches.imports import encoding, kinds

PATCHES = (
    *(usage, prompt, refused_images, environment, terminal_tool),
    *(editors, sdk_files, memory, skills, subagent_tasks, gate, lost_events, kinds, encoding),
)


def install() -> None:
    """Install the patches, before the first conversation is made."""
    for patch in PATCHES:
        patch.install()


def install_rest() -> None:
    """Install the patches that need the libraries of `sdk_import.load_rest`, after it."""
    outgoing.install()
    usage.install_rest()
    lost_events.install_rest()
