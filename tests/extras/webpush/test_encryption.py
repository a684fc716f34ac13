"""Messages for devices: the RFCs' examples to the byte, and an independent reader for ours."""

from __future__ import annotations

import pytest
from cryptography.exceptions import InvalidTag

from extras.webpush import encryption
from extras.webpush.encryption import LONGEST, Device, encoded, encrypted
from tests.extras.webpush import curve, device
from tests.extras.webpush.device import b64

WATERMELON = b64("V2hlbiBJIGdyb3cgdXAsIEkgd2FudCB0byBiZSBhIHdhdGVybWVsb24")
UA_PRIVATE = b64("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94")
UA_PUBLIC = b64("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
AUTH = b64("BTBZMqHH6r4Tts7J_aSIgg")
AS_PRIVATE = b64("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")
SALT = b64("DGv6ra1nlYgDCS1FRnbzlw")
RFC_8291 = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml"
    "mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT"
    "pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)
SOMEBODY = Device(UA_PUBLIC, AUTH)


def test_the_example_of_rfc_8291_comes_out_to_the_byte() -> None:
    assert WATERMELON == b"When I grow up, I want to be a watermelon"
    assert encrypted(WATERMELON, SOMEBODY, AS_PRIVATE, SALT) == b64(RFC_8291)


def test_the_example_of_rfc_8188_comes_out_to_the_byte() -> None:
    made = encoded(b"I am the walrus", b64("yqdlZ-tYemfogSmv7Ws5PQ"), b64("I1BsxtFttlv3u_Oo94xnmw"))
    assert made == b64("I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg")


def test_an_independent_reader_decrypts_the_example_and_our_messages() -> None:
    reader = device.Device(UA_PRIVATE, AUTH)
    assert reader.public == UA_PUBLIC and reader.read(b64(RFC_8291)) == WATERMELON
    for text in (b"", b"x", "räksmörgås 🦐".encode(), b"\x02\x00", b"y" * LONGEST):
        assert reader.read(encrypted(text, SOMEBODY, AS_PRIVATE, SALT)) == text


def test_another_key_cannot_decrypt_a_message() -> None:
    body = encrypted(WATERMELON, SOMEBODY, AS_PRIVATE, SALT)
    for other in (device.Device(UA_PRIVATE, b"x" * 16), device.Device(b"\x08" * 32, AUTH)):
        with pytest.raises(InvalidTag):
            other.read(body)


def test_the_largest_body_fits_every_push_service_and_a_larger_one_is_refused() -> None:
    assert (LONGEST, len(encrypted(b"y" * LONGEST, SOMEBODY, AS_PRIVATE, SALT))) == (3_993, 4_096)
    with pytest.raises(ValueError, match="3994 bytes"):
        encrypted(b"y" * (LONGEST + 1), SOMEBODY, AS_PRIVATE, SALT)


def test_a_point_that_is_not_on_the_curve_is_refused() -> None:
    off = UA_PUBLIC[:-1] + bytes([UA_PUBLIC[-1] ^ 1])
    for wrong in (off, UA_PUBLIC[:33], b"\x02" + UA_PUBLIC[1:33], b"\x00", b"", bytes(65)):
        with pytest.raises(ValueError):
            encryption.point(wrong)


@pytest.mark.parametrize("chance", [bytes(40), b"\xff" * 40, curve.N.to_bytes(40, "big"), bytes(range(40))])
def test_any_drawn_bytes_make_a_key_of_the_curve(chance: bytes) -> None:
    secret = encryption.drawn_secret(chance)
    assert 0 < int.from_bytes(secret, "big") < curve.N
    public = encryption.public_half(encryption.private_key(secret))
    assert public == curve.written(curve.times(int.from_bytes(secret, "big"), curve.G))


@pytest.mark.parametrize("text", ["ä", "a b", "a", "ab=c"])
def test_a_value_that_is_not_base64url_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        encryption.read(text)
