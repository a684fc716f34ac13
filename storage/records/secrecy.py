"""Secrets in texts: what of a text may be seen by others than who wrote it. Pure.

A URL is often a key: its userinfo is one, so is what its query calls a token, a key or a signature, and so is a part of
its path that nobody can guess, as in the addresses of hooks, bots and feeds for one reader. Errors name URLs, and come
to logs, problem documents, notices and spans; so each of these ways out passes its texts through here.

A part of a path is taken for random by how often letters, capitals and digits take turns in it. Of real addresses of
articles one in a hundred has such a part, and that is a hash or the name of a video: its first four characters stay, by
which the address is known again. A UUID is a name, and so are our ids; only one of version 4 is random as a whole.
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
"""A host and its path, or the sign before a route and the route."""
_CALLED_SO: Final = re.compile(r"(?i)(?:[\w.-]*[_-])?(?:token|secret|apikey|key|password|(?:web)?hooks?)")
_BOT: Final = re.compile(r"(?i)(bot[0-9]+:).+")
_RUN: Final = re.compile(r"(?<![\w-])[\w-]{20,}", re.ASCII)
_NAME: Final = re.compile(r"(?i)[0-9a-f]{8}-[0-9a-f]{4}-[1235-8][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
_COMMIT: Final = frozenset({"commit", "commits", "tree", "blob"})
_CAPITAL: Final = re.compile(r"(?<=[a-z])[A-Z]|(?<=[A-Z])[a-z]")
_DIGIT: Final = re.compile(r"(?<=[A-Za-z])[0-9]|(?<=[0-9])[A-Za-z]")
SHORTEST: Final = 20
"""Characters of the shortest part that can be taken for random."""
NAMED: Final = 8
"""The same for what stands behind a part that is called a hook, a token or a key."""
LEFT: Final = 4
HIDDEN: Final = "REDACTED"


def without_secrets(text: str) -> str:
    """Return text in which an API key is cut to what is shown of it, a webhook secret or master key to its prefix, and
    in URLs names with passwords, the values of what looks like a secret and what is random in paths are hidden.

    >>> without_secrets("GET /svc_" + "x" * 43)
    'GET /svc_xxxxxxxx...'
    >>> without_secrets("whsec_" + "x" * 44 + " smk_" + "x" * 43)
    'whsec_... smk_...'
    >>> without_secrets("https://a.test/feeds/9f86d081884c7d659a2feaa0c55ad015/new.xml")
    'https://a.test/feeds/9f86.../new.xml'
    """
    return _PATH.sub(_path, without_named_secrets(text))


def without_named_secrets(text: str) -> str:
    """Return the same, but with the paths as they are: for a URL that is a field of its own.

    >>> without_named_secrets("https://a.test/in?page=2&api_key=s3cret&x=1#top")
    'https://a.test/in?page=2&api_key=REDACTED&x=1#top'
    >>> without_named_secrets("http://me:p@w@a.test/")
    'http://REDACTED@a.test/'
    """
    return _USER.sub(rf"\1{HIDDEN}@", _PARAMETER.sub(rf"\1{HIDDEN}", _OURS.sub(r"\1\2\3...", text)))


def where_it_led(url: str, *asked: str) -> str:
    """Return where a look was led as others may see it; an address that was asked for is its owner's, and stays."""
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
    if named and _is_no_word(part):
        return HIDDEN
    return _BOT.sub(rf"\1{HIDDEN}", part if commit else _RUN.sub(_run, part))


def _is_no_word(part: str) -> bool:
    return any(sign.isdigit() for sign in part) or sum(sign.isupper() for sign in part) > 1


def _run(found: re.Match[str]) -> str:
    run = _NAME.sub("", found[0])
    pieces = [piece for piece in re.split("[_-]", run) if len(piece) >= SHORTEST]
    random = _is_random(run, 3) or any(_is_random(piece, 10) for piece in pieces)
    return f"{found[0][:LEFT]}..." if random else found[0]


def _is_random(run: str, most: int) -> bool:
    """Return whether the signs of a run change their kind as often as once in `most`, to digits and back as well."""
    digits = len(_DIGIT.findall(run))
    return digits > 1 and (digits + len(_CAPITAL.findall(run))) * most >= len(run) > 0
