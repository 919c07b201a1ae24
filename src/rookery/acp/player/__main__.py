"""`python -m rookery.acp.player FILE`."""

import sys

from rookery.acp.player.entry import main

sys.exit(main(sys.argv[1:]))
