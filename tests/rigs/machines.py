"""Machines that are network namespaces of this one, joined by wires that can be cut. Linux, root
and iproute2 are needed."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest


class Network:
    """Get one from `network`."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._spaces = {name: f"rk-{name}-{os.getpid()}" for name in names}

    def wire(self, one: str, other: str, subnet: str) -> tuple[str, str]:
        """Join two machines; the address of each on this wire. The wire has the subnet's name."""
        ends, addresses = (self._spaces[one], self._spaces[other]), (f"{subnet}.1", f"{subnet}.2")
        device = _device(subnet)
        run("link", "add", device, "netns", ends[0], *("type", "veth", "peer"), "name", device,
            "netns", ends[1])  # fmt: skip
        for space, address in zip(ends, addresses, strict=True):
            run("-n", space, "address", "add", f"{address}/24", "dev", device)
            run("-n", space, "link", "set", device, "up")
        return addresses

    def cut(self, machine: str, subnet: str) -> None:
        """What is sent is lost, and nobody is told: no connection is reset."""
        run("-n", self._spaces[machine], "link", "set", _device(subnet), "down")

    def mend(self, machine: str, subnet: str) -> None:
        run("-n", self._spaces[machine], "link", "set", _device(subnet), "up")

    def on[T](self, machine: str, work: Callable[[], T]) -> T:
        """Its result. Sockets that it opens and processes that it starts are that machine's."""

        def moved() -> T:
            with open(f"/run/netns/{self._spaces[machine]}", "rb") as space:
                os.setns(space.fileno(), os.CLONE_NEWNET)
            return work()

        with ThreadPoolExecutor(1) as pool:  # a thread of its own: it does not come back
            return pool.submit(moved).result()

    def begin(self) -> None:
        for space in self._spaces.values():
            run("netns", "add", space)
            run("-n", space, "link", "set", "lo", "up")

    def end(self) -> None:
        for space in self._spaces.values():
            subprocess.run(["ip", "netns", "delete", space], check=False, capture_output=True)


@contextmanager
def network(*names: str) -> Iterator[Network]:
    found = Network(names)
    try:
        found.begin()
        yield found
    finally:
        found.end()


def _device(subnet: str) -> str:
    return f"w{subnet}"


def run(*words: str) -> None:
    if shutil.which("ip") is None:
        pytest.fail(
            "Network namespaces need the program ip: run scripts/tools, or install iproute2."
        )
    ran = subprocess.run(["ip", *words], check=False, capture_output=True, text=True)
    if ran.returncode:
        why = f"ip {' '.join(words)}: {ran.stderr.strip()}"
        pytest.fail(f"No network namespaces here; they need root (CAP_NET_ADMIN). {why}")
