"""What the daemon leaves out when it starts changes nothing that anybody sees."""

import json
import subprocess
import sys

from rookery.daemon.app import build_api

SCRIPT = """
import json, sys
from rookery.daemon.process import quick_start
quick_start.prepare()
from rookery.daemon.process import serving
from rookery.daemon.app import build_api
from fastapi._compat.v2 import ModelField
import gc
fields = [each for each in gc.get_objects() if isinstance(each, ModelField)]
early = sum("_type_adapter" in vars(each) for each in fields)
left = [name for name in quick_start.NEEDLESS if sys.modules[name]]
print(json.dumps([build_api().openapi(), len(fields), early, left]))
"""


def test_the_openapi_document_is_built_when_first_used() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, check=True)
    document, fields, early, left = json.loads(done.stdout)
    assert document == json.loads(json.dumps(build_api().openapi()))
    assert fields > 100, "FastAPI keeps them elsewhere"
    assert (early, left) == (0, [])
    assert done.stderr == b"", "the daemon's log would have it"
