"""A hostile issuer, and hostile people between it and us: none of 200 tries gets a session.

Each try is drawn from a seed: a function below, and its values.
"""

from __future__ import annotations

import hmac
import json
import random
from collections.abc import Callable
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

import jwt
import pytest
import trio
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from extras.people.oidc.screens import CALLBACK
from tests.extras.people.oidc.conftest import Harbour
from tests.extras.people.oidc.identity_provider import CLIENT, ISSUER, RSA, Claims, Provider, part, public, signed
from tests.support.memory_network import Answer, web

DISCOVERY = "/.well-known/openid-configuration"
OTHER_RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
SMALL_RSA = rsa.generate_private_key(public_exponent=65537, key_size=1024)
OTHER_EC = ec.generate_private_key(ec.SECP256R1())
PRIVATE = ("10.0.0.7", "127.0.0.1", "169.254.169.254", "192.168.1.1", "100.64.0.9")


class Try:
    """One sign-in with a lie. `back` may change the address that the browser comes back to."""

    def __init__(self, harbour: Harbour, chance: random.Random) -> None:
        self.harbour, self.provider, self.chance = harbour, harbour.provider, chance
        self.back: Callable[[str], str] = lambda address: address
        self.twice = False

    def claims(self, **more: Any) -> None:
        self.provider.more = more

    def token(self, sign: Callable[[Provider, Claims], str]) -> None:
        self.provider.sign = sign

    def document(self, path: str, value: Any, **headers: str) -> None:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.provider.answers[path] = Answer(200, body, headers)


def algorithm_none(one: Try) -> None:
    name = one.chance.choice(["none", "None", "NONE", "nOnE", "", None])
    one.token(lambda provider, claims: f"{part({'alg': name, 'kid': 'one'})}.{part(claims)}.")


def algorithm_none_with_the_signature_of_another_token(one: Try) -> None:
    one.token(lambda provider, claims: f"{part({'alg': 'none'})}.{part(claims)}.{signed(provider, {}).split('.')[2]}")


def hmac_with_the_public_key(one: Try) -> None:
    shape = one.chance.choice([PublicFormat.SubjectPublicKeyInfo, PublicFormat.PKCS1])
    encoding = one.chance.choice([Encoding.PEM, Encoding.DER])
    secret = RSA.public_key().public_bytes(encoding, shape)
    if one.chance.random() < 0.3:
        secret = json.dumps(public(RSA, "one")).encode()
    one.token(lambda provider, claims: _hmac(claims, secret))


def hmac_with_a_key_of_the_set(one: Try) -> None:
    one.provider.keys.append({"kty": "oct", "kid": "shared", "k": part(b"k" * 32), "alg": "HS256"})
    one.token(lambda provider, claims: _hmac(claims, b"k" * 32, kid="shared"))


def hmac_with_our_secret(one: Try) -> None:
    one.token(lambda provider, claims: _hmac(claims, b"the client's s3cret"))


def _hmac(claims: Claims, secret: bytes, kid: str = "one") -> str:
    signing = f"{part({'alg': 'HS256', 'kid': kid})}.{part(claims)}"
    return f"{signing}.{part(hmac.digest(secret, signing.encode(), 'sha256'))}"


def another_key_under_the_known_name(one: Try) -> None:
    key, alg = one.chance.choice([(OTHER_RSA, "RS256"), (OTHER_RSA, "PS384"), (OTHER_EC, "ES256")])
    one.token(lambda provider, claims: jwt.encode(claims, key, algorithm=alg, headers={"kid": "one"}))


def a_key_that_the_token_brings_along(one: Try) -> None:
    header: Claims = one.chance.choice([{"jwk": public(OTHER_RSA, "one")}, {"jku": f"{ISSUER}/jwks"}, {"x5u": ISSUER}])
    one.token(lambda _, claims: jwt.encode(claims, OTHER_RSA, algorithm="RS256", headers={"kid": "one", **header}))


def a_weak_key(one: Try) -> None:
    one.provider.keys = [public(SMALL_RSA, "one")]
    header = json.dumps({"alg": "RS256", "kid": "one"})
    one.token(lambda provider, claims: _raw(header, json.dumps(claims), SMALL_RSA))


def a_key_for_another_use(one: Try) -> None:
    change = one.chance.choice([{"use": "enc"}, {"alg": "RS512"}, {"kty": "EC"}, {"kid": 7}, {"n": "AQ"}, {"e": "AQ"}])
    one.provider.keys = [public(RSA, "one") | change]


