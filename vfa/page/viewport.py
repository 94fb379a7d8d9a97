"""The viewport of a tab: its size, its pixel ratio, and whether it is a phone's.

An override lasts over navigations, as long as the tab's CDP session does; whoever wants it to
last longer sets it again on the next page. Without one the viewport is the window's.

Source: CDP ``Emulation.setDeviceMetricsOverride``, ``Emulation.clearDeviceMetricsOverride``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import trio

from vfa.errors import CdpError, ScriptError, ViewportError

if TYPE_CHECKING:
    from vfa.page.page import Page

MEASURE_BOUND = 2.0  # seconds; the viewport is set, whatever keeps the page from telling


class Viewport(msgspec.Struct, frozen=True):
    """A viewport to set."""

    width: int  # CSS pixels
    height: int
    device_scale_factor: float = 1  # device pixels of a CSS pixel
    mobile: bool = False  # obeys <meta name=viewport>, has overlay scroll bars


class Measured(msgspec.Struct, frozen=True, rename="camel"):
    """What the page says of its viewport, in CSS pixels."""

    inner_width: float
    inner_height: float
    device_pixel_ratio: float
    scroll_x: float
    scroll_width: float


async def apply_viewport(page: Page, viewport: Viewport) -> None:
    """Set the viewport.

    Raises:
        ViewportError: Chromium refused it.
    """
    page.acted = True
    try:
        await page.session.call(
            "Emulation.setDeviceMetricsOverride",
            {
                "width": viewport.width,
                "height": viewport.height,
                "deviceScaleFactor": viewport.device_scale_factor,
                "mobile": viewport.mobile,
            },
        )
    except CdpError as error:
        raise _refused(error) from error


async def clear_viewport(page: Page) -> None:
    """Go back to the window's own viewport.

    Raises:
        ViewportError: Chromium refused.
    """
    page.acted = True
    try:
        await page.session.call("Emulation.clearDeviceMetricsOverride")
    except CdpError as error:
        raise _refused(error) from error


async def measure_viewport(page: Page) -> Measured | None:
    """Return what the page sees of its viewport, once it has drawn; None if it does not say."""
    await page.settle()
    with trio.move_on_after(MEASURE_BOUND):
        try:
            return await page.call("viewport", result=Measured)
        except (CdpError, ScriptError):
            pass
    return None


def _refused(error: CdpError) -> ViewportError:
    return ViewportError(
        f"Chromium did not take the viewport: {error.message}",
        hint="The viewport is what it was before. Try a smaller one.",
    )
