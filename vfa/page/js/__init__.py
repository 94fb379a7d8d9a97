"""The in-page functions: static sources, each one function expression, loaded once.

Data only ever travels as call arguments, so nothing a caller or a page says can become code.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def source(name: str) -> str:
    """Return the JavaScript of ``name`` ("get_text" reads ``get_text.js``)."""
    return files(__package__).joinpath(f"{name}.js").read_text(encoding="utf-8")
