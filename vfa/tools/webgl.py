"""The tools about WebGL and canvases: webgl_info, canvas_info, webgl_shim, webgl_trace."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

import msgspec
from msgspec import UNSET, Meta, UnsetType

from vfa.errors import (
    DeadlineExceededError,
    ShimDisabledError,
    ShimModeError,
    TraceUnavailableError,
)
from vfa.page.history import reload
from vfa.page.webgl import canvases, probe
from vfa.page.webgl_report import describe_canvases, describe_webgl, summarise
from vfa.page.webgl_shim import install, read
from vfa.tools.answer import Answer, cut_text, encode, encoded_length, keep_fitting, well_formed
from vfa.tools.fields import TabNumber, TimeoutMs, dialogs, navigation_time, tool_time
from vfa.tools.table import Call, Hints, Tool

if TYPE_CHECKING:
    from vfa.engine import Engine
    from vfa.errors import VfaError
    from vfa.page.page import Page
    from vfa.page.webgl_shim import Mode

logger = logging.getLogger(__name__)

MOST_CANVASES = 200
MODES = ("mock", "off", "trace")
ORDER = "webgl shim"  # under this name the mode outlives navigations and browsers

# --- browser_webgl_info ----------------------------------------------------------------


class WebglInfoArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_webgl_info``."""

    tab: TabNumber = 0


async def webgl_info(engine: Engine, arguments: WebglInfoArguments, call: Call) -> Answer:
    """Say what WebGL the page gets, and why not if it gets none."""
    session = engine.tab(arguments.tab)

    async def look(page: Page) -> dict[str, Any]:
        return describe_webgl(await probe(page), page.console.read("all"))

    return Answer(value=await session.read(look) | dialogs(session))


# --- browser_canvas_info ---------------------------------------------------------------


class CanvasInfoArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_canvas_info``."""

    max_canvases: Annotated[int, Meta(ge=1, le=MOST_CANVASES)] | UnsetType = UNSET
    tab: TabNumber = 0


async def canvas_info(engine: Engine, arguments: CanvasInfoArguments, call: Call) -> Answer:
    """Describe the page's canvases and what is on them."""
    limit = arguments.max_canvases
    if limit is UNSET:
        limit = min(engine.config.max_webgl_canvases, MOST_CANVASES)
    session = engine.tab(arguments.tab)
    found = await session.read(lambda page: canvases(page, limit))
    return Answer(value=describe_canvases(found) | dialogs(session), shorten=_shorten_canvases)


def _shorten_canvases(value: dict[str, Any], budget: int) -> dict[str, Any]:
    rest = value | {"canvases": [], "truncated": True}
    return rest | {"canvases": keep_fitting(value["canvases"], budget - encoded_length(rest))}


# --- browser_webgl_shim ----------------------------------------------------------------


class WebglShimArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_webgl_shim``."""

    mode: Annotated[str, Meta(extra_json_schema={"enum": list(MODES)})]
    reload: bool = True
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0

    def __post_init__(self) -> None:
        """Refuse an unknown mode by the code that clients know for it."""
        if self.mode not in MODES:
            raise ShimModeError(
                f"Invalid arguments for browser_webgl_shim: Unknown mode: mode must be one of "
                f"{', '.join(MODES)}, not {self.mode[:60]!r}"
            )


APPLIES_TO = "documents created from now on, until the mode is off"
UNCHANGED = (
    "The current document is unchanged: reload it, or navigate, for this to take effect."
)


async def webgl_shim(engine: Engine, arguments: WebglShimArguments, call: Call) -> Answer:
    """Give documents to come a stand-in for WebGL, or take it back."""
    if not engine.config.enable_webgl_shim:
        raise disabled()
    mode = cast("Mode", arguments.mode)
    session = engine.tab(arguments.tab)

    async def change(page: Page) -> str | None:
        identifier = await install(page, mode)
        session.keep(ORDER, None if mode == "off" else partial(install, mode=mode))
        if arguments.reload:
            await reload(page, ignore_cache=True, milestone="load")
            await page.settle()
        return identifier

    identifier = await session.act(change)
    logger.info("[MCP] WebGL stand-in: %s", mode)
    value: dict[str, Any] = {
        "mode": mode,
        "identifier": identifier,
        "shimmed": mode != "off",
        "appliesTo": "nothing" if mode == "off" else APPLIES_TO,
        "reloadRequired": not arguments.reload,
        "reloaded": arguments.reload,
    }
    if not arguments.reload:
        value["note"] = UNCHANGED
    return Answer(value=value | dialogs(session))


def disabled() -> ShimDisabledError:
    """Return the refusal of a call while the switch is off."""
    return ShimDisabledError(
        "browser_webgl_shim is disabled: it makes pages believe in WebGL that draws nothing.",
        hint="Whoever runs the server can allow it: ENABLE_WEBGL_SHIM=1 in its environment.",
    )


def shim_timeout(arguments: WebglShimArguments, milliseconds: int) -> VfaError:
    """Return the failure of a page that was not there again in time."""
    return DeadlineExceededError(
        f"Timed out: the reload timed out after {milliseconds} ms",
        hint=f"Mode {arguments.mode} is registered all the same: the next document has it. "
        "Navigate, or allow more with timeout_ms.",
    )


# --- browser_webgl_trace ---------------------------------------------------------------


class WebglTraceArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_webgl_trace``."""

    clear: bool = False
    tab: TabNumber = 0


