"""The keys of a US keyboard: what a name or a character means as a key.

Pure: knows no page. ``vfa.page.keyboard`` turns keys into input events. The layout is always
US English whatever the machine, as that is what a headless Chromium has; what no key of it
makes is inserted as text.

Source: UI Events ``KeyboardEvent`` key and code values; Windows virtual-key codes, which are
what ``keyCode`` is on every platform.
"""

from __future__ import annotations

import difflib
import unicodedata
from typing import TYPE_CHECKING

import msgspec

from vfa.errors import InvalidArgsError, KeyNotSupportedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LEFT, RIGHT, NUMPAD = 1, 2, 3  # KeyboardEvent.location
MODIFIERS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}  # CDP's bits
SHIFT = MODIFIERS["Shift"]
NO_TEXT = MODIFIERS["Alt"] | MODIFIERS["Control"] | MODIFIERS["Meta"]  # held, none is made

LONGEST_KEY = 20  # UTF-16 units; a grapheme, with all that may be joined to it
SHOWN = 40  # characters of an unknown name that are repeated


class Key(msgspec.Struct, frozen=True):
    """One key, in the state in which it makes ``key``."""

    key: str  # KeyboardEvent.key
    code: str = ""  # KeyboardEvent.code; "" where the layout has no such key
    key_code: int = 0  # Windows virtual-key code
    text: str = ""  # what it types; "" for keys that type nothing
    location: int = 0
    shift: bool = False  # Shift must be held for it

    @property
    def modifier(self) -> int:
        """The bit that this key sets while it is held."""
        return MODIFIERS.get(self.key, 0)


class Chord(msgspec.Struct, frozen=True):
    """A key and the modifiers that are held for it."""

    key: Key
    modifiers: tuple[str, ...]  # names, in the order in which they go down

    @property
    def bits(self) -> int:
        """The modifiers as CDP counts them."""
        return modifier_bits(self.modifiers)


# --- the layout -------------------------------------------------------------------------

# code, virtual-key code, plain character, shifted character
_PUNCTUATION = (
    ("Backquote", 192, "`", "~"),
    ("Minus", 189, "-", "_"),
    ("Equal", 187, "=", "+"),
    ("BracketLeft", 219, "[", "{"),
    ("BracketRight", 221, "]", "}"),
    ("Backslash", 220, "\\", "|"),
    ("Semicolon", 186, ";", ":"),
    ("Quote", 222, "'", '"'),
    ("Comma", 188, ",", "<"),
    ("Period", 190, ".", ">"),
    ("Slash", 191, "/", "?"),
)
_SHIFTED_DIGITS = ")!@#$%^&*("

# Keys that are named by what they do. Key, code, virtual-key code, text, location.
_NAMED = (
    Key("Enter", "Enter", 13, "\r"),
    Key("Tab", "Tab", 9),
    Key("Escape", "Escape", 27),
    Key("Backspace", "Backspace", 8),
    Key("Delete", "Delete", 46),
    Key("Insert", "Insert", 45),
    Key("ArrowUp", "ArrowUp", 38),
    Key("ArrowDown", "ArrowDown", 40),
    Key("ArrowLeft", "ArrowLeft", 37),
    Key("ArrowRight", "ArrowRight", 39),
    Key("Home", "Home", 36),
    Key("End", "End", 35),
    Key("PageUp", "PageUp", 33),
    Key("PageDown", "PageDown", 34),
    Key(" ", "Space", 32, " "),
    Key("Shift", "ShiftLeft", 16, location=LEFT),
    Key("Control", "ControlLeft", 17, location=LEFT),
    Key("Alt", "AltLeft", 18, location=LEFT),
    Key("Meta", "MetaLeft", 91, location=LEFT),
    Key("Shift", "ShiftRight", 16, location=RIGHT),
    Key("Control", "ControlRight", 17, location=RIGHT),
    Key("Alt", "AltRight", 18, location=RIGHT),
    Key("Meta", "MetaRight", 92, location=RIGHT),
    Key("CapsLock", "CapsLock", 20),
    Key("NumLock", "NumLock", 144),
    Key("ScrollLock", "ScrollLock", 145),
    Key("Pause", "Pause", 19),
    Key("PrintScreen", "PrintScreen", 44),
    Key("ContextMenu", "ContextMenu", 93),
    Key("Help", "Help", 47),
    Key("Clear", "NumpadClear", 12, location=NUMPAD),
    *(Key(f"F{number}", f"F{number}", 111 + number) for number in range(1, 25)),
    *(Key(str(digit), f"Numpad{digit}", 96 + digit, str(digit), NUMPAD) for digit in range(10)),
    Key("*", "NumpadMultiply", 106, "*", NUMPAD),
    Key("+", "NumpadAdd", 107, "+", NUMPAD),
    Key("-", "NumpadSubtract", 109, "-", NUMPAD),
    Key(".", "NumpadDecimal", 110, ".", NUMPAD),
    Key("/", "NumpadDivide", 111, "/", NUMPAD),
    Key("Enter", "NumpadEnter", 13, "\r", NUMPAD),
    Key("BrowserBack", "BrowserBack", 166),
    Key("BrowserForward", "BrowserForward", 167),
    Key("BrowserRefresh", "BrowserRefresh", 168),
    Key("AudioVolumeMute", "AudioVolumeMute", 173),
    Key("AudioVolumeDown", "AudioVolumeDown", 174),
    Key("AudioVolumeUp", "AudioVolumeUp", 175),
    Key("MediaTrackNext", "MediaTrackNext", 176),
    Key("MediaTrackPrevious", "MediaTrackPrevious", 177),
    Key("MediaStop", "MediaStop", 178),
    Key("MediaPlayPause", "MediaPlayPause", 179),
)

