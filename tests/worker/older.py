"""A worker of another build: the same program, which says so of itself.

python older.py BUILD --home … --session … --ready-fd …
"""

import sys

from rookery import build
from rookery.worker import boot
from rookery.worker.process import warden

build._known = sys.argv.pop(1)

sys.exit(warden.main(sys.argv[1:], boot.main))
