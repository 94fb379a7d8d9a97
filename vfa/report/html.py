"""A report to read: one HTML file that needs nothing else and asks nobody.

Everything a page wrote is escaped by the template engine, and made visible before by
``wording.visible``, in the one place that every value passes (``finalize``). A content
security policy in the file forbids whatever slipped through: no request, and no script or
style but the file's own. Filters work without the script, which only adds comfort.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from vfa.report import wording
from vfa.report.view import view

if TYPE_CHECKING:
    import jinja2

    from vfa.audit.findings import Report


def render(report: Report) -> str:
    """Return ``report`` as one self-contained HTML document."""
    style, script = _own("report.css"), _own("report.js")
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; "
        f"script-src '{_digest(script)}'; base-uri 'none'; form-action 'none'"
    )
    return (
        _environment()
        .get_template("report.html")
        .render(view=view(report), style=_markup(style), script=_markup(script), policy=policy)
    )


@functools.cache
def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("vfa.report", "templates"),
        autoescape=True,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "cut": wording.cut,
        "cut_middle": wording.cut_middle,
        "duration": wording.duration,
        "short_url": wording.short_url,
    }
    environment.globals["counted"] = wording.counted
    return environment


def _finalize(value: Any) -> Any:
    # Markup is a str too: what the templates made themselves is left as it is.
    return wording.visible(value) if type(value) is str else value


def _markup(text: str) -> Any:
    import markupsafe

    return markupsafe.Markup(text)  # our own files, not a page's text


@functools.cache
def _own(name: str) -> str:
    return files("vfa.report").joinpath("templates", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return the hash by which a content security policy knows an inline element."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
