"""Untrusted text made safe, and secrets in texts hidden from everyone but the author. Pure.

A URL often contains a key: its userinfo, a query value named token, key or signature, or a path segment that cannot be
guessed, as in addresses of hooks, bots and private feeds. Error messages quote URLs and reach logs, problem documents,
notices and spans, so each of these passes its texts through this module.

A path segment counts as random if letters, capitals and digits alternate often in it. About one in a hundred real
article addresses has such a segment (a hash, a video id), so its first four characters stay and the address remains
recognisable. UUIDs, such as our ids, count as names; only version 4 is random as a whole.
"""

from __future__ import annotations

import re
from typing import Final

_OURS: Final = re.compile(
    r"(svc_[A-Za-z0-9_-]{8})[A-Za-z0-9_-]{20,}|(whsec_)[A-Za-z0-9+/=_-]{8,}|(smk_)[A-Za-z0-9_-]{20,}", re.ASCII
)
_PARAMETER: Final = re.compile(
    r"(?i)([?&;#](?:[\w.-]{0,64}(?:token|secret|password|passwd|signature|credential|session)[\w.-]{0,64}"
    r"|(?:[\w.-]{0,64}[_.-])?(?:api|app|access|auth|private|secret)?key|awsaccesskeyid|x-goog-[\w-]+|x-amz-[\w-]+"
    r"|sig|hmac|pass|pwd|auth|code|jwt|sid|otp|ticket)=)[^&;\s#\"'<>]+"
)
_USER: Final = re.compile(r"(?i)(?<![a-z0-9+.-])([a-z][a-z0-9+.-]{0,31}://)[^/?#\s\"'<>]+@")
_PATH: Final = re.compile(r"(://[^/?#\s\"'<>]*|#!?)(/[^?#\s\"'<>]+)")
"""A host and its path, or a fragment sign and a route."""
_CALLED_SO: Final = re.compile(r"(?i)(?:[\w.-]*[_-])?(?:token|secret|apikey|key|password|(?:web)?hooks?)")
_BOT: Final = re.compile(r"(?i)(bot[0-9]+:).+")
_RUN: Final = re.compile(r"(?<![\w-])[\w-]{20,}", re.ASCII)
_NAME: Final = re.compile(r"(?i)[0-9a-f]{8}-[0-9a-f]{4}-[1235-8][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_COMMIT: Final = frozenset({"commit", "commits", "tree", "blob"})
_CAPITAL: Final = re.compile(r"(?<=[a-z])[A-Z]|(?<=[A-Z])[a-z]")
_DIGIT: Final = re.compile(r"(?<=[A-Za-z])[0-9]|(?<=[0-9])[A-Za-z]")
SHORTEST: Final = 20  # fewest characters of a segment that can count as random
NAMED: Final = 8  # the same for a segment after one named hook, token or key
LEFT: Final = 4
HIDDEN: Final = "REDACTED"


def without_secrets(text: str) -> str:
    """Hide secrets: cut API keys to their shown part and webhook secrets and master keys to their prefix; in URLs, hide
    userinfo, the values of secret-like parameters and random path segments.

    >>> without_secrets("GET /svc_" + "x" * 43)
    'GET /svc_xxxxxxxx...'
    >>> without_secrets("whsec_" + "x" * 44 + " smk_" + "x" * 43)
    'whsec_... smk_...'
    >>> without_secrets("https://a.test/feeds/9f86d081884c7d659a2feaa0c55ad015/new.xml")
    'https://a.test/feeds/9f86.../new.xml'
    """
    return _PATH.sub(_path, without_named_secrets(text))


def without_named_secrets(text: str) -> str:
    """Do the same but leave paths alone: for a URL that has its own field.

    >>> without_named_secrets("https://a.test/in?page=2&api_key=s3cret&x=1#top")
    'https://a.test/in?page=2&api_key=REDACTED&x=1#top'
    >>> without_named_secrets("http://me:p@w@a.test/")
    'http://REDACTED@a.test/'
    """
    return _USER.sub(rf"\1{HIDDEN}@", _PARAMETER.sub(rf"\1{HIDDEN}", _OURS.sub(r"\1\2\3...", text)))


def where_it_led(url: str, *asked: str) -> str:
    """Return a redirect's target without secrets. An address that the owner entered stays as it is."""
    return url if url in asked else without_named_secrets(url)


def _path(found: re.Match[str]) -> str:
    before, path = found.groups()
    label = before.rpartition("://")[2].rpartition("@")[2].partition(".")[0]
    named, kept, last = _CALLED_SO.fullmatch(label) is not None, [], ""
    for part in path.split("/"):
        kept.append(_part(part, named, last.lower() in _COMMIT))
        named, last = named or _CALLED_SO.fullmatch(part) is not None, part
    return before + "/".join(kept)


def _part(part: str, named: bool, commit: bool) -> str:
    if len(part) < NAMED:
        return part
    if named and (any(sign.isdigit() for sign in part) or sum(sign.isupper() for sign in part) > 1):  # no word
        return HIDDEN
    return _BOT.sub(rf"\1{HIDDEN}", part if commit else _RUN.sub(_run, part))


def _run(found: re.Match[str]) -> str:
    run = _NAME.sub("", found[0])
    pieces = [piece for piece in re.split("[_-]", run) if len(piece) >= SHORTEST]
    random = _is_random(run, 3) or any(_is_random(piece, 10) for piece in pieces)
    return f"{found[0][:LEFT]}..." if random else found[0]


def _is_random(run: str, most: int) -> bool:
    """Return whether characters change kind (letter, capital, digit) at least once in `most`, digits included."""
    digits = len(_DIGIT.findall(run))
    return digits > 1 and (digits + len(_CAPITAL.findall(run))) * most >= len(run) > 0


# C0, DEL, C1 (some terminals take a lone 0x9b for a CSI), line separators, and marks that reverse text direction.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    r"""Escape every character that moves the cursor, sets colours or breaks the line.

    >>> plain('a\nb\x1b[31m')
    'a\\nb\\x1b[31m'
    """
    return _UNSAFE.sub(lambda found: found.group().encode("unicode_escape").decode(), text)
