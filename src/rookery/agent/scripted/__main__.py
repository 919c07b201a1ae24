"""`python -m rookery.agent.scripted`: runs the scripted model alone, as a process."""

import sys

from rookery.agent.scripted.entry import main

sys.exit(main(sys.argv[1:]))
