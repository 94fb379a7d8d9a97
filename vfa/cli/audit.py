"""``vfa audit``: the options, the exit code, and the order of what is printed where.

Stdout carries the table of findings, or the JSON when that was asked for there; everything
else (progress, warnings, what failed) goes to stderr, so that output can be piped.
"""

from __future__ import annotations

import re
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import click
import msgspec

from vfa.audit.findings import CATEGORIES, SEVERITIES, Report, Severity
from vfa.audit.request import AuditRequest, Device, Viewport, WaitUntil
from vfa.cli.settings import COULD_NOT, leaves, load_or_exit, say
from vfa.errors import SsrfBlockedError, VfaError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from vfa.audit.request import Progress
    from vfa.cli.progress import Display
    from vfa.config import Config
    from vfa.engine import Engine

CLEAN, FINDINGS = 0, 1  # exit codes; 2 is "could not", 128 + n is "ended by a signal"
VIEWPORT = re.compile(r"(\d{1,6})[xX](\d{1,6})")
SMALLEST_SIDE, LARGEST_SIDE = 100, 10_000  # CSS pixels
LOCAL_HINT = "For a site of your own: `vfa audit --allow-local …`."


class Outcome(msgspec.Struct, frozen=True):
    """What became of one URL: a report, or why there is none."""

    url: str
    report: Report | None = None
    error: VfaError | None = None


def viewport(text: str) -> Viewport:
    """Read a size like ``1440x900``; click says the message of a refusal."""
    match = VIEWPORT.fullmatch(text)
    if not match:
        raise click.BadParameter(f"{text!r} is not a size like 1440x900")
    size = Viewport(int(match[1]), int(match[2]))
    if not all(SMALLEST_SIDE <= side <= LARGEST_SIDE for side in (size.width, size.height)):
        raise click.BadParameter(
            f"{text!r}: each side is {SMALLEST_SIDE} to {LARGEST_SIDE} pixels"
        )
    return size


_FILE = click.Path(dir_okay=False, writable=True, allow_dash=False)
_FILE_OR_DASH = click.Path(dir_okay=False, writable=True, allow_dash=True)