# What people and models also call a key. Compared without case, blanks, "-" and "_".
_ALIASES = {
    "esc": "Escape",
    "return": "Enter",
    "newline": "Enter",
    "spacebar": "Space",
    "del": "Delete",
    "ins": "Insert",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "uparrow": "ArrowUp",
    "downarrow": "ArrowDown",
    "leftarrow": "ArrowLeft",
    "rightarrow": "ArrowRight",
    "pgup": "PageUp",
    "pgdn": "PageDown",
    "pgdown": "PageDown",
    "ctrl": "Control",
    "cmd": "Meta",
    "command": "Meta",
    "super": "Meta",
    "win": "Meta",
    "windows": "Meta",
    "option": "Alt",
    "opt": "Alt",
    # The key of shortcuts: Command on a Mac, Control here, whatever the machine.
    "controlormeta": "Control",
    "apps": "ContextMenu",
    "menu": "ContextMenu",
    "plus": "+",
    "hyphen": "-",
    "dash": "-",
    "dot": ".",
}


def _characters() -> Iterator[Key]:
    for letter in "abcdefghijklmnopqrstuvwxyz":
        code, key_code = f"Key{letter.upper()}", ord(letter.upper())
        yield Key(letter, code, key_code, letter)
        yield Key(letter.upper(), code, key_code, letter.upper(), shift=True)
    for digit, shifted in enumerate(_SHIFTED_DIGITS):
        code, key_code = f"Digit{digit}", ord("0") + digit
        yield Key(str(digit), code, key_code, str(digit))
        yield Key(shifted, code, key_code, shifted, shift=True)
    for code, key_code, plain, shifted in _PUNCTUATION:
        yield Key(plain, code, key_code, plain)
        yield Key(shifted, code, key_code, shifted, shift=True)
    yield Key(" ", "Space", 32, " ")


CHARACTERS = {key.key: key for key in _characters()}
_SHIFTED = {key.code: key for key in CHARACTERS.values() if key.shift}


def _fold(name: str) -> str:
    return "".join(name.split()).replace("-", "").replace("_", "").casefold()


def _by_name() -> dict[str, Key]:
    """Return keys by folded name: their key value first, then their code."""
    names: dict[str, Key] = {}
    for key in _NAMED:
        if len(key.key) > 1:
            names.setdefault(_fold(key.key), key)
    for key in (*_NAMED, *(key for key in CHARACTERS.values() if not key.shift)):
        names.setdefault(_fold(key.code), key)
    return names


_NAMES = _by_name()

# What an error offers: the names of the contract first.
NAMES = (
    *("Enter", "Tab", "Escape", "Backspace", "Delete", "Insert", "Space"),
    *("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown"),
    *("Shift", "Control", "Alt", "Meta", "CapsLock", "ContextMenu", "F1 to F24"),
    *("Numpad0 to Numpad9", "NumpadAdd", "NumpadEnter"),
)


# --- names ------------------------------------------------------------------------------


def find_key(name: str) -> Key:
    """Return the key of a name ("Enter", "pgdn", "KeyK", "Numpad7") or of one character.

    Raises:
        KeyNotSupportedError: No key has that name; the message lists names.
    """
    if name in CHARACTERS:
        return CHARACTERS[name]
    folded = _fold(name)
    alias = _ALIASES.get(folded, "")
    if (key := CHARACTERS.get(alias) or _NAMES.get(_fold(alias) or folded)) is not None:
        return key
    if name in {"\n", "\r", "\r\n"}:
        return _NAMES["enter"]
    if name == "\t":
        return _NAMES["tab"]
    if is_one_character(name):
        return Key(name, text=name)
    raise KeyNotSupportedError(
        f"Unsupported key {name[:SHOWN]!r}. Use one character or one of: {', '.join(NAMES)}",
        hint=_suggestion(folded) + "Chords are written Control+Shift+K.",
    )


