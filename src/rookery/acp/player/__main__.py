"""Entry point: `python -m rookery.acp.player FILE`."""

import gc
import sys

gc.disable()  # what is imported is no garbage, and to look for it takes a tenth of the start

from rookery.processes import without_tls  # noqa: E402

without_tls.load_asyncio()

from rookery.acp.player.entry import main  # noqa: E402

gc.freeze()
gc.enable()
sys.exit(main(sys.argv[1:]))
