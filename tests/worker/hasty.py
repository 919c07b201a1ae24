"""A worker with small numbers: the same program, with a Policy that is passed in.

python hasty.py '{"silent_after": 0.5}' --home … --session … --ready-fd …
"""

import json
import sys

from rookery.core.limits import Policy
from rookery.worker import boot
from rookery.worker.process import warden


def host(home: str, session: str, ready: int) -> int:
    return boot.main(home, session, ready, Policy(**json.loads(sys.argv[1])))


sys.exit(warden.main(sys.argv[2:], host))
