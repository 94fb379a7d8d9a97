"""What WebGL and canvases of a page are worth: looking only.

The probe runs in our own world, where no stand-in is: so it says what is real, makes no mocked
context, and whatever a page did to its own ``getContext`` changes nothing. What a stand-in of
the page adds to that is asked from it.

Source: CDP ``Runtime.queryObjects``.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import trio

from vfa.errors import CdpError, ScriptError, SessionGoneError
from vfa.page.js import source
from vfa.page.webgl_shim import REALM_BOUND, TOKEN

if TYPE_CHECKING:
    from vfa.page.frames import Frame
    from vfa.page.page import Page

HEAP_BOUND = 3.0  # seconds for the inspector to look through a heap


class Size(msgspec.Struct, frozen=True):
    """Pixels."""

    width: int
    height: int


class Position(msgspec.Struct, frozen=True):
    """CSS pixels in the viewport of the canvas's own document."""

    x: int
    y: int


class Pixels(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a small copy of a canvas shows, or why there is none."""

    sampled_width: int = 0
    sampled_height: int = 0
    unique_colors: int = 0  # counted up to 64
    non_transparent_ratio: float = 0.0
    blank: bool = False  # every pixel is fully transparent
    color: tuple[int, int, int, int] | None = None  # RGBA, if all pixels have the same
    error: str = ""
    tainted: bool = False


class Canvas(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One canvas."""

    id: str | None
    class_name: str | None
    attribute_size: Size
    css_size: Size
    position: Position
    mock_context_type: str | None = None
    transferred: bool = False  # an OffscreenCanvas, maybe in a worker, draws it
    pixels: Pixels | None = None
    in_frame: bool = False  # it had content within an animation frame only
    data_url_length: int | None = None
    data_url_error: str = ""
    light: bool = False  # it is in the document itself, not in a shadow tree
    webgl: Literal["", "webgl", "webgl2"] = ""  # its real context, where that was looked up
    preserved: bool = True  # that context preserves its drawing buffer
    frame_url: str = ""  # of its document, if that is not the page's


class Canvases(msgspec.Struct, frozen=True):
    """Those of a page that were looked at, and how many there are."""

    count: int
    canvases: tuple[Canvas, ...]


class _Context(msgspec.Struct, frozen=True):
    index: int
    type: Literal["webgl", "webgl2"]
    preserved: bool


async def probe(page: Page) -> dict[str, Any]:
    """Return what contexts a page can have; keys as in ``webgl_probe.js``."""
    return await page.call("webgl_probe", TOKEN, result=dict[str, Any])


async def canvases(page: Page, limit: int) -> Canvases:
    """Return up to ``limit`` canvases of the page and its frames, the page's own first."""
    count = 0
    found: list[Canvas] = []
    for frame in page.frames:
        here = await _canvases_of(page, frame, limit - len(found))
        if here is None:
            continue
        count += here.count
        found += here.canvases
    return Canvases(count, tuple(found))


async def _canvases_of(page: Page, frame: Frame, limit: int) -> Canvases | None:
    if frame is page.frames.main:
        here = await page.call("canvas_info", limit, TOKEN, result=Canvases)
        return msgspec.structs.replace(here, canvases=await _with_contexts(page, here.canvases))
    with trio.move_on_after(REALM_BOUND):
        try:
            here = await page.call("canvas_info", limit, TOKEN, result=Canvases, frame=frame)
        except (CdpError, ScriptError, SessionGoneError):
            return None  # the frame is gone, or is going
        placed = [msgspec.structs.replace(one, frame_url=frame.url) for one in here.canvases]
        return msgspec.structs.replace(here, canvases=tuple(placed))
    return None


async def _with_contexts(page: Page, found: tuple[Canvas, ...]) -> tuple[Canvas, ...]:
    """Say of canvases that look empty whether they have a WebGL context.

    Only then: it makes Chromium collect garbage and look through the page's whole heap.
    """
    if not any(looks_empty(canvas) for canvas in found):
        return found
    contexts: list[_Context] = []
    with trio.move_on_after(HEAP_BOUND):
        # The document may be going, or the page may have made these classes its own.
        with suppress(CdpError, msgspec.ValidationError):
            contexts = await _contexts(page)
    by_index = {context.index: context for context in contexts}
    result = []
    index = -1
    for canvas in found:
        index += canvas.light
        context = by_index.get(index) if canvas.light else None
        if context is not None:
            canvas = msgspec.structs.replace(
                canvas, webgl=context.type, preserved=context.preserved
            )
        result.append(canvas)
    return tuple(result)


def looks_empty(canvas: Canvas) -> bool:
    """Say whether a canvas shows nothing, and nothing is known that explains it."""
    return bool(canvas.pixels and canvas.pixels.blank) and canvas.mock_context_type is None


async def _contexts(page: Page) -> list[_Context]:
    group = "vfa webgl"
    call = page.session.call
    try:
        arrays = []
        for name in ("WebGLRenderingContext", "WebGL2RenderingContext"):
            asked = {"expression": f"{name}.prototype", "objectGroup": group}
            prototype = (await call("Runtime.evaluate", asked))["result"].get("objectId")
            if prototype is None:
                return []
            wanted = {"prototypeObjectId": prototype, "objectGroup": group}
            arrays.append((await call("Runtime.queryObjects", wanted))["objects"]["objectId"])
        answer = await call(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": source("canvas_contexts"),
                "objectId": arrays[0],
                "arguments": [{"objectId": arrays[1]}],
                "returnByValue": True,
            },
        )
        return msgspec.convert(answer["result"].get("value") or [], list[_Context])
    finally:
        page.session.post("Runtime.releaseObjectGroup", {"objectGroup": group})
