"""P-256 by the book: slow, and independent of the product's library, to check its results."""

from __future__ import annotations

from hashlib import sha256

P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
Point = tuple[int, int] | None


def plus(one: Point, other: Point) -> Point:
    if one is None or other is None:
        return other if one is None else one
    if one[0] == other[0] and (one[1] + other[1]) % P == 0:
        return None
    if one == other:
        slope = (3 * one[0] ** 2 - 3) * pow(2 * one[1], -1, P)
    else:
        slope = (other[1] - one[1]) * pow(other[0] - one[0], -1, P)
    x = (slope**2 - one[0] - other[0]) % P
    return x, (slope * (one[0] - x) - one[1]) % P


def times(number: int, point: Point) -> Point:
    found: Point = None
    while number:
        if number & 1:
            found = plus(found, point)
        point, number = plus(point, point), number >> 1
    return found


def read(encoded: bytes) -> Point:
    assert len(encoded) == 65 and encoded[0] == 4
    x, y = int.from_bytes(encoded[1:33], "big"), int.from_bytes(encoded[33:], "big")
    assert (y * y - x**3 + 3 * x - B) % P == 0
    return x, y


def written(point: Point) -> bytes:
    assert point is not None
    return b"\x04" + point[0].to_bytes(32, "big") + point[1].to_bytes(32, "big")


def shared(secret: bytes, public: bytes) -> bytes:
    """ECDH: return the x of the common point."""
    return written(times(int.from_bytes(secret, "big"), read(public)))[1:33]


def verifies(public: bytes, signature: bytes, message: bytes) -> bool:
    """ES256: return whether r and s, 32 bytes each, are the key's for a message (FIPS 186-5, 6.4.2)."""
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    if len(signature) != 64 or not (0 < r < N and 0 < s < N):
        return False
    inverse = pow(s, -1, N)
    number = int.from_bytes(sha256(message).digest(), "big")
    at = plus(times(number * inverse % N, G), times(r * inverse % N, read(public)))
    return at is not None and at[0] % N == r
