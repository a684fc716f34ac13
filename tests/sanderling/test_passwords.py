from __future__ import annotations

import pytest
from nacl.pwhash import argon2id

from sanderling.real_world import Argon2

pytestmark = pytest.mark.real


async def test_a_password_fits_its_own_hash_and_no_other_one_does() -> None:
    passwords = Argon2(argon2id.OPSLIMIT_MIN, argon2id.MEMLIMIT_MIN)
    kept = await passwords.hash("correct horse ☃")
    assert kept.startswith("$argon2id$") and "correct" not in kept
    assert kept != await passwords.hash("correct horse ☃"), "each has a salt of its own"
    assert await passwords.fits("correct horse ☃", kept)
    assert not await passwords.fits("correct horse", kept)
    assert not await passwords.fits("", kept)


async def test_the_cost_is_libsodiums_interactive_level() -> None:
    kept = await Argon2().hash("correct horse")
    assert "$m=65536,t=2,p=1$" in kept