async def webgl_trace(engine: Engine, arguments: WebglTraceArguments, call: Call) -> Answer:
    """Tell what the page asked of WebGL since the stand-in was installed."""
    session = engine.tab(arguments.tab)
    realms = await session.read(lambda page: read(page, clear=arguments.clear))
    if not realms:
        raise TraceUnavailableError(
            "WebGL trace unavailable: the current document has no stand-in that records.",
            hint="Set ENABLE_WEBGL_SHIM=1, then call browser_webgl_shim with mode trace; "
            "it applies from the next document on.",
        )
    value = within(
        well_formed(summarise(realms, cleared=arguments.clear)),
        engine.config.max_webgl_trace_length,
    )
    return Answer(value=value | dialogs(session), shorten=within)


def within(value: dict[str, Any], limit: int) -> dict[str, Any]:
    """Return a trace in ``limit`` characters of JSON: as it is, or as text that is cut off."""
    text = encode(value)
    if len(text) <= limit:
        return value
    rest = {
        "truncated": True,
        "reason": f"The trace has {len(text)} characters of JSON; the limit is {limit}. "
        "MAX_WEBGL_TRACE_LENGTH sets it; clear empties the record.",
        "json": "",
    }
    return rest | {"json": cut_text(text, limit - encoded_length(rest))}


# --- the table --------------------------------------------------------------------------

WEBGL: tuple[Tool, ...] = (
    Tool(
        name="browser_webgl_info",
        description="What WebGL the page gets (real, shimmed, mixed or unavailable) and why: "
        "driver, limits, advice, what the console says.",
        hints=Hints(read_only=True, open_world=False),
        arguments=WebglInfoArguments,
        run=webgl_info,
        returns="`usable` (a real context exists), `effective`, `effectiveBy` type, `webgl`, "
        "`webgl2` and `offscreen` (vendor, renderer, version, limits, extensions, or the "
        "error), `interfaces`, `shim`, `reason` and `advice` where something is missing, "
        "`consoleHits`.",
        default_timeout_ms=tool_time,
    ),
    Tool(
        name="browser_canvas_info",
        description="Every canvas: size, position, and whether it holds pixels, one colour or "
        "nothing, or cannot be read.",
        hints=Hints(read_only=True, open_world=False),
        arguments=CanvasInfoArguments,
        run=canvas_info,
        returns="`count`, `blank`, `sampled`, `truncated` and `canvases`: each with `index`, "
        "`id`, `className`, `attributeSize`, `cssSize`, `position`, `mockContextType`, "
        "`pixels`, `dataUrlLength` or `dataUrlError`, and a `verdict` in words; where it is "
        "so, `context` and `preserveDrawingBuffer`, `transferred`, `inShadowTree`, `frame`.",
        default_timeout_ms=tool_time,
    ),
    Tool(
        name="browser_webgl_shim",
        description="Stand-in for missing WebGL, so that a page boots: mock counts calls, "
        "trace records them, nothing is drawn. Needs ENABLE_WEBGL_SHIM=1.",
        hints=Hints(read_only=False, idempotent=True),
        arguments=WebglShimArguments,
        run=webgl_shim,
        returns="`mode`, `identifier`, `shimmed`, `appliesTo`, `reloadRequired`, `reloaded`, "
        "`note`.",
        default_timeout_ms=navigation_time,
        expired=shim_timeout,
    ),
    Tool(
        name="browser_webgl_trace",
        description="What the page asked of WebGL under browser_webgl_shim: totals, shader "
        "sources, draw calls, uniforms, textures.",
        hints=Hints(read_only=True, open_world=False),
        arguments=WebglTraceArguments,
        run=webgl_trace,
        returns="`mode`, `stats` (draws, triangles, shaders, programs, textures, "
        "shaderSources), `contexts`, `recordCount` (of the last 400), `droppedRecords`, "
        "`counts` by kind, and the newest `shaders`, `draws`, `uniforms`, `textures` and "
        "`other`; `realms` if frames or workers draw too.",
        default_timeout_ms=tool_time,
    ),
)
