"""Lines of text in many scripts, of a seed."""

from __future__ import annotations

import random
import string
from collections.abc import Sequence

Ranges = Sequence[tuple[int, int]]

# First and last character of the letters of scripts.
SCRIPTS = {
    "latin": [(0x41, 0x5A), (0x61, 0x7A), (0xC0, 0x24F), (0x1E00, 0x1EFF)],
    "greek": [(0x370, 0x3FF), (0x1F00, 0x1FFF)],
    "cyrillic": [(0x400, 0x52F)],
    "armenian": [(0x531, 0x58A)],
    "hebrew": [(0x591, 0x5F4)],
    "arabic": [(0x600, 0x6FF), (0x750, 0x77F), (0xFB50, 0xFDFF), (0xFE70, 0xFEFC)],
    "syriac": [(0x700, 0x74F)],
    "devanagari": [(0x900, 0x97F)],
    "bengali": [(0x980, 0x9FE)],
    "tamil": [(0xB82, 0xBFA)],
    "telugu": [(0xC00, 0xC7F)],
    "malayalam": [(0xD00, 0xD7F)],
    "sinhala": [(0xD81, 0xDF4)],
    "thai": [(0xE01, 0xE5B)],
    "lao": [(0xE81, 0xEDF)],
    "tibetan": [(0xF00, 0xFDA)],
    "myanmar": [(0x1000, 0x109F)],
    "georgian": [(0x10A0, 0x10FF)],
    "ethiopic": [(0x1200, 0x139F)],
    "cherokee": [(0x13A0, 0x13FD)],
    "khmer": [(0x1780, 0x17F9)],
    "mongolian": [(0x1800, 0x18AA)],
    "kana": [(0x3041, 0x30FF), (0xFF66, 0xFF9D)],
    "han": [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF)],
    "hangul": [(0xAC00, 0xD7A3), (0x1100, 0x11FF)],
    "gothic": [(0x10330, 0x1034A)],
    "mathematical": [(0x1D400, 0x1D7FF)],
    "fullwidth": [(0xFF01, 0xFF5E)],
    "symbols": [(0x2000, 0x206F), (0x2070, 0x2BFF), (0x3000, 0x303F)],
    "private": [(0xE000, 0xF8FF), (0xF0000, 0xF0FFF)],
    "numbers": [(0x30, 0x39), (0x660, 0x669), (0x966, 0x96F), (0x2150, 0x218B), (0x2460, 0x249B)],
}
MARKS = [(0x300, 0x36F), (0x1AB0, 0x1ACE), (0x20D0, 0x20F0), (0xFE00, 0xFE0F)]
EMOJI = [
    "😀",
    "👍🏽",
    "👩‍👩‍👧‍👦",
    "🏳️‍🌈",
    "🇩🇪",
    "🇯🇵🇫🇷",
    "❤️",
    "1️⃣",
    "👨🏿‍🚀",
    "🧑🏻‍🤝‍🧑🏾",
    "🏴󠁧󠁢󠁳󠁣󠁴󠁿",
    "☺",
    "🫠",
    "🤷🏼‍♀️",
]
SPACES = [" ", "  ", "\t", "\n", "\r\n", "\n\n\n", "\u00a0", "\u2003", "\u3000", "\u200b"]
SPACES += ["\ufeff", "\u0085", "\u2028", "\x0b", "▁"]
TEXT = (
    "the of and don't I'LL we've Straße naïve co-operate 3.14159 1234567890 0xFF hello WORLD "
    "camelCase snake_case Привет мир γεια שלום مرحبا नमस्ते สวัสดี 你好世界 こんにちは 안녕하세요 "
    "e\u0301te\u0301 ﬁne Å Å \uff12\uff10\uff12\uff16 ½ ™ user@example.com "
    "https://example.com/a?b=c&d=%20 C:\\Users\\x $12.50 #tag @name ... !!! --- ``quoted'' "
    "“curly” \u2018single\u2019 'S 'Ll \u017f İstanbul"
)
WORDS = TEXT.split()
CODE = [
    "def f(x):\n    return x ** 2  # square\n",
    "for (int i = 0; i < n; ++i) {\n\t\tsum += a[i];\n\t}\n",
    '{"key": ["value", 1.5e-3, null], "ключ": true}',
    "SELECT * FROM t WHERE a='b' AND c<>\"d\";",
    '<div class="a">\n  &nbsp;<br/>\n</div>',
    "fn main() -> Result<(), Box<dyn Error>> { println!(\"{:?}\", 'a'..='z'); }",
    "\\frac{a}{b} \\left( x^{2} \\right)",
    "#!/bin/sh\nls -la | grep '^d' > /dev/null 2>&1\r\n",
]


def lines(seed: int, count: int, special: Sequence[str]) -> list[str]:
    """Make `count` lines; `special` are texts of special tokens that some hold."""
    chance = random.Random(seed)
    scripts = list(SCRIPTS.values())
    return [_line(chance, scripts, special) for _ in range(count)]


def _line(chance: random.Random, scripts: Sequence[Ranges], special: Sequence[str]) -> str:
    script = chance.choice(scripts)
    parts = []
    for _ in range(chance.randint(0, 14)):
        parts.append(_part(chance, script, special))
        if chance.random() < 0.75:
            parts.append(" " if chance.random() < 0.7 else chance.choice(SPACES))
    return "".join(parts)


def _part(chance: random.Random, script: Ranges, special: Sequence[str]) -> str:
    kind = chance.random()
    if kind < 0.34:
        return _word(chance, script, chance.randint(1, 10))
    if kind < 0.54:
        return chance.choice(WORDS)
    if kind < 0.62:
        return chance.choice(EMOJI) * chance.randint(1, 3)
    if kind < 0.67:
        letters = _word(chance, script, 5)
        return "".join(c + _word(chance, MARKS, chance.randint(0, 3)) for c in letters)
    if kind < 0.73:
        return chance.choice(CODE)
    if kind < 0.79:
        return chance.choice(SPACES) * chance.randint(1, 40)
    if kind < 0.83:
        return _word(chance, [(0, 0x1F), (0x7F, 0x9F)], chance.randint(1, 4))
    if kind < 0.91 and special:
        return chance.choice(special)
    if kind < 0.92:
        return _word(chance, script, chance.randint(100, 800))
    if kind < 0.93:
        return chance.choice("aAxX0-=_ é漢") * chance.randint(50, 600)
    if kind < 0.97:
        return "".join(chance.choice(string.punctuation) for _ in range(chance.randint(1, 8)))
    return _word(chance, [(0x20, 0xD7FF), (0xE000, 0x10FFFF)], chance.randint(1, 6))


def _word(chance: random.Random, ranges: Ranges, length: int) -> str:
    return "".join(chr(chance.randint(*chance.choice(ranges))) for _ in range(length))
