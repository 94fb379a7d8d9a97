"""The ``browser_*`` tools, in the order clients see them.

Names, arguments, results, defaults and the words of failures are those of browser-mcp 2.0, so
that a client can change servers without noticing; fields are only ever added. One file is one
family; what several have in common is in ``fields``.
"""

from __future__ import annotations

from vfa.tools.acting import ACTING
from vfa.tools.batch import BATCH
from vfa.tools.dialogs import DIALOGS
from vfa.tools.downloads import DOWNLOADS
from vfa.tools.emulation import EMULATION
from vfa.tools.forms import FORMS
from vfa.tools.navigating import NAVIGATING
from vfa.tools.network import NETWORK
from vfa.tools.pdf import PDF
from vfa.tools.pictures import PICTURES
from vfa.tools.reading import READING
from vfa.tools.recording import RECORDING
from vfa.tools.scripting import SCRIPTING
from vfa.tools.snapshot import SNAPSHOT
from vfa.tools.storage import STORAGE
from vfa.tools.tabs import TABS
from vfa.tools.waiting import WAITING
from vfa.tools.webgl import WEBGL

BROWSER_TOOLS = (
    *NAVIGATING,
    *READING,
    *SNAPSHOT,
    *PICTURES,
    *ACTING,
    *RECORDING,
    *EMULATION,
    *SCRIPTING,
    *WAITING,
    *TABS,
    *DIALOGS,
    *DOWNLOADS,
    *FORMS,
    *WEBGL,
    *NETWORK,
    *STORAGE,
    *PDF,
    *BATCH,
)