def several_keys_of_one_name(one: Try) -> None:
    one.provider.keys.append(public(OTHER_RSA, "one"))


def a_stale_key(one: Try) -> None:
    one.token(lambda provider, claims: jwt.encode(claims, OTHER_RSA, algorithm="RS256", headers={"kid": "last-year"}))


def a_changed_claim(one: Try) -> None:
    def sign(provider: Provider, claims: Claims) -> str:
        header, _, signature = signed(provider, claims).split(".")
        return f"{header}.{part(claims | {'sub': 'the-owner'})}.{signature}"

    one.token(sign)


def a_broken_token(one: Try) -> None:
    def sign(provider: Provider, claims: Claims) -> str:
        token = signed(provider, claims)
        at = one.chance.randrange(len(token))
        return one.chance.choice(
            [
                token[:at],
                f"{token}.",
                token.replace(".", ""),
                f"{token}=",
                token[:at] + "\u00e9" + token[at:],
                "",
                "...",
            ]
        )

    one.token(sign)


def critical_extensions(one: Try) -> None:
    crit = one.chance.choice([["exp"], ["b64"], [], "b64"])
    header = {"alg": "RS256", "kid": "one", "crit": crit, "b64": True}
    one.token(lambda provider, claims: _raw(json.dumps(header), json.dumps(claims)))


def names_twice(one: Try) -> None:
    name, value = one.chance.choice([("sub", '"the-owner"'), ("aud", f'"{CLIENT}"'), ("exp", "9999999999")])
    one.token(
        lambda provider, claims: _raw(
            json.dumps({"alg": "RS256", "kid": "one"}), f'{{"{name}": {value}, {json.dumps(claims)[1:]}'
        )
    )


def _raw(header: str, claims: str, key: rsa.RSAPrivateKey = RSA) -> str:
    """Sign the bytes as they are."""
    signing = f"{part(header.encode())}.{part(claims.encode())}"
    algorithm = jwt.get_algorithm_by_name("RS256")
    return f"{signing}.{part(algorithm.sign(signing.encode(), key))}"


def no_object_of_claims(one: Try) -> None:
    text = one.chance.choice(["[]", '"x"', "null", "{", "NaN", '{"exp": NaN}', "[" * 30_000])
    one.token(lambda provider, claims: _raw(json.dumps({"alg": "RS256", "kid": "one"}), text))


def another_audience(one: Try) -> None:
    audience = ["another", ["another"], [CLIENT, "another"], f"{CLIENT} ", CLIENT.upper(), [], "", {CLIENT: 1}, 7, ...]
    one.claims(aud=one.chance.choice(audience))


def another_party(one: Try) -> None:
    one.claims(aud=one.chance.choice([CLIENT, [CLIENT, "b"]]), azp=one.chance.choice(["b", "", 7, [CLIENT]]))


def another_issuer(one: Try) -> None:
    choices = ["https://evil.test", f"{ISSUER}/", ISSUER.upper(), "http://id.test", [ISSUER], "", 7, ...]
    one.claims(iss=one.chance.choice(choices))


def another_nonce(one: Try) -> None:
    one.claims(nonce=one.chance.choice(["", "x" * 43, 7, ..., ["x"], "\u00e9"]))


def no_subject(one: Try) -> None:
    one.claims(sub=one.chance.choice(["", 7, ..., ["ada"], {"a": 1}, "x" * 256, True]))


def a_wrong_time(one: Try) -> None:
    now, name = one.provider.wall(), one.chance.choice(["exp", "iat", "nbf"])
    late = now - one.chance.randint(61, 10**6) if name == "exp" else now + one.chance.randint(62, 10**6)
    values = [late, "soon", True, -1, 1e300, [now]]
    one.claims(**{name: one.chance.choice([late, *values])})


def a_missing_time(one: Try) -> None:
    one.claims(**{one.chance.choice(["exp", "iat"]): one.chance.choice([..., None])})


def another_state(one: Try) -> None:
    states = ["", "x", "x" * 43, "\u00e9", "0" * 8_000]
    one.provider.bend = lambda given: given.update(state=one.chance.choice(states))


def an_answer_of_another_issuer(one: Try) -> None:
    bends: list[Callable[[dict[str, str]], Any]] = [
        lambda given: given.update(iss="https://evil.test"),
        lambda given: given.update(iss=f"{ISSUER}/"),
        lambda given: given.pop("iss"),
    ]
    one.provider.bend = one.chance.choice(bends)


def a_state_twice(one: Try) -> None:
    one.back = lambda address: f"{address}&state=x&code=y"


