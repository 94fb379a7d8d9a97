"""Every setting: its variable, default, range, and where its value came from.

Settings come from environment variables, read once at start; a command-line option or an
embedder may override any of them. A value that cannot be used stops the start with a
sentence about it: a server that silently ignores a misspelt limit is worse than one that
does not start. ``vfa config`` prints this page with the values in force.

The unprefixed names are those of browser-mcp, with its meanings; ours begin with ``VFA_``.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

import msgspec

from vfa.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"", "0", "false", "no", "off"})

# What VFA_TOOLS may name; vfa/tools/families.py says which tools they are.
TOOL_FAMILIES = (
    "core",
    "qa",
    "tabs",
    "forms",
    "network",
    "storage",
    "emulate",
    "files",
    "find",
    "batch",
)


class Knob(msgspec.Struct, frozen=True):
    """What the environment calls a setting, and what may be said there."""

    variable: str
    text: str  # one sentence for people
    low: int | None = None
    high: int | None = None
    secret: bool = False  # never printed
    reserved: bool = False  # accepted and checked; nothing in this version reads it yet


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """All settings. Times are milliseconds where the name ends in ``_ms``."""

    # --- the browser ---
    chromium_path: Annotated[
        str,
        Knob("CHROMIUM_PATH", "Chromium or Chrome to run; empty: look in the usual places."),
    ] = ""
    cdp_url: Annotated[
        str,
        Knob(
            "VFA_CDP_URL",
            "Attach to this running browser (http://host:port or ws://…); start none.",
        ),
    ] = ""
    transport: Annotated[
        Literal["pipe", "websocket"],
        Knob("VFA_TRANSPORT", "How a browser that we start is driven."),
    ] = "pipe"
    sandbox: Annotated[
        Literal["auto", "on", "off"],
        Knob(
            "VFA_SANDBOX", "Chromium's sandbox; auto: on, except for root, where it cannot run."
        ),
    ] = "auto"
    chromium_args: Annotated[
        str,
        Knob(
            "VFA_CHROMIUM_ARGS", "More command-line flags for Chromium, split as a shell does."
        ),
    ] = ""
    profile_root: Annotated[
        str,
        Knob(
            "VFA_PROFILE_ROOT", "Where browser profiles live; empty: the temporary directory."
        ),
    ] = ""
    idle_shutdown_ms: Annotated[
        int,
        Knob(
            "IDLE_SHUTDOWN_MS", "Stop the browser after this long without a call; 0: never.", 0
        ),
    ] = 300_000

    # --- tools ---
    tools: Annotated[
        str,
        Knob(
            "VFA_TOOLS",
            "Families of tools that clients see, or all: " + ", ".join(TOOL_FAMILIES) + ".",
        ),
    ] = "core,qa,tabs,forms"

    # --- time ---
    navigation_timeout_ms: Annotated[
        int,
        Knob(
            "NAVIGATION_TIMEOUT_MS", "Default time of what loads a page or makes a file.", 100
        ),
    ] = 30_000
    tool_timeout_ms: Annotated[
        int, Knob("TOOL_TIMEOUT_MS", "Default time for the other browser tools.", 100)
    ] = 10_000
    max_timeout_ms: Annotated[
        int, Knob("MAX_TIMEOUT_MS", "The most time any call may ask for.", 100)
    ] = 120_000

    # --- limits ---
    queue_limit: Annotated[
        int, Knob("QUEUE_LIMIT", "State-changing calls that may run or wait on one tab.", 1, 64)
    ] = 8
    max_text_length: Annotated[
        int, Knob("MAX_TEXT_LENGTH", "Characters browser_get_text returns at most.", 1)
    ] = 1_000_000
    max_console_messages: Annotated[
        int, Knob("MAX_CONSOLE_MESSAGES", "Console messages kept for a page.", 1)
    ] = 500
    max_console_lines: Annotated[
        int, Knob("MAX_CONSOLE_LINES", "Console messages one browser_get_console returns.", 1)
    ] = 500
    max_screenshot_pixels: Annotated[
        int, Knob("MAX_SCREENSHOT_PIXELS", "Pixels of a screenshot; more are scaled down.", 1)
    ] = 16_000_000
    max_image_bytes: Annotated[
        int, Knob("MAX_IMAGE_BYTES", "Bytes of a screenshot; more are scaled down.", 1)
    ] = 10_000_000
    max_answer_chars: Annotated[
        int,
        Knob("VFA_MAX_ANSWER_CHARS", "Characters of text in one answer, pictures apart.", 1000),
    ] = 100_000
    max_snapshot_items: Annotated[
        int,
        Knob("MAX_SNAPSHOT_ITEMS", "Default item count of browser_snapshot.", 1),
    ] = 100
    max_eval_length: Annotated[
        int,
        Knob("MAX_EVAL_LENGTH", "Characters of a browser_evaluate expression, and result.", 1),
    ] = 100_000
    max_webgl_trace_length: Annotated[
        int,
        Knob("MAX_WEBGL_TRACE_LENGTH", "Characters browser_webgl_trace returns.", 1),
    ] = 100_000
    max_webgl_canvases: Annotated[
        int,
        Knob("MAX_WEBGL_CANVASES", "Canvases browser_canvas_info describes.", 1),
    ] = 50
    max_redirects: Annotated[
        int,
        Knob("MAX_REDIRECTS", "Chromium follows redirects by its own limit.", 0, reserved=True),
    ] = 20

    max_download_bytes: Annotated[
        int,
        Knob("VFA_MAX_DOWNLOAD_BYTES", "Bytes of a download; larger ones are cancelled.", 1),
    ] = 100_000_000

    # --- dialogs ---
    dialogs: Annotated[
        Literal["dismiss", "accept", "ask"],
        Knob(
            "VFA_DIALOGS",
            "What happens to a page's dialogs; ask: browser_handle_dialog answers them.",
        ),
    ] = "dismiss"

    # --- policy ---
    allow_local_host: Annotated[
        bool,
        Knob("VFA_ALLOW_LOCAL_HOST", "Let qa_* tools reach loopback and private addresses."),
    ] = False
    allow_private_networks: Annotated[
        bool, Knob("ALLOW_PRIVATE_NETWORKS", "Let browser_* tools reach private addresses.")
    ] = False
    enable_eval_js: Annotated[bool, Knob("ENABLE_EVAL_JS", "Allow browser_evaluate.")] = False
    enable_webgl_shim: Annotated[
        bool, Knob("ENABLE_WEBGL_SHIM", "Allow browser_webgl_shim.")
    ] = False
    blocked_ports: Annotated[
        str,
        Knob(
            "VFA_BLOCKED_PORTS",
            "Ports that nothing is asked of, by commas; those of mail by default.",
        ),
    ] = "25,110,143,465,587,993,995,2525"
    allow_navigate: Annotated[
        str,
        Knob(
            "VFA_ALLOW_NAVIGATE",
            "Hosts that documents may come from, by commas (example.com, *.example.com, "
            "example.com:8080); empty: any.",
        ),
    ] = ""
    deny_navigate: Annotated[
        str, Knob("VFA_DENY_NAVIGATE", "Hosts that no document may come from.")
    ] = ""
    allow_requests: Annotated[
        str, Knob("VFA_ALLOW_REQUESTS", "Hosts that may be asked for anything; empty: any.")
    ] = ""
    deny_requests: Annotated[
        str, Knob("VFA_DENY_REQUESTS", "Hosts that are asked for nothing.")
    ] = ""
    hosts: Annotated[
        str,
        Knob(
            "VFA_HOSTS",
            "Addresses of names, by commas: shop.test=127.0.0.1, *.cdn.test=- (there is none), "
            "*=- (no other name exists).",
        ),
    ] = ""
    proxy_dns: Annotated[
        Literal["engine", "upstream"],
        Knob(
            "VFA_PROXY_DNS",
            "Behind a proxy (HTTP_PROXY, HTTPS_PROXY), who resolves names. What the proxy "
            "resolves cannot be checked.",
        ),
    ] = "engine"
    license_public_key: Annotated[
        str,
        Knob(
            "VFA_LICENSE_PUBLIC_KEY",
            "Demand a licence for audits, signed with this Ed25519 key; empty: none is needed.",
        ),
    ] = ""
    license_key: Annotated[
        str, Knob("VFA_LICENSE_KEY", "The licence, where one is demanded.", secret=True)
    ] = ""
    license_registry: Annotated[
        str,
        Knob(
            "VFA_LICENSE_REGISTRY",
            "File where installations note their seats; empty: in the user's state folder.",
        ),
    ] = ""

    # --- audits ---
    error_buffer: Annotated[
        int, Knob("VFA_ERROR_BUFFER", "Entries kept for qa_get_runtime_errors.", 1)
    ] = 1000
    max_findings: Annotated[
        int, Knob("VFA_MAX_FINDINGS", "Findings in one result; the rest is counted.", 1)
    ] = 100
    screenshots: Annotated[
        Literal["inline", "image", "path"],
        Knob(
            "VFA_SCREENSHOTS",
            "Audit pictures: base64 in the JSON, MCP image content, or paths of files only.",
        ),
    ] = "inline"
    screenshot_max_side: Annotated[
        int, Knob("VFA_SCREENSHOT_MAX_SIDE", "Pixels of an audit picture's longer side.", 64)
    ] = 1568
    screenshot_max_bytes: Annotated[
        int, Knob("VFA_SCREENSHOT_MAX_BYTES", "Bytes of an audit picture, about.", 4096)
    ] = 150_000

    # --- the encoder ---
    encoder_memory_mb: Annotated[
        int, Knob("VFA_ENCODER_MEMORY_MB", "Memory the picture process may use.", 128)
    ] = 768
    encoder_idle_ms: Annotated[
        int,
        Knob("VFA_ENCODER_IDLE_MS", "Stop the picture process after this long unused.", 100),
    ] = 30_000

    # --- output ---
    output_dir: Annotated[str, Knob("OUTPUT_DIR", "The only folder that tools write to.")] = (
        "./screenshots"
    )
    upload_roots: Annotated[
        str,
        Knob(
            "VFA_UPLOAD_ROOTS",
            "Folders whose files browser_upload may give to pages, separated as in PATH; "
            "empty: OUTPUT_DIR only.",
        ),
    ] = ""
    log_level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"],
        Knob("LOG_LEVEL", "What is said on stderr."),
    ] = "INFO"

    def timeout_s(self, asked_ms: float | None, default_ms: int) -> float:
        """Return the seconds a call gets: what it asked for or the default, within the cap."""
        wanted = default_ms if asked_ms is None or not asked_ms > 0 else asked_ms
        return min(max(wanted, 100), self.max_timeout_ms) / 1000

    @property
    def output_path(self) -> Path:
        """``OUTPUT_DIR`` as an absolute path."""
        return Path(self.output_dir).absolute()

    @property
    def upload_paths(self) -> tuple[Path, ...]:
        """The folders that files may be uploaded from, absolute."""
        named = [part for part in self.upload_roots.split(os.pathsep) if part.strip()]
        return tuple(Path(part).absolute() for part in named) or (self.output_path,)


class Line(msgspec.Struct, frozen=True):
    """One setting as ``vfa config`` shows it."""

    field: str
    knob: Knob
    value: Any
    default: Any
    source: str  # "default", "environment", or what overrode both


def load(
    environ: Mapping[str, str] | None = None, overrides: Mapping[str, Any] | None = None
) -> Config:
    """Return the settings in force.

    Args:
        environ: Environment variables; the process's own if None.
        overrides: Values by field name that win over the environment; None means "not given".

    Raises:
        ConfigError: A value cannot be used; all of them are named at once.
    """
    given, problems = _given(os.environ if environ is None else environ)
    given |= {name: value for name, value in (overrides or {}).items() if value is not None}
    if not problems:
        problems = _inconsistencies(given)
    if problems:
        raise ConfigError("\n".join(problems), hint="`vfa config` explains every setting.")
    return Config(**given)


def explain(
    environ: Mapping[str, str] | None = None, overrides: Mapping[str, Any] | None = None
) -> list[Line]:
    """Return every setting with its value, default and source, in reading order."""
    environ = os.environ if environ is None else environ
    config = load(environ, overrides)
    given, _ = _given(environ)
    defaults = Config()
    lines = []
    for field, knob in knobs().items():
        source = "environment" if field in given else "default"
        if (overrides or {}).get(field) is not None:
            source = "option"
        lines.append(
            Line(field, knob, getattr(config, field), getattr(defaults, field), source)
        )
    return lines


def knobs() -> dict[str, Knob]:
    """Return each field's knob, in the order of the class."""
    return {name: hint.__metadata__[0] for name, hint in _hints().items()}


