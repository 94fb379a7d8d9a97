"""The tool that follows downloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from vfa.errors import DeadlineExceededError, InvalidArgsError, VfaError
from vfa.tools.answer import Answer
from vfa.tools.fields import TimeoutMs, describe_download, navigation_time
from vfa.tools.table import Call, Hints, Tool

if TYPE_CHECKING:
    from vfa.engine import Engine
    from vfa.page.downloads import Download


class DownloadsArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_downloads``."""

    action: Literal["list", "wait", "cancel"] = "list"
    id: Annotated[int, Meta(ge=0, description="Default for wait: the newest.")] = 0
    timeout_ms: TimeoutMs = 0


async def downloads(engine: Engine, arguments: DownloadsArguments, call: Call) -> Answer:
    """List downloads, wait for one to end, or stop one."""
    book = engine.tabs.downloads
    if arguments.action == "list":
        listed = [describe_download(download) for download in book]
        return Answer(value={"downloads": listed, "count": len(listed)})
    if arguments.id:
        download = _find(engine, arguments.id)
    elif arguments.action == "cancel":
        raise InvalidArgsError("cancel needs an id", hint="action list has them.")
    else:
        await book.wait_until(lambda: book.newest is not None)
        assert book.newest is not None
        download = book.newest
    if arguments.action == "cancel" and not download.ended:
        await engine.tabs.cancel(download)
    await book.wait_until(lambda: _find(engine, download.id).ended)
    value: dict[str, Any] = describe_download(_find(engine, download.id))
    return Answer(value=value)


def _find(engine: Engine, id_: int) -> Download:
    download = engine.tabs.downloads.get(id_)
    if download is None:
        raise InvalidArgsError(f"there is no download {id_}", hint="action list has them.")
    return download


def download_timeout(arguments: DownloadsArguments, milliseconds: int) -> VfaError:
    """Return the failure of a download that has not ended in time."""
    return DeadlineExceededError(
        f"Timed out: no download ended within {milliseconds} ms",
        hint="It goes on: wait again, or look with action list.",
    )


DOWNLOADS: tuple[Tool, ...] = (
    Tool(
        name="browser_downloads",
        description="List downloads, wait for one to end, or cancel one. Files are kept below "
        "OUTPUT_DIR.",
        hints=Hints(read_only=False),
        arguments=DownloadsArguments,
        run=downloads,
        default_timeout_ms=navigation_time,
        expired=download_timeout,
        returns="list: `downloads`, `count`. Each, and what wait and cancel return: `id`, "
        "`name`, `state` (in_progress, completed, cancelled, too_large, failed), `url`, `tab`, "
        "`bytes`, `totalBytes`, `mimeType`, `path`, `sha256`, `reason`.",
    ),
)
