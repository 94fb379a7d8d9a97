"""What to say about WebGL: verdicts on canvases, a trace in brief, hints from the console.

Pure: data in, data out.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vfa.page.records import ConsoleMessage
    from vfa.page.webgl import Canvas, Canvases
    from vfa.page.webgl_shim import Recorded

RING = 400  # records that a trace goes back
MOST_HITS = 10  # console messages quoted
HIT_LENGTH = 300  # characters of each
TYPES = ("webgl", "webgl2")

# --- what a page gets -------------------------------------------------------------------

ABOUT_WEBGL = re.compile(r"webgl|gl_|shader|context lost|gpu", re.IGNORECASE)
LIBRARIES = (
    ("three.js", r"error creating webgl context|webglrenderer: .*context"),
    ("babylon.js", r"babylon\.js|engine .*webgl.* fail|unable to initialize"),
    ("pixijs", r"pixi.*webgl|unable to auto-detect renderer"),
    ("mapbox/maplibre", r"maplibre|mapbox.*webgl|failed to initialize webgl"),
    ("playcanvas", r"playcanvas.*webgl|webgl not supported"),
)

UNAVAILABLE = (
    "This browser gives the page no WebGL context: getContext returns null, so what needs "
    "WebGL cannot draw."
)
UNAVAILABLE_ADVICE = (
    "Start the browser with WebGL (VFA_CHROMIUM_ARGS must not switch it off), or have the page "
    "boot on a stand-in: ENABLE_WEBGL_SHIM=1, then browser_webgl_shim with mode trace."
)
SHIMMED = (
    "{what} a stand-in of browser_webgl_shim: the page can boot, and nothing that it draws "
    "with it becomes pixels."
)
SHIMMED_ADVICE = (
    "Read what the page asked for with browser_webgl_trace; do not judge its canvas by "
    "screenshots. browser_webgl_shim with mode off ends it."
)


def describe_webgl(probed: dict[str, Any], console: Iterable[ConsoleMessage]) -> dict[str, Any]:
    """Return the answer of ``browser_webgl_info``.

    Args:
        probed: What ``webgl_probe.js`` returned: real contexts, and the stand-in's facts.
        console: What the page said.
    """
    shim = probed["shim"]
    contexts = {name: _context(name, probed[name], shim) for name in TYPES}
    offscreen = {name: _offscreen(probed["offscreen"][name], shim) for name in TYPES}
    kinds = {name: _kind(context) for name, context in contexts.items()}
    value: dict[str, Any] = {
        "usable": "real" in kinds.values(),
        "effective": effective(kinds),
        "effectiveBy": kinds,
        **contexts,
        "offscreen": offscreen,
        "interfaces": probed["interfaces"],
        "shim": {
            "active": shim is not None,
            "mode": shim and shim["mode"],
            "mockedContexts": shim["mockedContexts"] if shim else 0,
        },
    }
    value |= _reason(kinds, probed)
    hits = console_hits(console)
    return value | ({"consoleHits": hits} if hits else {})


def effective(kinds: dict[str, str]) -> str:
    """Return one word for what both types are: the same, or "mixed" if one is a stand-in.

    One type that is real while the other does not exist is "real": what works is real.
    """
    there = set(kinds.values()) - {"unavailable"}
    if not there:
        return "unavailable"
    return there.pop() if len(there) == 1 else "mixed"


def _kind(context: dict[str, Any]) -> str:
    if not context["ok"]:
        return "unavailable"
    return "shimmed" if context["mock"] else "real"


def _context(name: str, real: dict[str, Any], shim: dict[str, Any] | None) -> dict[str, Any]:
    about = shim and shim["about"].get(name)
    if real["ok"] or not about:
        return real
    names = about["extensions"]
    return {
        "ok": True,
        "mock": True,
        **{key: value for key, value in about.items() if key != "extensions"},
        "extensionCount": len(names),
        "extensions": names[:20],
        "unmasked": {"vendor": about["vendor"], "renderer": about["renderer"]},
        "realError": real.get("error"),
    }


def _offscreen(real: dict[str, Any], shim: dict[str, Any] | None) -> dict[str, Any]:
    if real.get("ok") or not real["supported"] or shim is None:
        return real
    return {"supported": True, "ok": True, "mock": True}


def _reason(kinds: dict[str, str], probed: dict[str, Any]) -> dict[str, str]:
    word = effective(kinds)
    if word == "unavailable":
        said = next((probed[name]["error"] for name in TYPES if probed[name].get("error")), "")
        reason = UNAVAILABLE + (f" Chromium says: {said}" if said else "")
        return {"reason": reason, "advice": UNAVAILABLE_ADVICE}
    if word == "real":
        return {}
    mocked = [name for name, kind in kinds.items() if kind == "shimmed"]
    what = f"{' and '.join(mocked)} {'are' if len(mocked) > 1 else 'is'}"
    return {"reason": SHIMMED.format(what=what), "advice": SHIMMED_ADVICE}


def console_hits(messages: Iterable[ConsoleMessage]) -> list[dict[str, Any]]:
    """Return the errors and warnings that are about WebGL, and the library that made each."""
    hits = []
    for message in messages:
        if message.level not in {"error", "warning"} or not ABOUT_WEBGL.search(message.text):
            continue
        text = message.text
        library = next(
            (name for name, words in LIBRARIES if re.search(words, text, re.IGNORECASE)), None
        )
        hits.append({"library": library, "level": message.level, "text": text[:HIT_LENGTH]})
        if len(hits) == MOST_HITS:
            break
    return hits


# --- canvases ---------------------------------------------------------------------------


def describe_canvases(found: Canvases) -> dict[str, Any]:
    """Return the answer of ``browser_canvas_info``."""
    entries = [_describe(index, canvas) for index, canvas in enumerate(found.canvases)]
    return {
        "count": found.count,
        "blank": sum(bool(canvas.pixels and canvas.pixels.blank) for canvas in found.canvases),
        "sampled": sum(_was_sampled(canvas) for canvas in found.canvases),
        "truncated": found.count > len(entries),
        "canvases": entries,
    }


def _was_sampled(canvas: Canvas) -> bool:
    return canvas.pixels is not None and not canvas.pixels.error


def _describe(index: int, canvas: Canvas) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "index": index,
        "id": canvas.id,
        "className": canvas.class_name,
        "attributeSize": _size(canvas.attribute_size),
        "cssSize": _size(canvas.css_size),
        "position": {"x": canvas.position.x, "y": canvas.position.y},
        "mockContextType": canvas.mock_context_type,
        "pixels": _pixels(canvas),
        **_data_url(canvas),
    }
    if canvas.webgl:
        entry["context"] = canvas.webgl
        entry["preserveDrawingBuffer"] = canvas.preserved
    if canvas.transferred:
        entry["transferred"] = True
    if not canvas.light:
        entry["inShadowTree"] = True
    if canvas.frame_url:
        entry["frame"] = canvas.frame_url
    return entry | {"verdict": verdict(canvas)}


def _size(size: Any) -> dict[str, int]:
    return {"width": size.width, "height": size.height}


def _pixels(canvas: Canvas) -> dict[str, Any] | None:
    pixels = canvas.pixels
    if pixels is None:
        return None
    if pixels.error:
        return {"error": pixels.error}
    told: dict[str, Any] = {
        "sampledWidth": pixels.sampled_width,
        "sampledHeight": pixels.sampled_height,
        "uniqueColors": pixels.unique_colors,
        "nonTransparentRatio": pixels.non_transparent_ratio,
        "blank": pixels.blank,
    }
    if pixels.color is not None and not pixels.blank:
        told["solidColor"] = _colour(pixels.color)
    return told


def _data_url(canvas: Canvas) -> dict[str, Any]:
    if canvas.data_url_error:
        return {"dataUrlError": canvas.data_url_error}
    return {"dataUrlLength": canvas.data_url_length}  # None: too large to encode just for this


def _colour(rgba: tuple[int, int, int, int]) -> str:
    red, green, blue, alpha = rgba
    return f"rgba({red}, {green}, {blue}, {round(alpha / 255, 3):g})"


def verdict(canvas: Canvas) -> str:
    """Return what a canvas's pixels mean, in a sentence."""
    pixels = canvas.pixels
    if pixels is None:
        size = canvas.attribute_size
        return f"Zero size ({size.width} x {size.height}): nothing can be drawn on it."
    if pixels.tainted:
        return (
            "Tainted: it holds pixels from another origin, so it may not be read. That says "
            "nothing about what it shows; take a screenshot."
        )
    if pixels.error:
        return f"It could not be read ({pixels.error}); take a screenshot."
    if pixels.blank:
        return _why_blank(canvas)
    if pixels.color is not None:
        return (
            f"Filled with one colour, {_colour(pixels.color)}: cleared, or not drawn on since. "
            "A WebGL canvas without alpha begins opaque black."
        )
    drawn = "Has pixel content."
    if canvas.in_frame:
        drawn += " (Within an animation frame: it does not preserve its drawing buffer.)"
    return drawn


