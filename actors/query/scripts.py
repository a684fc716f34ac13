"""Character classes that Python's `re` has no names for, as the content of a `[...]`.

`MARKS` are the combining marks of the writing systems (Unicode category M) up to U+10FFF; a range also covers letters
between marks, which is harmless, as both are inside words. A test compares the table with `unicodedata`.
"""

from __future__ import annotations

_MARKS = (
    "300-36f 483-489 591-5bd 5bf 5c1-5c2 5c4-5c5 5c7 610-61a 64b-65f 670 6d6-6dc 6df-6e8 6ea-6ed 711-7f3 7fd "
    "816-82d 859-85b 898-8e1 8e3-963 981-9e3 9fe-a75 a81-ae3 afa-b63 b82-bd7 c00-c63 c81-c83 cbc-d4d d57-d63 "
    "d81-df3 e31-e3a e47-e4e eb1-ecd f18-f19 f35 f37 f39 f3e-f84 f86-fbc fc6 102b-103e 1056-109d 135d-135f "
    "1712-1734 1752-17d3 17dd 180b-180d 180f-193b 1a17-1a1b 1a55-1a7f 1ab0-1b44 1b6b-1b73 1b80-1bf3 1c24-1c37 "
    "1cd0-1cd2 1cd4-1dff 20d0-20f0 2cef-2cf1 2d7f-2dff 302a-302f 3099-309a a66f-a672 a674-a67d a69e-a6f1 "
    "a802-a827 a82c a880-a8c5 a8e0-a8f1 a8ff-a92d a947-a953 a980-a9c0 a9e5-aa4d aa7b-aac1 aaeb-aaef aaf5-aaf6 "
    "abe3-abea abec-abed fb1e fe00-fe0f fe20-fe2f 101fd-1037a 10a01-10a3f 10ae5-10ae6 10d24-10eac 10f46-10f50 "
    "10f82-10f85 "
)
_UNSPACED = (
    # Thai and Lao, Myanmar, Hangul jamo, Khmer, kana and Han with their iteration marks, Hangul, half-width kana.
    "e01-e3a e40-e4e e81-eda edc-edf 1000-103f 1050-109d 1100-11ff 1780-17d3 3005-3007 3041-3096 3099-309a 309d-309f "
    "30a1-30fa 30fc-30ff 3131-318e 31f0-31ff 3400-4dbf 4e00-9fff ac00-d7a3 f900-faff ff66-ff9f 20000-323af"
)
_EMOJI = "2190-21ff 2300-23ff 25a0-27bf 2934-2935 2b00-2bff 3030 303d 3297 3299 1f000-1f1e5 1f200-1f3fa 1f400-1faff"


def _class(ranges: str) -> str:
    """Return hexadecimal ranges as the content of a character class."""
    parts = (part.partition("-") for part in ranges.split())
    return "".join(f"\\U{int(low, 16):08x}-\\U{int(high or low, 16):08x}" for low, _, high in parts)


MARKS = _class(_MARKS)
UNSPACED = _class(_UNSPACED)
"""Scripts without spaces between words: read as overlapping pairs of characters."""
EMOJI = _class(_EMOJI)
FLAG = "\\U0001f1e6-\\U0001f1ff"
"""Regional indicators: two of them are one flag."""
