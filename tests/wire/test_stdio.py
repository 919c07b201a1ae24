"""A process's own stdin and stdout, whatever they are, stay the protocol's alone."""

import json
import os
import pty
import socket
import subprocess
import sys
from pathlib import Path

import pytest

AGENT = """
import asyncio, os, subprocess, sys
from rookery.wire.jsonrpc import Peer
from rookery.wire.pipes import take_stdio

async def main():
    closed = asyncio.Event()
    def serve(request):
        print("a stray print", flush=True)
        subprocess.run(["sh", "-c", "cat; echo a tool prints"])
        request.reply({"size": len(str(request.params)), "back": request.params})
    peer = Peer(on_request=serve, on_closed=closed.set).attach(*take_stdio())
    await closed.wait()
    await peer.drain(1)
    peer.close()
asyncio.run(main())
"""
REQUESTS = b"".join(
    b'{"jsonrpc":"2.0","id":%d,"method":"m","params":"%s"}\n' % (id, b"x" * 300) for id in range(50)
)


def check(output: bytes) -> None:
    answers = [json.loads(line) for line in output.splitlines()]
    assert [answer["id"] for answer in answers] == list(range(50))
    assert all(answer["result"]["size"] == 300 for answer in answers)


def test_pipes() -> None:
    """Stray prints and the output of tools go to stderr; tools find an empty stdin."""
    run = subprocess.run(
        [sys.executable, "-c", AGENT], input=REQUESTS, capture_output=True, check=True
    )
    check(run.stdout)
    for said in (b"a stray print", b"a tool prints"):
        assert said in run.stderr


def test_files(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(REQUESTS)
    with open(tmp_path / "in", "rb") as reading, open(tmp_path / "out", "wb") as writing:
        argv = [sys.executable, "-c", AGENT]
        subprocess.run(argv, stdin=reading, stdout=writing, stderr=subprocess.DEVNULL, check=True)
    check((tmp_path / "out").read_bytes())


def test_dev_null_is_an_end_at_once() -> None:
    null = subprocess.DEVNULL
    subprocess.run([sys.executable, "-c", AGENT], stdin=null, stdout=null, stderr=null, check=True)


def test_one_socket_for_both() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen(
            [sys.executable, "-c", AGENT], stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL
        )
        theirs.close()
        ours.sendall(REQUESTS)
        ours.shutdown(socket.SHUT_WR)
        output = b""
        while data := ours.recv(1 << 16):
            output += data
        assert process.wait() == 0
    check(output)


def test_a_terminal() -> None:
    """The terminal stays a blocking one for everybody else who has it open."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", AGENT], stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL
    )
    line = b'{"jsonrpc":"2.0","id":"tty","method":"m","params":1}\n'
    os.write(ours, line)
    output = b""
    while b'"result"' not in output or not output.endswith(b"\n"):
        output += os.read(ours, 1 << 16)
    assert os.get_blocking(theirs)
    os.write(ours, b"\x04")
    assert process.wait() == 0
    os.close(theirs)
    os.close(ours)
    answer = json.loads(output.splitlines()[-1])
    assert answer == {"jsonrpc": "2.0", "id": "tty", "result": {"size": 1, "back": 1}}


@pytest.mark.parametrize("size", [64 * 1024 + 1, 1 << 20, 10 << 20], ids=str)
def test_long_lines_are_taken(size: int) -> None:
    line = b'{"jsonrpc":"2.0","id":1,"method":"m","params":"%s"}\n' % (b"x" * size)
    argv = [sys.executable, "-c", AGENT]
    run = subprocess.run(argv, input=line, capture_output=True, check=True)
    assert json.loads(run.stdout)["result"]["size"] == size
