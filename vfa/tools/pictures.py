"""The tools that take pictures: screenshot."""

from __future__ import annotations

import base64
import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import trio
from msgspec import Meta

from vfa.errors import OutputError
from vfa.page.screenshot import Shot
from vfa.policy.paths import resolve_output, screenshot_name, write_output
from vfa.tools.answer import Answer, Picture
from vfa.tools.fields import MAX_FILENAME, TimeoutMs, dialogs, navigation_time
from vfa.tools.table import Call, Hints, Tool

if TYPE_CHECKING:
    from vfa.config import Config
    from vfa.engine import Engine
    from vfa.page.screenshot import Capture

logger = logging.getLogger(__name__)

# --- browser_screenshot ----------------------------------------------------------------


class ScreenshotArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_screenshot``."""

    filename: Annotated[
        str,
        Meta(max_length=MAX_FILENAME, description="Below OUTPUT_DIR; made up if absent."),
    ] = ""
    format: Literal["jpeg", "png"] = "jpeg"
    quality: Annotated[float, Meta(ge=1, le=100, description="JPEG only.")] = 80
    full_page: Annotated[bool, Meta(description="Not just the viewport.")] = False
    delay_ms: Annotated[float, Meta(ge=0, le=5000, description="Wait before the picture.")] = 0
    timeout_ms: TimeoutMs = 0


async def screenshot(engine: Engine, arguments: ScreenshotArguments, call: Call) -> Answer:
    """Take a picture, keep it as a file and show it."""
    config = engine.config
    name = screenshot_name(arguments.filename, arguments.format, datetime.now(UTC))
    resolve_output(config.output_path, name)  # refused before a browser starts
    capture = await engine.session.screenshot(
        Shot(
            format=arguments.format,
            quality=round(arguments.quality),
            full_page=arguments.full_page,
            delay_ms=round(arguments.delay_ms),
            max_pixels=config.max_screenshot_pixels,
            max_bytes=config.max_image_bytes,
        )
    )
    value = await _save(config, name, capture) | _facts(capture) | dialogs(engine.session)
    data = base64.b64encode(capture.data).decode("ascii")
    return Answer(value=value, pictures=(Picture(data, f"image/{arguments.format}"),))


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
    return facts | {
        "scrollX": capture.scroll_x,
        "scrollY": capture.scroll_y,
        "devicePixelRatio": capture.pixel_ratio,
    }


# --- the table --------------------------------------------------------------------------

PICTURES: tuple[Tool, ...] = (
    Tool(
        name="browser_screenshot",
        description="Picture of the viewport or of the whole page, shown and saved below "
        "OUTPUT_DIR. Too large a one is scaled down (see scale), never cropped.",
        hints=Hints(title="Screenshot", read_only=False, idempotent=True),
        arguments=ScreenshotArguments,
        run=screenshot,
        default_timeout_ms=navigation_time,
    ),
)
