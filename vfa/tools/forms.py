"""The tools for forms: select_option, check, fill_form, upload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import trio
from msgspec import Meta

from vfa.errors import InvalidArgsError, VfaError
from vfa.page.files import allowed_files, upload
from vfa.page.forms import Field, Filled, Sent, Wish, check, choose, fill, submit
from vfa.page.locating import Target, check_target, steps_of
from vfa.tools.acting import MAX_TEXT, Ref, Selector
from vfa.tools.answer import Answer
from vfa.tools.fields import MAX_SELECTOR, TabNumber, TimeoutMs, dialogs, tool_time
from vfa.tools.table import Call, Hints, Tool

if TYPE_CHECKING:
    from vfa.engine import Engine
    from vfa.page.page import Page

MAX_CHOICES = 200
MAX_FIELDS = 50
MAX_FILES = 50
MAX_PATH = 4_096  # characters
MAX_LABEL = 500

Choice = Annotated[str, Meta(max_length=MAX_SELECTOR)]


def _target(selector: str, ref: str) -> Target:
    """Return what is named; refuse a selector that cannot be one before a browser starts."""
    target = check_target(selector, ref)
    if selector:
        steps_of(selector)
    return target


def _about(target: Target, ref: str, matches: int) -> dict[str, Any]:
    told: dict[str, Any] = {"selector": target.selector or None, "ref": ref}
    if matches > 1:
        told["matches"] = matches
    return told


# --- browser_select_option -------------------------------------------------------------


class SelectOptionArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_select_option``."""

    selector: Selector = ""
    ref: Ref = ""
    labels: Annotated[
        tuple[Choice, ...], Meta(max_length=MAX_CHOICES, description="As shown.")
    ] = ()
    values: Annotated[tuple[Choice, ...], Meta(max_length=MAX_CHOICES)] = ()
    indexes: Annotated[
        tuple[Annotated[int, Meta(ge=0, le=100_000)], ...], Meta(max_length=MAX_CHOICES)
    ] = ()
    none: Annotated[bool, Meta(description="Select nothing.")] = False
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


async def run_select_option(
    engine: Engine, arguments: SelectOptionArguments, call: Call
) -> Answer:
    """Choose options of a list."""
    target = _target(arguments.selector, arguments.ref)
    wish = Wish(arguments.values, arguments.labels, arguments.indexes)
    if (wish != Wish()) == arguments.none:
        raise InvalidArgsError(
            "Provide at least one of labels, values and indexes; or none: true, alone"
        )
    session = engine.tab(arguments.tab)
    chosen = await session.act(lambda page: choose(page, target, wish))
    value = {
        "selected": list(chosen.selected),
        "labels": list(chosen.labels),
        "changed": chosen.changed,
        **_about(target, chosen.ref, chosen.matches),
    }
    return Answer(value=value | chosen.effects.as_fields() | dialogs(session))


# --- browser_check ---------------------------------------------------------------------


class CheckArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_check``."""

    selector: Selector = ""
    ref: Ref = ""
    checked: bool = True
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


async def run_check(engine: Engine, arguments: CheckArguments, call: Call) -> Answer:
    """Check or uncheck a box, a radio button or a switch."""
    target = _target(arguments.selector, arguments.ref)
    session = engine.tab(arguments.tab)
    done = await session.act(lambda page: check(page, target, checked=arguments.checked))
    value = {
        "checked": done.checked,
        "changed": done.changed,
        "kind": done.kind,
        **_about(target, done.ref, done.matches),
    }
    return Answer(value=value | done.effects.as_fields() | dialogs(session))


# --- browser_fill_form -----------------------------------------------------------------


class FieldArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A field by label, selector or ref, and what it is to hold."""

    label: Annotated[str, Meta(max_length=MAX_LABEL)] = ""
    selector: Annotated[str, Meta(max_length=MAX_SELECTOR)] = ""
    ref: Annotated[str, Meta(max_length=100)] = ""
    value: Annotated[str, Meta(max_length=MAX_TEXT)] | msgspec.UnsetType = msgspec.UNSET
    checked: bool | msgspec.UnsetType = msgspec.UNSET
    option: Annotated[str, Meta(max_length=MAX_SELECTOR)] | msgspec.UnsetType = msgspec.UNSET


class FillFormArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_fill_form``."""

    fields: Annotated[
        tuple[FieldArguments, ...],
        Meta(
            min_length=1,
            max_length=MAX_FIELDS,
            description="By label, selector or ref. value: text, date, option, radio; "
            "checked: boxes.",
        ),
    ]
    submit: bool = False
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


async def run_fill_form(engine: Engine, arguments: FillFormArguments, call: Call) -> Answer:
    """Fill the fields one after the other; stop at the first that fails."""
    fields = [_read_field(number, given) for number, given in enumerate(arguments.fields, 1)]
    session = engine.tab(arguments.tab)
    filled: list[Filled] = []

    async def fill_all(page: Page) -> Sent | None:
        filled.clear()
        for field in fields:
            try:
                filled.append(await fill(page, field))
            except VfaError as error:
                raise _stopped(error, fields, len(filled)) from error
        return await _submit(page, filled[-1].ref) if arguments.submit else None

    sent = await session.act(fill_all)
    outcomes = zip(fields, filled, strict=True)
    value: dict[str, Any] = {"filled": [_outcome(field, done) for field, done in outcomes]}
    for done in filled:
        value |= done.effects.as_fields()
    if sent is not None:
        value |= {"submitted": True, "by": sent.by} | sent.effects.as_fields()
    return Answer(value=value | dialogs(session))


async def _submit(page: Page, ref: str) -> Sent:
    try:
        return await submit(page, ref)
    except VfaError as error:
        error.message = f"All fields are filled, but the form was not sent: {error.message}"
        raise


def _read_field(number: int, given: FieldArguments) -> Field:
    """Return a field's arguments in order.

    Raises:
        InvalidArgsError: They name it twice or not at all, or say not what it is to hold.
    """
    where = f"fields[{number - 1}]"
    names = [name for name in ("label", "selector", "ref") if getattr(given, name)]
    if len(names) != 1:
        raise InvalidArgsError(f"{where}: provide exactly one of label, selector and ref")
    kinds = ("value", "checked", "option")
    said = {
        kind: getattr(given, kind)
        for kind in kinds
        if getattr(given, kind) is not msgspec.UNSET
    }
    if len(said) != 1:
        raise InvalidArgsError(f"{where}: provide exactly one of value, checked and option")
    if given.label and not given.label.strip():
        raise InvalidArgsError(f"{where}: the label is empty")
    target = None if given.label else _target(given.selector, given.ref)
    return Field(target, given.label, **said)


def _outcome(field: Field, filled: Filled) -> dict[str, Any]:
    told: dict[str, Any] = {"field": str(field), "ref": filled.ref, "kind": filled.kind}
    if filled.final_length is not None:
        told["finalLength"] = filled.final_length
    elif filled.selected:
        told["selected"] = list(filled.selected)
    else:
        told["checked"] = filled.checked
    if filled.note:
        told["note"] = filled.note
    return told


def _stopped(error: VfaError, fields: list[Field], done: int) -> VfaError:
    """Return the error of a field with what was done before it."""
    before = ", ".join(str(field) for field in fields[:done])
    error.message = (
        f"Field {done + 1} of {len(fields)} ({fields[done]}) was not filled: {error.message}\n"
        f"Filled before it: {before or 'none'}."
    )
    return error


# --- browser_upload --------------------------------------------------------------------


class UploadArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of ``browser_upload``."""

    paths: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=MAX_PATH)], ...],
        Meta(min_length=1, max_length=MAX_FILES),
    ]
    selector: Selector = ""
    ref: Ref = ""
    tab: TabNumber = 0
    timeout_ms: TimeoutMs = 0


async def run_upload(engine: Engine, arguments: UploadArguments, call: Call) -> Answer:
    """Give files to a page, if they lie where files may be uploaded from."""
    target = _target(arguments.selector, arguments.ref)
    roots = engine.config.upload_paths
    files = await trio.to_thread.run_sync(
        allowed_files, arguments.paths, roots, abandon_on_cancel=True
    )
    session = engine.tab(arguments.tab)
    done = await session.act(lambda page: upload(page, target, files))
    value: dict[str, Any] = {
        "uploaded": True,
        "files": [{"path": str(file.path), "size": file.size} for file in files],
        "names": list(done.names),
        "through": done.through,
        **_about(target, done.ref, done.matches),
    }
    if done.note:
        value["note"] = done.note
    return Answer(value=value | done.effects.as_fields() | dialogs(session))


# --- the table --------------------------------------------------------------------------

FORMS: tuple[Tool, ...] = (
    Tool(
        name="browser_select_option",
        description="Choose options of a list: a native select, a list box or a combo box.",
        hints=Hints(read_only=False, idempotent=True),
        arguments=SelectOptionArguments,
        run=run_select_option,
        default_timeout_ms=tool_time,
        returns="`selected` (values), `labels`, `changed`, `selector`, `ref`.",
    ),
    Tool(
        name="browser_check",
        description="Check or uncheck a checkbox, radio button or switch, or its label.",
        hints=Hints(read_only=False, idempotent=True),
        arguments=CheckArguments,
        run=run_check,
        default_timeout_ms=tool_time,
        returns="`checked` (null: the click led to another page), `changed`, `kind`, "
        "`selector`, `ref`.",
    ),
    Tool(
        name="browser_fill_form",
        description="Fill several fields of any kind, in order; stops at the first that fails.",
        hints=Hints(read_only=False, destructive=True),
        arguments=FillFormArguments,
        run=run_fill_form,
        default_timeout_ms=tool_time,
        returns="`filled`: for each field `field`, `ref`, `kind`, and `finalLength`, `checked` "
        "or `selected`; with submit `submitted` and `by`.",
    ),
    Tool(
        name="browser_upload",
        description="Give files to a file input, or to the chooser that an element opens. "
        "Only files below OUTPUT_DIR or VFA_UPLOAD_ROOTS.",
        hints=Hints(read_only=False, destructive=True),
        arguments=UploadArguments,
        run=run_upload,
        default_timeout_ms=tool_time,
        returns="`uploaded` (true), `files` (`path`, `size`), `names` as the page sees them, "
        "`through` (input or chooser), `note`.",
    ),
)
