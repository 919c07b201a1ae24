"""`python -m rookery.agent.warm [--spare] [SECONDS]`: starts the warm process detached, and waits
until it is loading or has found another one."""

import os
import sys
import time

MODULE = "rookery.agent.warm"
SPARE = "--spare"
"""Serve one door itself, as where fork without exec is not safe."""


def main(arguments: list[str]) -> int:
    from rookery.processes import namespaces

    if MODULE in sys.orig_argv:  # else it is a fork of a process that has loaded this already
        namespaces.run_from_memory([sys.executable, *sys.orig_argv[1:]], os.environ)
    reading, writing = os.pipe()
    if os.fork():
        os.close(writing)
        os.read(reading, 1)  # its end: whoever started us finds the lock taken
        return 0
    os.close(reading)
    os.setsid()
    if os.fork():
        os._exit(0)
    from rookery.agent.warm.process import FORKS, keep

    seconds = [float(word) for word in arguments if word != SPARE]

    def pause() -> None:
        os.close(writing)
        time.sleep(sum(seconds))

    return keep(pause, forks=FORKS and SPARE not in arguments)


sys.exit(main(sys.argv[1:]))