def an_error_beside_the_code(one: Try) -> None:
    one.provider.bend = lambda given: given.update(error="access_denied")


def a_code_of_another_sign_in(one: Try) -> None:
    """Inject a code that the issuer gave to the attacker: PKCE and nonce are the attacker's (RFC 9700, 4.5)."""
    one.provider.codes["stolen"] = {"code_challenge": part(sha256(b"attacker").digest()), "nonce": "n"}
    one.provider.bend = lambda given: given.update(code="stolen")


def another_browser(one: Try) -> None:
    """The victim follows a link that completes the attacker's sign-in."""

    def back(address: str) -> str:
        one.harbour.browser.client.cookies.clear()
        return address

    one.back = back


def a_forged_cookie(one: Try) -> None:
    def back(address: str) -> str:
        cookies = one.harbour.browser.client.cookies
        sealed = str(cookies["oidc-journey"])
        at = one.chance.randrange(len(sealed))
        forged = [sealed[:at] + ("A" if sealed[at] != "A" else "B") + sealed[at + 1 :], sealed[:at], "...", "a.b.c.d"]
        cookies.clear()
        cookies.set("oidc-journey", one.chance.choice(forged), domain="sanderling.test")
        return address

    one.back = back


def a_document_with_names_twice(one: Try) -> None:
    path = one.chance.choice([DISCOVERY, "/jwks", "/token"])
    known = {DISCOVERY: one.provider.metadata, "/jwks": {"keys": one.provider.keys}, "/token": {"id_token": "a.b.c"}}
    text = json.dumps(known[path])
    one.document(path, f"{text[:-1]}, {text[1:]}".encode())


def a_huge_document(one: Try) -> None:
    path = one.chance.choice([DISCOVERY, "/jwks", "/token", "/userinfo"])
    size = one.chance.choice([(256 << 10) + 1, 4 << 20])
    one.document(path, b'{"sub": "ada-1", "x": "' + b"x" * size + b'"}')


def a_slow_document(one: Try) -> None:
    path = one.chance.choice([DISCOVERY, "/jwks", "/token", "/userinfo"])
    after, pause = one.chance.choice([(1e6, 0.0), (0.0, 1e6)])
    one.provider.answers[path] = Answer(200, b"{}", after=after, pause=pause)


def a_broken_document(one: Try) -> None:
    path = one.chance.choice([DISCOVERY, "/jwks", "/token", "/userinfo"])
    bodies = [b"", b"null", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"keys": 7}', b'{"sub": NaN}', b"<html>", b"{}"]
    one.document(path, one.chance.choice(bodies))


def a_failing_document(one: Try) -> None:
    path = one.chance.choice([DISCOVERY, "/jwks", "/token", "/userinfo"])
    one.provider.answers[path] = Answer(one.chance.choice([201, 204, 301, 304, 400, 401, 404, 429, 500, 503]))


def a_cut_document(one: Try) -> None:
    path = one.chance.choice([DISCOVERY, "/jwks"])
    one.provider.answers[path] = Answer(200, b'{"keys": []}', cut=one.chance.randrange(11))


def a_redirect_inside(one: Try) -> None:
    path = one.chance.choice([DISCOVERY, "/jwks", "/token", "/userinfo"])
    to = one.chance.choice([f"http://{address}/" for address in PRIVATE] + [f"{ISSUER}/elsewhere", "//evil.test/"])
    one.provider.answers[path] = Answer(one.chance.choice([301, 302, 303, 307, 308]), b"", {"location": to})


def an_endpoint_inside(one: Try) -> None:
    name = one.chance.choice(["token_endpoint", "jwks_uri", "userinfo_endpoint"])
    host = one.chance.choice([*PRIVATE, "[::1]", "[fd00::1]", "inside.test", "0x7f.1"])
    one.harbour.network.names["inside.test"] = [("10.0.0.7",)]
    one.provider.metadata[name] = f"{one.chance.choice(['https', 'http'])}://{host}/x"


def an_endpoint_that_is_none(one: Try) -> None:
    name = one.chance.choice(["authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"])
    values = ["http://id.test/x", "javascript:alert(1)", "/x", "file:///etc/passwd", "https://u:p@id.test/", 7, ["x"]]
    one.provider.metadata[name] = one.chance.choice([*values, f"{ISSUER}/x#y", "https://id.test:22/"])


def a_missing_endpoint(one: Try) -> None:
    name = one.chance.choice(["issuer", "authorization_endpoint", "token_endpoint", "jwks_uri"])
    del one.provider.metadata[name]


