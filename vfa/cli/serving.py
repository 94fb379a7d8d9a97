"""What ``vfa serve`` does, without the libraries that read command lines.

Needs the MCP front. Prints nothing on stdout: it belongs to the protocol.
"""

from __future__ import annotations

import sys

from vfa.config import load
from vfa.errors import ConfigError

BAD_SETTINGS = 2  # exit code


def serve() -> int:
    """Serve one MCP client over stdin and stdout until it leaves; return the exit code."""
    try:
        config = load()
    except ConfigError as error:
        sys.stderr.write(f"vfa: [{error.code}] {error.message}\n{error.hint}\n")
        return BAD_SETTINGS
    from vfa.actors.front import serve_stdio

    return serve_stdio(config)