def _hints() -> dict[str, Any]:
    hints = get_type_hints(Config, include_extras=True)
    return {name: hints[name] for name in Config.__struct_fields__}


def _given(environ: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Read the variables that are set; return field values and what is wrong."""
    given: dict[str, Any] = {}
    problems: list[str] = []
    for field, hint in _hints().items():
        knob: Knob = hint.__metadata__[0]
        text = environ.get(knob.variable)
        if text is None or (text.strip() == "" and get_args(hint)[0] is not str):
            continue
        try:
            given[field] = _parse(text.strip(), hint.__origin__, knob)
        except ValueError as error:
            shown = "(not shown)" if knob.secret else repr(text)
            problems.append(f"{knob.variable}={shown}: {error}")
    return given, problems


def _parse(text: str, kind: Any, knob: Knob) -> Any:
    if kind is str:
        return text
    if kind is bool:
        return _parse_bool(text)
    if get_origin(kind) is Literal:
        for choice in get_args(kind):
            if text.lower() == choice.lower():
                return choice
        raise ValueError(f"expected one of {', '.join(get_args(kind))}")
    return _parse_int(text, knob)


def _parse_bool(text: str) -> bool:
    if text.lower() in TRUE_WORDS:
        return True
    if text.lower() in FALSE_WORDS:
        return False
    raise ValueError("expected 1, true, yes, on or 0, false, no, off")


def _parse_int(text: str, knob: Knob) -> int:
    try:
        number = int(float(text)) if text.lower() not in {"nan", "inf", "-inf"} else None
    except (ValueError, OverflowError):
        number = None
    if number is None:
        raise ValueError("expected a whole number")
    if knob.low is not None and number < knob.low and knob.variable == "IDLE_SHUTDOWN_MS":
        return 0  # documented: anything below zero switches it off, too
    if knob.low is not None and number < knob.low:
        raise ValueError(f"must be at least {knob.low}")
    if knob.high is not None and number > knob.high:
        raise ValueError(f"must be at most {knob.high}")
    return number


def _inconsistencies(given: Mapping[str, Any]) -> list[str]:
    problems = []
    url = given.get("cdp_url", "")
    if url and urlsplit(url).scheme not in {"http", "https", "ws", "wss"}:
        problems.append(f"VFA_CDP_URL={url!r}: expected http://host:port or ws://…")
    families = [word.strip().lower() for word in given.get("tools", "all").split(",")]
    unknown = [word for word in families if word not in {*TOOL_FAMILIES, "all"}]
    if unknown:
        problems.append(
            f"VFA_TOOLS={given['tools']!r}: there is no family {unknown[0]!r}; expected all, "
            f"or some of {', '.join(TOOL_FAMILIES)}"
        )
    return problems