def metadata_of_another_issuer(one: Try) -> None:
    names = ["https://evil.test", f"{ISSUER}/", ISSUER.upper(), "https://id.test:443", "", [ISSUER]]
    one.provider.metadata["issuer"] = one.chance.choice(names)


def keys_elsewhere(one: Try) -> None:
    """Another host that serves the attacker's keys: the honest token then has no key."""
    one.harbour.network.add("keys.test", "93.184.216.99", web(lambda _: _keys(public(OTHER_RSA, "one"))), 443)
    one.provider.metadata["jwks_uri"] = "https://keys.test/jwks"


def _keys(*keys: Claims) -> Answer:
    return Answer(200, json.dumps({"keys": keys}).encode())


def userinfo_of_another_person(one: Try) -> None:
    one.provider.userinfo = {"sub": one.chance.choice(["the-owner", "", None, ["ada-1"]]), "groups": ["keepers"]}


def a_token_of_another_kind(one: Try) -> None:
    def sign(provider: Provider, claims: Claims) -> str:
        provider.answers["/token"] = Answer(200, json.dumps(body | {"id_token": signed(provider, claims)}).encode())
        return ""

    body: Claims = one.chance.choice([{"token_type": "mac", "access_token": "a"}, {"token_type": "Bearer"}, {}])
    one.document("/token", body | {"id_token": one.chance.choice([7, None, "", "a.b.c"])})


LIES: tuple[Callable[[Try], None], ...] = tuple(
    lie
    for name, lie in list(globals().items())
    if callable(lie) and getattr(lie, "__module__", "") == __name__ and not name.startswith("_") and name != "Try"
)


@pytest.mark.parametrize("seed", range(200))
async def test_no_lie_gets_a_session(harbour: Harbour, seed: int) -> None:
    chance = random.Random(seed)
    lie = LIES[seed % len(LIES)]
    one = Try(harbour, chance)
    lie(one)
    await harbour.browser.get("/sign-in/oidc?next=/sources", follow=False)
    place = harbour.browser.answer.headers.get("Location", "")
    if place:
        await harbour.come_back(one.back(harbour.provider.back(place)))
    assert harbour.browser.answer.status_code in (400, 403, 503), lie.__name__
    assert await harbour.sessions() == 0 and await harbour.house.storage.accounts.all() == []
    assert not [one for one in harbour.network.connected if one[0] in (*PRIVATE, "::1", "fd00::1")]


async def test_a_state_works_once_even_with_a_fresh_code(harbour: Harbour) -> None:
    await harbour.browser.get("/sign-in/oidc", follow=False)
    there, cookie = harbour.browser.answer.headers["Location"], harbour.browser.client.cookies["oidc-journey"]
    await harbour.come_back(harbour.provider.back(there))
    assert await harbour.sessions() == 1
    harbour.browser.client.cookies.clear()
    harbour.browser.client.cookies.set("oidc-journey", cookie, domain="sanderling.test")
    await harbour.come_back(harbour.provider.back(there))
    assert harbour.why() == "its state has been used" and await harbour.sessions() == 1


async def test_a_code_works_once(harbour: Harbour) -> None:
    await harbour.sign_in()
    (old,) = [one for one in harbour.provider.seen if one.method == "POST"]
    await harbour.browser.get("/sign-in/oidc", follow=False)
    harbour.provider.bend = lambda given: given.update(code="code-0")
    await harbour.come_back(harbour.provider.back(harbour.browser.answer.headers["Location"]))
    assert b"code=code-0" in old.body and harbour.provider.refusals == ["invalid_grant"]


async def test_the_session_is_new_whatever_cookie_the_browser_brings(harbour: Harbour) -> None:
    """Session fixation: a cookie that an attacker planted never becomes a session."""
    harbour.browser.client.cookies.set("session", "A" * 43, domain="sanderling.test")
    await harbour.sign_in()
    (session,) = await harbour.house.storage.people.sessions()
    assert session.sha256 != sha256(b"A" * 43).hexdigest() and session.name == "Ada"


async def test_many_callbacks_of_a_stranger_ask_the_issuer_nothing(harbour: Harbour) -> None:
    for number in range(30):
        await harbour.browser.get(f"{CALLBACK}?{urlencode({'code': number, 'state': number})}")
    assert harbour.provider.seen == []


async def test_a_token_that_takes_long_does_not_hold_up_others(harbour: Harbour) -> None:
    harbour.provider.answers["/token"] = Answer(200, b"{}", after=1e6)
    start = trio.current_time()
    text = await harbour.sign_in()
    assert "can't sign you in now" in text and trio.current_time() - start < 11
