"""Characters of Microsoft's picture fonts, which have no meaning without their font."""

from typing import Final

# The last byte of a character, since files write it with and without the private-use prefix F0. Only what
# says something: yes, no, an arrow, a bullet, a relation.
SYMBOLS: Final[dict[str, dict[int, str]]] = {
    "wingdings": {
        0x6C: "●", 0x6E: "■", 0x6F: "□", 0x71: "❑", 0x72: "❒", 0x75: "◆", 0x76: "❖", 0x78: "☒", 0xA7: "▪",
        0xA8: "☐", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xFB: "✗", 0xFC: "✓",
        0xFD: "☒", 0xFE: "☑",
    },
    "wingdings 2": {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "☐"},
    "symbol": {
        0xA3: "≤", 0xA5: "∞", 0xAB: "↔", 0xAC: "←", 0xAD: "↑", 0xAE: "→", 0xAF: "↓", 0xB0: "°", 0xB1: "±",
        0xB3: "≥", 0xB4: "×", 0xB7: "•", 0xB9: "≠", 0xBB: "≈", 0xD6: "√",
    },
}  # fmt: skip
