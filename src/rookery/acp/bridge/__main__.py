"""Entry point: `python -m rookery.acp.bridge`."""

import sys

from rookery.acp.bridge.door import main

sys.exit(main(sys.argv[1:]))
