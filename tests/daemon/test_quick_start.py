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


UNCHANGED = """
import importlib.metadata, json, sys
searches = []
distributions = importlib.metadata.distributions
importlib.metadata.distributions = lambda **named: searches.append(1) or distributions(**named)
from fastapi._compat.v2 import ModelField
from fastapi.openapi.models import OpenAPI
from pydantic.fields import FieldInfo
from rookery.daemon.app import build_api
build_api()
field = ModelField(field_info=FieldInfo(annotation=int), name="x")
print(json.dumps({
    "NEEDLESS": all(sys.modules.get(name) for name in ("email_validator", "pydantic.v1")),
    "defer_build": OpenAPI.__pydantic_complete__,
    "_plugins": bool(searches),
    "_type_adapter": "_type_adapter" in vars(field),
}))
"""


def test_each_change_of_fastapi_and_pydantic_is_still_needed() -> None:
    """One of these is false once a release does without the change: then take it out."""
    done = subprocess.run([sys.executable, "-c", UNCHANGED], capture_output=True, check=True)
    needed = json.loads(done.stdout)
    assert all(needed.values()), needed
