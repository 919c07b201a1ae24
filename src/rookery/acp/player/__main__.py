"""`python -m rookery.acp.player FILE`."""

import sys

from rookery.processes import without_tls

without_tls.load_asyncio()

from rookery.acp.player.entry import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
