"""The ``browser_*`` tools, in the order clients see them.

Names, arguments, results, defaults and the words of failures are those of browser-mcp 2.0, so
that a client can change servers without noticing; fields are only ever added. One file is one
family; what several have in common is in ``fields``.
"""

from __future__ import annotations

from vfa.tools.navigating import NAVIGATING
from vfa.tools.pictures import PICTURES
from vfa.tools.reading import READING

BROWSER_TOOLS = (*NAVIGATING, *READING, *PICTURES)
