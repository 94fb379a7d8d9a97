"""VFA: a supervised browser that AI agents and CI pipelines can trust.

``open_engine`` runs everything, ``open_browser`` the browser supervisor alone; both are
asynchronous context managers for trio programs. Where to read on: ``engine.py`` is the tree,
``actors/`` what lives in it, ``page/`` what can be done on a tab, ``audit/`` how pages are
judged, ``tools/`` and ``cli/`` what clients and people see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vfa.audit.findings import Finding, Report
    from vfa.audit.request import AuditRequest
    from vfa.config import Config, load
    from vfa.engine import Engine, open_browser, open_engine
    from vfa.errors import VfaError

__version__ = "0.1.0"
__all__ = [
    "AuditRequest",
    "Config",
    "Engine",
    "Finding",
    "Report",
    "VfaError",
    "load",
    "open_browser",
    "open_engine",
]

# Imported when asked for: `vfa serve` pays for what it uses, and the picture process for none.
_HOMES = {
    "AuditRequest": "vfa.audit.request",
    "Config": "vfa.config",
    "Engine": "vfa.engine",
    "Finding": "vfa.audit.findings",
    "Report": "vfa.audit.findings",
    "VfaError": "vfa.errors",
    "load": "vfa.config",
    "open_browser": "vfa.engine",
    "open_engine": "vfa.engine",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