def _why_blank(canvas: Canvas) -> str:
    if canvas.mock_context_type is not None:
        return (
            f"Blank on purpose: its {canvas.mock_context_type} context is the stand-in of "
            "browser_webgl_shim, which draws nothing. browser_webgl_trace tells what was asked "
            "of it."
        )
    if canvas.transferred:
        return (
            "Control went to an OffscreenCanvas, maybe in a worker, and nothing has been "
            "presented from there yet."
        )
    if canvas.webgl and not canvas.preserved:
        return (
            f"Reads back empty, which proves nothing: its {canvas.webgl} context does not "
            "preserve the drawing buffer, so after a frame was shown there is nothing to read. "
            "Take a screenshot."
        )
    return (
        "Nothing drawn: every pixel is transparent. A page that drew with WebGL once, and let "
        "go of its context, leaves the same: a screenshot tells."
    )


# --- traces -----------------------------------------------------------------------------

DRAWS = ("drawArrays", "drawElements", "drawRangeElements")
INSTANCED = ("drawArraysInstanced", "drawElementsInstanced")
TEXTURES = (
    "texImage2D",
    "texImage3D",
    "texStorage2D",
    "texStorage3D",
    "compressedTexImage2D",
    "compressedTexImage3D",
)
DRAW_KEYS = ("kind", "mode", "first", "count", "instances", "triangles", "drawIndex")
MOST_SHADERS, MOST_DRAWS, MOST_UNIFORMS, MOST_TEXTURES, MOST_OTHERS = 8, 60, 40, 20, 20
MOCK_NOTE = "Mode mock only counts: browser_webgl_shim with mode trace records the calls, too."
EMPTY_NOTE = "Nothing recorded yet: the page has asked nothing of WebGL since this began."


