"""`python -m rookery.agent.warm`: detached at once, so that whoever started it goes on."""

import os
import sys


def main() -> int:
    if os.fork():
        return 0
    os.setsid()
    if os.fork():
        os._exit(0)
    from rookery.agent.warm.process import keep

    return keep()


sys.exit(main())
