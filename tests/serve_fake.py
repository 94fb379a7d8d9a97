"""Serves a fake engine: ``python -m tests.serve_fake``, for tests of the front."""

from __future__ import annotations

import sys

from tests.fake_engine import open_fake_engine
from vfa.actors.front import serve_stdio
from vfa.config import load

if __name__ == "__main__":
    sys.exit(serve_stdio(load(), open_engine=open_fake_engine))
