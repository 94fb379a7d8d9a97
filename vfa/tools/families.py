"""Which tools a server offers: families by name, chosen with ``VFA_TOOLS``.

Every listed tool costs its client tokens in every conversation, so the default is what most
work needs: the nineteen browser tools of browser-mcp, the QA tools, tabs and forms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vfa.config import TOOL_FAMILIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vfa.tools.table import Tool

OTHERS: Mapping[str, frozenset[str]] = {
    "tabs": frozenset(
        {
            "browser_tabs",
            "browser_back",
            "browser_forward",
            "browser_reload",
            "browser_handle_dialog",
        }
    ),
    "forms": frozenset(
        {
            "browser_select_option",
            "browser_check",
            "browser_fill_form",
            "browser_drag",
            "browser_upload",
        }
    ),
    "network": frozenset({"browser_network"}),
    "storage": frozenset({"browser_storage"}),
    "emulate": frozenset({"browser_emulate"}),
    "files": frozenset({"browser_downloads", "browser_pdf"}),
    "find": frozenset({"browser_find"}),
    "batch": frozenset({"browser_batch"}),
}


def family_of(tool: Tool) -> str:
    """Return the family of a tool; what is in no other one is core."""
    if tool.is_qa:
        return "qa"
    return next((name for name, members in OTHERS.items() if tool.name in members), "core")


def chosen(tools: Iterable[Tool], setting: str) -> tuple[Tool, ...]:
    """Return the tools of the families that ``setting`` names, in their order.

    Args:
        tools: All there are.
        setting: ``VFA_TOOLS``: families separated by commas, or "all"; checked before.
    """
    wanted = {word.strip().lower() for word in setting.split(",")}
    if "all" in wanted:
        wanted = set(TOOL_FAMILIES)
    return tuple(tool for tool in tools if family_of(tool) in wanted)
