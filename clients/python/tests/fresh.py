"""What a stranger does after `pip install`: runs the plain example of docs/clients.md. Run by clients/test in an
environment that holds the package and what it needs, and nothing of the sources' folder."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import os
import pathlib
import re
import sys
import tempfile

import countersign
from countersign.verify import Verifier

sys.path.append(str(pathlib.Path(__file__).parent))
from gateway import PROJECT, Gateway  # noqa: E402

assert not pathlib.Path(countersign.__file__).is_relative_to(PROJECT / "clients"), "the sources were imported"
files = {str(it) for it in importlib.metadata.files("countersign") or []}
assert "countersign/py.typed" in files and not any("test" in it for it in files), files
example = re.search(r"^## Plain Python\n.*?^```python\n(.*?)^```", (PROJECT / "docs/clients.md").read_text(), re.M | re.S)
assert example
with tempfile.TemporaryDirectory() as home:
    gateway = Gateway(pathlib.Path(home))
    try:
        os.environ["COUNTERSIGN_URL"], os.environ["COUNTERSIGN_KEY"] = gateway.url, gateway.key
        scope: dict[str, object] = {}
        with gateway.answering_any("once"):
            exec(example[1], scope)  # noqa: S102
        assert scope["result"] == "sent to ana@example.org", scope["result"]
        with countersign.Client() as client:
            Verifier(client.jwks(), "tool:send_email")
    finally:
        gateway.stop()
print("the plain example ran in a fresh environment")
