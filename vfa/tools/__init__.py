"""The MCP tool table: one file a family, one line a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vfa.tools.table import Tool


def offered_tools(setting: str) -> tuple[Tool, ...]:
    """Return the tools of the families that ``VFA_TOOLS`` names."""
    from vfa.tools.families import chosen

    return chosen(all_tools(), setting)


def all_tools() -> tuple[Tool, ...]:
    """Return every tool, in the order clients see them."""
    from vfa.tools.browser import BROWSER_TOOLS
    from vfa.tools.qa import QA_TOOLS

    return (*QA_TOOLS, *BROWSER_TOOLS)
