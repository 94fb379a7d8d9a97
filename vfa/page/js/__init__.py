"""The in-page functions: static sources, each one function expression, loaded once.

Data only ever travels as call arguments, so nothing a caller or a page says can become code.

The files of ``kit`` are one library, installed once in the isolated world of each document
that needs it: each is a function that adds its part to the object ``vfa``. It remembers
elements between calls, which a function that is sent anew each time cannot.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def source(name: str) -> str:
    """Return the JavaScript of ``name`` ("get_text" reads ``get_text.js``)."""
    return files(__package__).joinpath(f"{name}.js").read_text(encoding="utf-8")


@cache
def kit() -> str:
    """Return the script that installs the kit: all of its parts, the core first."""
    folder = files(__package__).joinpath("kit")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".js"))
    names.sort(key=lambda name: name != "core.js")
    parts = [folder.joinpath(name).read_text(encoding="utf-8") for name in names]
    return INSTALL.replace("@parts", ",\n".join(parts))


# An element with the id "vfa" is a property of the window too, but not one of its own.
INSTALL = """Object.hasOwn(globalThis, "vfa") ||
Object.defineProperty(globalThis, "vfa", { value: [
@parts
].reduce((vfa, part) => { part(vfa); return vfa; }, Object.create(null)) }) && true
"""
