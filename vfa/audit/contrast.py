"""The contrast of two colours. Source: WCAG 2.2, "relative luminance" and "contrast ratio"."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vfa.audit.evidence import Colour

LARGE_SIZE = 24.0  # CSS pixels: 18 pt. WCAG 2.2, "large scale text"
LARGE_BOLD_SIZE = 18.66  # CSS pixels: 14 pt
BOLD = 700


def contrast_ratio(one: Colour, other: Colour) -> float:
    """Return a ratio from 1 (the same) to 21 (black and white); the order does not matter."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: Colour) -> float:
    """Return the relative luminance, 0 for black to 1 for white."""
    red, green, blue = (_linear(part / 255) for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def is_large(font_size: float, font_weight: int) -> bool:
    """Tell whether text counts as large scale."""
    return font_size >= LARGE_SIZE or (font_size >= LARGE_BOLD_SIZE and font_weight >= BOLD)


def hexadecimal(colour: Colour) -> str:
    """Return ``colour`` as ``#rrggbb``."""
    return "#" + "".join(f"{part:02x}" for part in colour)


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
