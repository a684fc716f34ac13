"""A browser's side of a subscription, by hand: it decrypts messages (RFC 8291, RFC 8188)."""

from __future__ import annotations

import base64
import hmac

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tests.extras.webpush import curve


def b64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def text64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def opened(key: bytes, salt: bytes, record: bytes) -> bytes:
    """Decrypt the last record of aes128gcm."""
    half = hmac.digest(salt, key, "sha256")
    content = hmac.digest(half, b"Content-Encoding: aes128gcm\x00\x01", "sha256")[:16]
    nonce = hmac.digest(half, b"Content-Encoding: nonce\x00\x01", "sha256")[:12]
    padded = AESGCM(content).decrypt(nonce, record, None).rstrip(b"\x00")
    assert padded[-1:] == b"\x02"
    return padded[:-1]


class Device:
    """A subscribed browser."""

    def __init__(self, secret: bytes = b"\x07" * 32, auth: bytes = b"sixteen bytes ok") -> None:
        self.secret, self.auth = secret, auth
        self.public = curve.written(curve.times(int.from_bytes(secret, "big"), curve.G))

    @property
    def options(self) -> dict[str, str]:
        """The keys of its subscription, as in `toJSON().keys`."""
        return {"p256dh": text64(self.public), "auth": text64(self.auth)}

    def read(self, body: bytes) -> bytes:
        """Decrypt the body of a push message. Raises InvalidTag."""
        salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        sender, record = body[21 : 21 + length], body[21 + length :]
        assert len(record) <= size and length == 65
        common = curve.shared(self.secret, sender)
        info = b"WebPush: info\x00" + self.public + sender + b"\x01"
        key = hmac.digest(hmac.digest(self.auth, common, "sha256"), info, "sha256")
        return opened(key, salt, record)