def summarise(realms: Sequence[Recorded], *, cleared: bool) -> dict[str, Any]:
    """Return the answer of ``browser_webgl_trace``.

    The lists hold the newest of their kind. Sources and textures are kept beside the ring of
    records, which an animation would have pushed them out of.

    Args:
        realms: What the page's documents and workers recorded; at least one.
        cleared: They forgot it as it was read.
    """
    records = _merged(realms, "records")[-RING:]
    draws = [record for record in records if record["kind"] in {*DRAWS, *INSTANCED}]
    uniforms = [record for record in records if record["kind"] == "uniform"]
    told = {*DRAWS, *INSTANCED, *TEXTURES, "uniform", "shaderSource"}
    others = [record for record in records if record["kind"] not in told]
    shaders = _merged(realms, "shaders")[-MOST_SHADERS:]
    textures = _merged(realms, "textures")[-MOST_TEXTURES:]
    counts = _summed(realm.counts for realm in realms)
    value: dict[str, Any] = {
        "available": True,
        "installed": True,
        "mode": realms[0].mode,
        "stats": _summed(realm.stats for realm in realms),
        "contexts": _summed(realm.contexts for realm in realms),
        "recordCount": len(records),
        "droppedRecords": sum(counts.values()) - len(records),
        "counts": counts,
        "shaders": [_chosen(record, "type", "length", "source") for record in shaders],
        "draws": [_chosen(record, *DRAW_KEYS) for record in draws[-MOST_DRAWS:]],
        "uniforms": [
            _chosen(record, "name", "type", "value") for record in uniforms[-MOST_UNIFORMS:]
        ],
        "textures": [_chosen(record, "width", "height") for record in textures],
        "other": [
            {key: inner for key, inner in record.items() if key != "t"}
            for record in others[-MOST_OTHERS:]
        ],
    }
    if len(realms) > 1:
        value["realms"] = [
            {"realm": realm.realm, "draws": round(realm.stats["draws"])} for realm in realms
        ]
    if value["mode"] == "mock":
        value["note"] = MOCK_NOTE
    elif not records:
        value["note"] = EMPTY_NOTE
    return value | ({"cleared": True} if cleared else {})


def _merged(realms: Sequence[Recorded], name: str) -> list[dict[str, Any]]:
    """Return the records of all realms in the order of their time."""
    if len(realms) == 1:
        return list(getattr(realms[0], name))
    timed = [
        (realm.origin + record.get("t", 0), record)
        for realm in realms
        for record in getattr(realm, name)
    ]
    return [record for _, record in sorted(timed, key=lambda pair: pair[0])]


def _summed(tallies: Iterable[dict[str, Any]]) -> dict[str, Any]:
    total: Counter[str] = Counter()
    for tally in tallies:
        total.update({name: round(number) for name, number in tally.items()})
    return dict(total)


def _chosen(record: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: record[key] for key in keys if key in record}
