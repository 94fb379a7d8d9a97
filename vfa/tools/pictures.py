"""The tool that takes a picture: screenshot."""

from __future__ import annotations

import base64
import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import trio
from msgspec import Meta

from vfa.errors import InvalidArgsError, OutputError
from vfa.page.locating import check_target
from vfa.page.screenshot import Shot
from vfa.page.viewing import Area
from vfa.policy.paths import resolve_output, screenshot_name, write_output
from vfa.tools.answer import Answer, Picture
from vfa.tools.fields import (
    MAX_FILENAME,
    MAX_SELECTOR,
    TabNumber,
    TimeoutMs,
    dialogs,
    navigation_time,
)
from vfa.tools.table import Call, Hints, Tool

if TYPE_CHECKING:
    from vfa.config import Config
    from vfa.engine import Engine
    from vfa.page.screenshot import Capture

logger = logging.getLogger(__name__)

Coordinate = Annotated[float, Meta(ge=0)]
Extent = Annotated[float, Meta(ge=1)]
MAX_REF = 40  # characters

# --- browser_screenshot ----------------------------------------------------------------


class Clip(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of the page, CSS px from its upper left corner."""

    x: Coordinate
    y: Coordinate
    width: Extent
    height: Extent


class ScreenshotArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_screenshot``."""

    filename: Annotated[str, Meta(max_length=MAX_FILENAME)] = ""
    format: Literal["jpeg", "png", "webp"] = "jpeg"
    quality: Annotated[float, Meta(ge=1, le=100)] = 80
    full_page: bool = False
    selector: Annotated[str, Meta(max_length=MAX_SELECTOR)] = ""
    ref: Annotated[str, Meta(max_length=MAX_REF)] = ""
    clip: Annotated[Clip | msgspec.UnsetType, Meta(description="CSS px of the page.")] = (
        msgspec.UNSET
    )
    scale: Annotated[float, Meta(ge=0.1, le=2)] = 1
    delay_ms: Annotated[float, Meta(ge=0, le=5000)] = 0
    inline: Annotated[bool, Meta(description="false: file only.")] = True
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


async def screenshot(engine: Engine, arguments: ScreenshotArguments, call: Call) -> Answer:
    """Take a picture, keep it as a file and show it."""
    config = engine.config
    name = screenshot_name(arguments.filename, arguments.format, datetime.now(UTC))
    resolve_output(config.output_path, name)  # refused before a browser starts
    shot = _shot(config, arguments)
    session = engine.tab(arguments.tab)
    capture = await session.screenshot(shot)
    value = await _save(config, name, capture) | _facts(capture) | dialogs(session)
    # What could not be written is shown, whatever was asked for: it would be lost.
    if not arguments.inline and value["path"] is not None:
        return Answer(value=value)
    data = base64.b64encode(capture.data).decode("ascii")
    return Answer(value=value, pictures=(Picture(data, f"image/{arguments.format}"),))


def _shot(config: Config, arguments: ScreenshotArguments) -> Shot:
    is_element = bool(arguments.selector or arguments.ref)
    clip = None
    if isinstance(arguments.clip, Clip):
        clip = Area(**msgspec.structs.asdict(arguments.clip))
    if is_element + arguments.full_page + (clip is not None) > 1:
        raise InvalidArgsError(
            "full_page, clip and an element cannot be combined",
            hint="Give one of them: each says what is to be in the picture.",
        )
    return Shot(
        format=arguments.format,
        quality=round(arguments.quality),
        full_page=arguments.full_page,
        target=check_target(arguments.selector, arguments.ref) if is_element else None,
        clip=clip,
        scale=arguments.scale,
        delay_ms=round(arguments.delay_ms),
        max_pixels=config.max_screenshot_pixels,
        max_bytes=config.max_image_bytes,
    )


async def _save(config: Config, name: str, capture: Capture) -> dict[str, Any]:
    """Write the file; a folder that cannot be written costs the path, not the picture."""
    try:
        path = await trio.to_thread.run_sync(
            write_output, config.output_path, name, capture.data
        )
    except OutputError as error:
        logger.warning("a screenshot could not be written: %s", error)
        return {
            "path": None,
            "note": f"The file was not written: {error.message}. "
            "Set OUTPUT_DIR to a folder that can be written.",
        }
    return {"path": str(path)}


def _facts(capture: Capture) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "size": len(capture.data),
        "truncated": capture.truncated,
        "scale": capture.scale,
        "measured": capture.measured,
    }
    if capture.measured:
        facts |= {"width": capture.width, "height": capture.height}
    if capture.clip is not None:
        facts["clip"] = {
            name: round(value, 2)
            for name, value in msgspec.structs.asdict(capture.clip).items()
        }
    if capture.matches > 1:
        facts["matches"] = capture.matches
    return facts | {
        "scrollX": capture.scroll_x,
        "scrollY": capture.scroll_y,
        "devicePixelRatio": capture.pixel_ratio,
    }


RETURNS = """\
`path` (absolute; null with a `note` if it could not be written), `size` (bytes), `width` and
`height` (pixels, if `measured`), `scale` (of what is shown on the screen), `truncated` (scaled
down to fit the limits), `clip` (what of the page it shows, CSS px, unless the viewport or all
of it), `scrollX`, `scrollY`, `devicePixelRatio`."""

# --- the table --------------------------------------------------------------------------

PICTURES: tuple[Tool, ...] = (
    Tool(
        name="browser_screenshot",
        description="Picture of the viewport, the full page, an element or a clip, shown and "
        "saved below OUTPUT_DIR. Too large ones are scaled down, never cropped.",
        hints=Hints(read_only=False, idempotent=True),
        arguments=ScreenshotArguments,
        run=screenshot,
        default_timeout_ms=navigation_time,
        returns=RETURNS,
    ),
)