def find_chord(name: str, modifiers: Iterable[str] = ()) -> Chord:
    """Return what "Control+Shift+K" means, with ``modifiers`` held as well.

    The last part is the key, and may be a plus sign: "Control++".

    Raises:
        KeyNotSupportedError: No key has that name.
        InvalidArgsError: One of the modifiers is none.
    """
    held = [find_modifier(modifier) for modifier in modifiers]
    *before, last = _parts(name)
    if before:
        # A name with a typo in its key is told as that, not as one with a wrong modifier.
        key = find_key(last)
        held += [find_modifier(part) for part in before]
    else:
        key = find_key(name)
    return Chord(_with_shift(key, held), tuple(dict.fromkeys(held)))


def find_modifier(name: str) -> str:
    """Return the modifier that ``name`` means: Alt, Control, Meta or Shift.

    Raises:
        InvalidArgsError: It is none.
    """
    folded = _fold(name)
    found = _ALIASES.get(folded, folded.capitalize())
    if found not in MODIFIERS:
        raise InvalidArgsError(
            f"Unknown modifier {name[:SHOWN]!r}: use {', '.join(MODIFIERS)}",
        )
    return found


def modifier_bits(names: Iterable[str]) -> int:
    """Return the modifiers as CDP's bit mask."""
    bits = 0
    for name in names:
        bits |= MODIFIERS[name]
    return bits


def modifier_keys(bits: int) -> tuple[Key, ...]:
    """Return the keys that set ``bits``, in the order in which they go down."""
    return tuple(_NAMES[_fold(name)] for name, bit in MODIFIERS.items() if bits & bit)


def _parts(name: str) -> list[str]:
    """Split a chord; a plus at its end is the key, not a separator."""
    if len(name) < 2 or "+" not in name:
        return [name]
    if name.endswith("++"):
        return [*(part.strip() for part in name[:-2].split("+")), "+"]
    parts = name.split("+")
    # " " is a key; blanks around the names of others are not.
    return [*(part.strip() for part in parts[:-1]), parts[-1].strip() or parts[-1]]


def _with_shift(key: Key, held: list[str]) -> Key:
    """Return what the key makes while Shift is held: Shift and 1 are an exclamation mark."""
    if "Shift" not in held or key.location == NUMPAD:
        return key
    return _SHIFTED.get(key.code, key)


def _suggestion(folded: str) -> str:
    near = difflib.get_close_matches(folded, [*_NAMES, *_ALIASES], n=1, cutoff=0.7)
    if not near:
        return ""
    key = find_key(near[0])
    return f"Did you mean {key.code if key.key == ' ' or key.location else key.key}? "


# --- text -------------------------------------------------------------------------------

_ZERO_WIDTH_JOINER = "\u200d"


def graphemes(text: str) -> list[str]:
    """Split ``text`` into what a reader takes for characters; joined, they are ``text``.

    A close approximation of UAX 29 extended grapheme clusters: combining marks, joined
    emoji, skin tones, flags, tags and Hangul syllables stay together.
    """
    clusters: list[str] = []
    for character in text:
        if clusters and _continues(clusters[-1], character):
            clusters[-1] += character
        else:
            clusters.append(character)
    return clusters


def utf16_length(text: str) -> int:
    """Return the length of ``text`` as JavaScript and Chromium count it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def is_one_character(text: str) -> bool:
    """Say whether ``text`` is one visible character, however many code points it takes."""
    return (
        0 < len(text) <= LONGEST_KEY
        and len(graphemes(text)) == 1
        and unicodedata.category(text[0]) not in {"Cc", "Cs", "Cn"}
    )


def _continues(before: str, character: str) -> bool:
    last = before[-1]
    if last == "\r":
        return character == "\n"
    if character.isascii() or last == "\n":
        return False
    return (
        _extends(character)
        or (last == _ZERO_WIDTH_JOINER and len(before) > 1)
        or _completes_flag(before, character)
        or _completes_syllable(last, character)
    )


def _extends(character: str) -> bool:
    return (
        character == _ZERO_WIDTH_JOINER
        or unicodedata.category(character) in {"Mn", "Me", "Mc"}
        or "\U0001f3fb" <= character <= "\U0001f3ff"  # skin tones
        or "\U000e0020" <= character <= "\U000e007f"  # tags
    )


def _completes_flag(before: str, character: str) -> bool:
    def is_indicator(letter: str) -> bool:
        return "\U0001f1e6" <= letter <= "\U0001f1ff"

    return is_indicator(character) and len(before) == 1 and is_indicator(before)


def _completes_syllable(last: str, character: str) -> bool:
    """Join conjoining jamo: leading consonant, vowel, trailing consonant."""
    leads = "\u1100" <= last <= "\u115f"
    is_vowel = "\u1160" <= character <= "\u11a7"
    is_tail = "\u11a8" <= character <= "\u11ff"
    if leads:
        return "\u1100" <= character <= "\u11a7" or "\uac00" <= character <= "\ud7a3"
    if "\u1160" <= last <= "\u11a7" or "\uac00" <= last <= "\ud7a3":
        return is_vowel or is_tail
    return is_tail and "\u11a8" <= last <= "\u11ff"
