"""What names and characters mean as keys of a US keyboard."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vfa.errors import InvalidArgsError, KeyNotSupportedError
from vfa.page.keys import (
    CHARACTERS,
    MODIFIERS,
    NAMES,
    find_chord,
    find_key,
    find_modifier,
    graphemes,
    is_one_character,
    modifier_bits,
    modifier_keys,
)

# Keys of the editing block by virtual-key code: no character may be taken for one.
EDITING = range(33, 47)


def test_every_printable_ascii_character_has_a_key():
    assert set(CHARACTERS) == {chr(number) for number in range(32, 127)}


@pytest.mark.parametrize("character", string.punctuation)
def test_punctuation_is_never_an_editing_key(character):
    key = find_key(character)
    assert key.code
    assert key.text == key.key == character
    # 35 to 38 are letters' neighbours in ASCII: # $ % & must be digits with Shift instead.
    assert key.key_code not in EDITING


@pytest.mark.parametrize(
    ("character", "code", "key_code", "shift"),
    [
        (".", "Period", 190, False),
        ("'", "Quote", 222, False),
        ("(", "Digit9", 57, True),
        ("#", "Digit3", 51, True),
        ("$", "Digit4", 52, True),
        ("%", "Digit5", 53, True),
        ("&", "Digit7", 55, True),
        ('"', "Quote", 222, True),
        ("A", "KeyA", 65, True),
        ("a", "KeyA", 65, False),
        ("7", "Digit7", 55, False),
        ("~", "Backquote", 192, True),
        ("|", "Backslash", 220, True),
        ("?", "Slash", 191, True),
        (" ", "Space", 32, False),
        ("+", "Equal", 187, True),
    ],
)
def test_characters_have_the_key_of_a_us_keyboard(character, code, key_code, shift):
    key = find_key(character)
    assert (key.code, key.key_code, key.shift) == (code, key_code, shift)


@pytest.mark.parametrize(
    ("name", "key", "key_code"),
    [
        ("Enter", "Enter", 13),
        ("Tab", "Tab", 9),
        ("Escape", "Escape", 27),
        ("Esc", "Escape", 27),
        ("Backspace", "Backspace", 8),
        ("Delete", "Delete", 46),
        ("Insert", "Insert", 45),
        ("ArrowUp", "ArrowUp", 38),
        ("ArrowDown", "ArrowDown", 40),
        ("ArrowLeft", "ArrowLeft", 37),
        ("ArrowRight", "ArrowRight", 39),
        ("Home", "Home", 36),
        ("End", "End", 35),
        ("PageUp", "PageUp", 33),
        ("PageDown", "PageDown", 34),
        ("Space", " ", 32),
        ("Shift", "Shift", 16),
        ("Control", "Control", 17),
        ("Alt", "Alt", 18),
        ("Meta", "Meta", 91),
        ("CapsLock", "CapsLock", 20),
        ("F1", "F1", 112),
        ("F12", "F12", 123),
        ("F24", "F24", 135),
        ("ContextMenu", "ContextMenu", 93),
        ("Numpad5", "5", 101),
        ("NumpadEnter", "Enter", 13),
        ("KeyK", "k", 75),
        ("Digit0", "0", 48),
        ("Minus", "-", 189),
    ],
)
def test_named_keys(name, key, key_code):
    found = find_key(name)
    assert (found.key, found.key_code) == (key, key_code)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("enter", "Enter"),
        ("RETURN", "Enter"),
        ("page down", "PageDown"),
        ("page_down", "PageDown"),
        ("Page-Down", "PageDown"),
        ("pgdn", "PageDown"),
        ("up", "ArrowUp"),
        ("Arrow Left", "ArrowLeft"),
        ("del", "Delete"),
        ("ctrl", "Control"),
        ("cmd", "Meta"),
        ("option", "Alt"),
        ("spacebar", " "),
        ("\n", "Enter"),
        ("\t", "Tab"),
        ("plus", "+"),
    ],
)
def test_names_are_forgiving(name, key):
    assert find_key(name).key == key


def test_sides_and_numpad_are_told_by_location():
    assert find_key("Shift").location == 1
    assert find_key("ShiftRight").location == 2
    assert find_key("NumpadAdd").location == 3
    assert find_key("a").location == 0


@pytest.mark.parametrize("name", ["", "Entr", "Banana", "F25", "F0", "ab", "\x00", "\ud800"])
def test_an_unknown_key_is_refused_with_a_list_of_names(name):
    with pytest.raises(KeyNotSupportedError, match="Unsupported key") as caught:
        find_key(name)
    assert "Enter" in caught.value.message
    assert all(name in caught.value.message for name in NAMES)


def test_a_misspelt_key_is_told_what_was_probably_meant():
    with pytest.raises(KeyNotSupportedError) as caught:
        find_key("Backspce")
    assert "Did you mean Backspace?" in caught.value.hint


@pytest.mark.parametrize(
    "character", ["é", "ß", "ع", "漢", "😀", "👍🏽", "👨‍👩‍👧", "🇩🇪", "e\u0301"]
)
def test_what_no_key_makes_is_still_one_character(character):
    key = find_key(character)
    assert (key.key, key.text, key.code, key.key_code) == (character, character, "", 0)


# --- chords -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "modifiers", "key", "held"),
    [
        ("Control+Shift+K", (), "K", ("Control", "Shift")),
        ("ctrl+a", (), "a", ("Control",)),
        ("Control++", (), "+", ("Control",)),
        ("+", (), "+", ()),
        ("Shift+1", (), "!", ("Shift",)),
        ("1", ("Shift",), "!", ("Shift",)),
        ("a", ("Shift",), "A", ("Shift",)),
        ("Shift+Tab", (), "Tab", ("Shift",)),
        ("Control + Enter", (), "Enter", ("Control",)),
        ("Control+A", ("Control",), "A", ("Control",)),
        ("ControlOrMeta+c", (), "c", ("Control",)),
        ("Shift+Numpad1", (), "1", ("Shift",)),
        ("Alt+ArrowLeft", ("Meta",), "ArrowLeft", ("Meta", "Alt")),
        ("Control+ ", (), " ", ("Control",)),
    ],
)
def test_chords(name, modifiers, key, held):
    chord = find_chord(name, modifiers)
    assert (chord.key.key, chord.modifiers) == (key, held)


@pytest.mark.parametrize("modifier", ["Hyper", "", "Enter", "a"])
def test_an_unknown_modifier_is_refused_by_name(modifier):
    with pytest.raises(InvalidArgsError, match="Unknown modifier") as caught:
        find_modifier(modifier)
    assert "Alt, Control, Meta, Shift" in caught.value.message
    with pytest.raises(InvalidArgsError, match="Unknown modifier"):
        find_chord("a", [modifier])


def test_a_wrong_part_of_a_chord_is_named():
    with pytest.raises(InvalidArgsError, match="Unknown modifier 'Foo'"):
        find_chord("Foo+a")
    with pytest.raises(KeyNotSupportedError, match="Unsupported key 'Foo'"):
        find_chord("Control+Foo")


@given(st.sets(st.sampled_from(sorted(MODIFIERS))))
def test_modifiers_go_to_bits_and_back(names):
    bits = modifier_bits(names)
    assert {key.key for key in modifier_keys(bits)} == names
    assert bits == sum(key.modifier for key in modifier_keys(bits))


@given(st.text(max_size=30))
def test_any_text_is_a_key_or_is_refused_as_one(name):
    try:
        chord = find_chord(name)
    except (KeyNotSupportedError, InvalidArgsError):
        return
    assert chord.key.key


# --- graphemes --------------------------------------------------------------------------


@given(st.text())
def test_graphemes_joined_are_the_text(text):
    clusters = graphemes(text)
    assert "".join(clusters) == text
    assert all(clusters)


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_is_split_into_its_characters(text):
    assert graphemes(text.replace("\r\n", "")) == list(text.replace("\r\n", ""))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("مرحبا", 5),
        ("漢字", 2),
        ("👍🏽👍", 2),
        ("👨‍👩‍👧‍👦!", 2),
        ("🇩🇪🇫🇷", 2),
        ("🇩🇪🇫", 2),
        ("e\u0301a", 2),
        ("a\r\nb", 3),
        ("한글", 2),
        ("\u1112\u1161\u11ab", 1),
        ("🏴\U000e0067\U000e0062\U000e007f", 1),
        ("❤\ufe0f", 1),
        ("1\ufe0f\u20e3", 1),
    ],
)
def test_what_belongs_together_stays_together(text, count):
    assert len(graphemes(text)) == count


def test_one_character_may_take_many_code_points():
    assert is_one_character("👨‍👩‍👧‍👦")
    assert not is_one_character("ab")
    assert not is_one_character("")
    assert not is_one_character("a" + "\u0301" * 100)
