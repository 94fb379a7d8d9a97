"""The tool that prints a page to a PDF."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import trio
from msgspec import Meta

from vfa.page.pdf import Print, parameters, print_page
from vfa.policy.paths import resolve_output, write_output
from vfa.tools.answer import Answer
from vfa.tools.fields import MAX_FILENAME, TabNumber, TimeoutMs, dialogs, navigation_time
from vfa.tools.table import Call, Hints, Tool

if TYPE_CHECKING:
    from vfa.engine import Engine
    from vfa.page.page import Page
    from vfa.page.pdf import Pdf

Margin = Annotated[float, Meta(ge=0, le=200)]

# --- browser_pdf ------------------------------------------------------------------------


class PdfArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_pdf``."""

    filename: Annotated[str, Meta(max_length=MAX_FILENAME)] = ""
    format: Literal["A3", "A4", "A5", "Letter", "Legal", "Tabloid"] = "A4"
    landscape: bool = False
    scale: Annotated[float, Meta(ge=0.1, le=2)] = 1
    margins: Annotated[
        tuple[Margin, ...],
        Meta(min_length=1, max_length=4, description="mm, as in CSS."),
    ] = (10,)
    background: bool = True
    page_ranges: Annotated[str, Meta(max_length=200, description="1-3, 5")] = ""
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


async def pdf(engine: Engine, arguments: PdfArguments, call: Call) -> Answer:
    """Print the page and keep the file."""
    root = engine.config.output_path
    name = pdf_name(arguments.filename, datetime.now(UTC))
    resolve_output(root, name)
    order = Print(
        size=arguments.format,
        landscape=arguments.landscape,
        scale=arguments.scale,
        background=arguments.background,
        margins=arguments.margins,
        page_ranges=arguments.page_ranges,
    )
    parameters(order)  # refused before a browser starts
    session = engine.tab(arguments.tab)

    async def operation(page: Page) -> Pdf:
        return await print_page(page, order)

    printed = await session.act(operation)
    path = await trio.to_thread.run_sync(write_output, root, name, printed.data)
    value: dict[str, Any] = {"path": str(path), "size": len(printed.data)}
    if printed.pages is not None:
        value["pages"] = printed.pages
    return Answer(value=value | dialogs(session))


def pdf_name(filename: str, now: datetime) -> str:
    """Return the name of the file, with its extension."""
    if not filename:
        return f"page-{now.strftime('%Y-%m-%dT%H-%M-%S')}.pdf"
    if filename.lower().endswith(".pdf") or filename.endswith(("/", "\\")):
        return filename
    return filename + ".pdf"


# --- the table --------------------------------------------------------------------------

PDF: tuple[Tool, ...] = (
    Tool(
        name="browser_pdf",
        description="Print the page to a PDF file below OUTPUT_DIR.",
        hints=Hints(read_only=False, idempotent=True),
        returns="`path`, `size` in bytes, `pages` if the file tells.",
        arguments=PdfArguments,
        run=pdf,
        default_timeout_ms=navigation_time,
    ),
)
