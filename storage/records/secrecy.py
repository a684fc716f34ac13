"""Secrets in texts: what of a text may be seen by others than who wrote it. Pure.

A URL is often a key: its userinfo is one, and so is what its query calls a token, a key or a signature. Errors name
URLs, and come to logs, problem documents, notices and spans; so each of these ways out passes its texts through here.
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
HIDDEN: Final = "REDACTED"


def without_secrets(text: str) -> str:
    """Return text in which an API key is cut to what is shown of it, a webhook secret or master key to its prefix, and
    in URLs names with passwords and the values of what looks like a secret are hidden.

    >>> without_secrets("GET /svc_" + "x" * 43)
    'GET /svc_xxxxxxxx...'
    >>> without_secrets("whsec_" + "x" * 44 + " smk_" + "x" * 43)
    'whsec_... smk_...'
    >>> without_secrets("https://a.test/in?page=2&api_key=s3cret&x=1#top"), without_secrets("http://me:p@w@a.test/")
    ('https://a.test/in?page=2&api_key=REDACTED&x=1#top', 'http://REDACTED@a.test/')
    """
    return _USER.sub(rf"\1{HIDDEN}@", _PARAMETER.sub(rf"\1{HIDDEN}", _OURS.sub(r"\1\2\3...", text)))