@click.command("audit")
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option(
    "--json", "json_file", type=_FILE_OR_DASH, help="Write the findings as JSON; - is stdout."
)
@click.option("--html", "html_file", type=_FILE, help="Write a report to read, one HTML file.")
@click.option(
    "--depth",
    type=click.IntRange(0, 10),
    metavar="N",
    default=1,
    show_default=True,
    help="How many clicks from URL to follow links of the same site; 0: this page only.",
)
@click.option(
    "--max-pages",
    type=click.IntRange(1, 1000),
    metavar="N",
    default=10,
    show_default=True,
    help="The most pages to look at.",
)
@click.option(
    "--device",
    type=click.Choice(get_args(Device)),
    default="desktop",
    show_default=True,
    help="What the browser pretends to be.",
)
@click.option(
    "--viewport", type=viewport, metavar="WxH", help="Size of the window, like 1440x900."
)
@click.option(
    "--wait-until",
    type=click.Choice(get_args(WaitUntil)),
    default="networkidle",
    show_default=True,
    help="When a page counts as loaded.",
)
@click.option(
    "--focus", default="", metavar="WORDS", help='What matters most, like "checkout form".'
)
@click.option(
    "--category",
    "categories",
    type=click.Choice(CATEGORIES),
    multiple=True,
    help="Only findings of this kind; may be given several times.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=1),
    metavar="SECONDS",
    help="Time for each URL.  [default: 120, or MAX_TIMEOUT_MS if that is less]",
)
@click.option(
    "--fail-on",
    type=click.Choice(SEVERITIES),
    help="Exit with 1 if there is a finding at least this severe.",
)
@click.option(
    "--allow-local",
    is_flag=True,
    help="Allow loopback and private addresses (as VFA_ALLOW_LOCAL_HOST does).",
)
@click.option("--no-screenshots", is_flag=True, help="Take no pictures; faster.")
@click.option("--verbose", "-v", is_flag=True, help="Say on stderr what the engine does.")
@click.option("--quiet", "-q", is_flag=True, help="No progress, no table.")
def command(
    urls: tuple[str, ...],
    json_file: str | None,
    html_file: str | None,
    fail_on: Severity | None,
    verbose: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Audit one or more URLs and print what is wrong with them.

    \b
    Exit codes:
      0    audited; with --fail-on: nothing at or above that severity
      1    --fail-on: at least one finding at or above that severity
      2    a URL could not be audited, or the command line is wrong
      130  interrupted

    An audit that ran out of time says what it did not get to; the exit code judges what
    it saw.

    With several URLs, --json writes a list, and --html numbers its files: report.html,
    report-2.html …
    """  # noqa: D301
    from vfa.cli.interruptible import run
    from vfa.cli.progress import display

    config = load_or_exit({"allow_local_host": options.pop("allow_local") or None})
    requests = _requests(urls, config, **options)
    outcomes: list[Outcome] = []
    with display(quiet=quiet) as shown:
        level = config.log_level if verbose else "ERROR"
        signalled = run(partial(_audit_all, requests, config, outcomes, shown, level))
    code = _hand_out(outcomes, json_file, html_file, quiet=quiet)
    sys.exit(signalled or code or verdict(outcomes, fail_on))


def verdict(outcomes: Sequence[Outcome], fail_on: Severity | None) -> int:
    """Return the exit code that ``outcomes`` deserve."""
    if any(outcome.report is None for outcome in outcomes):
        return COULD_NOT
    if fail_on is None:
        return CLEAN
    failing = SEVERITIES[: SEVERITIES.index(fail_on) + 1]  # most severe first
    reports = [outcome.report for outcome in outcomes if outcome.report]
    found = any(
        finding.severity in failing for report in reports for finding in report.findings
    )
    return FINDINGS if found else CLEAN


def _requests(
    urls: Sequence[str],
    config: Config,
    *,
    depth: int,
    timeout: float | None,
    no_screenshots: bool,
    categories: tuple[Any, ...],
    **same: Any,
) -> list[AuditRequest]:
    default_ms = AuditRequest(url="").timeout_ms
    seconds = config.timeout_s(timeout and timeout * 1000, default_ms)
    arguments = {
        "max_depth": depth,
        "timeout_ms": round(seconds * 1000),
        "include_screenshots": not no_screenshots,
        "categories": categories or CATEGORIES,
        **same,
    }
    if timeout and seconds < timeout:
        click.echo(f"--timeout is cut to {seconds:g} s by MAX_TIMEOUT_MS", err=True)
    return [AuditRequest(url=with_scheme(url), **arguments) for url in urls]


def with_scheme(url: str) -> str:
    """Return ``url``, with a scheme if it is a bare host as people type it.

    Names get ``https``; ``localhost`` and numeric addresses, which rarely have a
    certificate, get ``http``.
    """
    bare = re.match(r"([\w.-]+)(:\d+)?(/|\?|#|$)", url)
    if not bare:
        return url
    own = bare[1] == "localhost" or re.fullmatch(r"[\d.]+", bare[1])
    return f"http://{url}" if own else f"https://{url}"


async def _audit_all(
    requests: Sequence[AuditRequest],
    config: Config,
    outcomes: list[Outcome],
    shown: Display,
    level: str,
) -> None:
    """Audit one after the other; what is done stands in ``outcomes`` even if cancelled."""
    from vfa.engine import open_engine
    from vfa.log import to_stderr

    try:
        with to_stderr(level):
            async with open_engine(config) as engine:
                for request in requests:
                    with shown.audit(request.url) as progress:
                        outcomes.append(await _audit(engine, request, progress))
    except ExceptionGroup as group:  # the engine itself gave up
        expected, bugs = group.split(VfaError)
        if bugs or not expected:
            raise
        error = next(leaf for leaf in leaves(expected) if isinstance(leaf, VfaError))
        left = requests[len(outcomes) :]
        outcomes.extend(Outcome(request.url, error=error) for request in left)


async def _audit(
    engine: Engine, request: AuditRequest, progress: Callable[[Progress], None]
) -> Outcome:
    try:
        return Outcome(request.url, report=await engine.audit(request, progress=progress))
    except VfaError as error:
        return Outcome(request.url, error=error)


def _hand_out(
    outcomes: Sequence[Outcome], json_file: str | None, html_file: str | None, *, quiet: bool
) -> int:
    """Print and write what was found; return the exit code of a failure to do so."""
    from vfa.cli.results import print_tables, write_html, write_json

    tables = not quiet and json_file != "-"
    for outcome in outcomes:
        _say_what_is_missing(outcome, in_table=tables)
    if tables:
        print_tables(outcomes)
    try:
        if html_file:
            _say_written(write_html(outcomes, html_file))
        if json_file:
            _say_written(write_json(outcomes, json_file))
    except OSError as error:
        click.secho(f"vfa: {error}", fg="red", err=True)
        return COULD_NOT
    return CLEAN


def _say_what_is_missing(outcome: Outcome, *, in_table: bool) -> None:
    if outcome.error:
        say(outcome.error, outcome.url)
        if isinstance(outcome.error, SsrfBlockedError):
            click.echo(f"  {LOCAL_HINT}", err=True)
    for gap in outcome.report.not_done if outcome.report and not in_table else ():
        click.secho(f"{outcome.url}: not done: {gap}", fg="yellow", err=True)


def _say_written(paths: Sequence[Path]) -> None:
    for path in paths:
        click.echo(f"Written: {path}", err=True)
