"""The parts of the ``mcp`` SDK that the front stands on, imported as lightly as it allows.

Importing anything of ``mcp`` runs ``mcp/__init__.py`` and ``mcp/server/__init__.py``, which
import the SDK's clients and its high-level server, and with them jsonschema, httpx2 and some
110 further modules: 12 MB and an eighth of the start-up time of a stdio server that uses none
of it (SDK 2.3). So these two, and ``mcp.server.lowlevel``, are entered into ``sys.modules`` as
packages whose ``__init__`` runs when somebody first asks them for a name: ``mcp.Client`` and
all the rest work as ever. Second, the models of each protocol version build their validators
when first used instead of all at once, which is pydantic's own ``defer_build``: 3 MB and
another eighth.

If the SDK is laid out in another way one day, or has been imported by somebody else before,
it is imported plainly. Nothing else in this package imports ``mcp``.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

POSTPONED = ("mcp", "mcp.server", "mcp.server.lowlevel")
WANTED = "mcp.server.lowlevel.server"


class _Postponed(ModuleType):
    """A package whose ``__init__`` runs when it is asked for a name it does not have yet."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or self.__class__ is not _Postponed:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        object.__setattr__(
            self, "__class__", ModuleType
        )  # from here on a module like any other
        spec = self.__spec__
        assert spec is not None
        assert spec.loader is not None
        spec.loader.exec_module(self)
        return getattr(self, name)


def import_lightly() -> bool:
    """Import what the front needs; return whether it could be done the light way."""
    if any(name in sys.modules for name in POSTPONED):
        return False
    before = set(sys.modules)
    try:
        _defer_models()
        for name in POSTPONED:
            _postpone(name)
        importlib.import_module(WANTED)
    except (ImportError, AttributeError):
        for name in _of_the_sdk(set(sys.modules) - before):
            del sys.modules[name]
        return False
    return True


def _defer_models() -> None:
    """Let the wire models be built on first use."""
    base = importlib.import_module("mcp_types._wire_base").WireModel
    base.model_config["defer_build"] = True


def _postpone(name: str) -> None:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.submodule_search_locations is None:
        raise ImportError(f"{name} is not a package")
    package = _Postponed(name, None)
    package.__spec__ = spec
    package.__loader__ = spec.loader
    package.__package__ = name
    package.__file__ = spec.origin
    package.__path__ = spec.submodule_search_locations
    sys.modules[name] = package
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, package)


def _of_the_sdk(names: set[str]) -> Iterator[str]:
    return (name for name in names if name == "mcp" or name.startswith("mcp."))


light = import_lightly()

# Only now: these lines would otherwise run the packages' own __init__.
import mcp_types as types  # noqa: E402
from mcp.server.context import ServerRequestContext  # noqa: E402
from mcp.server.lowlevel.server import Server  # noqa: E402
from mcp.shared.exceptions import MCPError  # noqa: E402
from mcp.shared.message import SessionMessage  # noqa: E402

__all__ = ["MCPError", "Server", "ServerRequestContext", "SessionMessage", "light", "types"]
