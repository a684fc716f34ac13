"""An issuer of OpenID Connect on the tests' network, which can lie in every part of the flow."""

from __future__ import annotations

import json
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import count
from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote_plus, urlencode, urlsplit

import jwt
import trio
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from tests.api.house import BASE_URL, House, make_house
from tests.support.memory_network import Answer, MemoryNetwork, ReceivedRequest, web

ISSUER, CLIENT, SECRET = "https://id.test", "sanderling", "the client's s3cret"
ADDRESS = "93.184.216.60"
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())
ED = ed25519.Ed25519PrivateKey.generate()
ALGORITHMS: dict[str, Any] = {"RS256": RSA, "PS256": RSA, "ES256": EC, "EdDSA": ED}
Claims = dict[str, Any]


def public(key: Any, kid: str) -> Claims:
    """Return the JWK of a private key's public half."""
    kinds: dict[Any, Any] = {rsa.RSAPrivateKey: RSAAlgorithm, ec.EllipticCurvePrivateKey: ECAlgorithm}
    kind = next((found for one, found in kinds.items() if isinstance(key, one)), OKPAlgorithm)
    return {**kind.to_jwk(key.public_key(), as_dict=True), "kid": kid, "use": "sig"}


def part(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


@dataclass
class Provider:
    """`metadata`, `keys`, `claims` and `userinfo` may be changed; `answers` replaces whole answers, by path.

    sign: makes the ID token from its claims. bend: changes the parameters of the redirect back to us.
    """

    wall: Callable[[], float]
    issuer: str = ISSUER
    alg: str = "RS256"
    kid: str = "one"
    claims: Claims = field(default_factory=lambda: {"sub": "ada-1", "name": "Ada", "groups": ["gulls"]})
    more: Claims = field(default_factory=dict)
    userinfo: Claims | None = None
    answers: dict[str, Answer] = field(default_factory=dict)
    metadata: Claims = field(default_factory=dict)
    keys: list[Claims] = field(default_factory=list)
    bend: Callable[[dict[str, str]], Any] = lambda given: None
    sign: Callable[[Provider, Claims], str] | None = None
    seen: list[ReceivedRequest] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self.keys = self.keys or [public(ALGORITHMS[self.alg], self.kid)]
        names = ("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint", "end_session_endpoint")
        self.metadata = {
            "issuer": self.issuer,
            **{name: f"{self.issuer}/{name.partition('_')[0]}" for name in names},
            "authorization_response_iss_parameter_supported": True,
            **self.metadata,
        }

    def asked(self, path: str) -> int:
        return sum(urlsplit(one.target).path == path for one in self.seen)

    def back(self, address: str) -> str:
        """Return where a browser comes back to that went to this address and signed in there."""
        url = urlsplit(address)
        given = dict(parse_qsl(url.query, strict_parsing=True))
        assert f"{url.scheme}://{url.netloc}{url.path}" == f"{self.issuer}/authorization"
        assert given["response_type"] == "code" and given["code_challenge_method"] == "S256"
        assert given["client_id"] == CLIENT and "openid" in given["scope"].split()
        code = f"code-{next(self.numbers)}"
        self.codes[code] = given
        answer = {"code": code, "state": given["state"], "iss": self.issuer, "session_state": "x.y"}
        self.bend(answer)
        return f"{given['redirect_uri'].removeprefix(BASE_URL)}?{urlencode(answer)}"

    def answer(self, request: ReceivedRequest) -> Answer:
        path = urlsplit(request.target).path
        if path in self.answers:
            return self.answers[path]
        if path == "/.well-known/openid-configuration":
            return _json(self.metadata)
        if path == "/jwks":
            return _json({"keys": self.keys})
        if path == "/userinfo":
            return _json(self.claims if self.userinfo is None else self.userinfo)
        return self._token(request) if path == "/token" else Answer(404)

    def _token(self, request: ReceivedRequest) -> Answer:
        form = {name: one[0] for name, one in parse_qs(request.body.decode()).items()}
        basic = b64decode(request.headers.get("authorization", "Basic ").removeprefix("Basic ")).decode()
        started = self.codes.pop(form["code"], None)
        fits = started is not None and started["code_challenge"] == part(
            sha256(form["code_verifier"].encode()).digest()
        )
        known = basic == f"{CLIENT}:{quote_plus(SECRET)}" or form.get("client_secret") == SECRET
        if not fits or not known or started is None:
            self.refusals.append("invalid_grant" if basic else "invalid_client")
            return _json({"error": self.refusals[-1]}, 400)
        now = int(self.wall())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": started["nonce"]}
        claims = {name: value for name, value in (claims | self.claims | self.more).items() if value is not ...}
        token = (self.sign or signed)(self, claims)
        return _json({"access_token": "access", "token_type": "Bearer", "id_token": token})


def signed(provider: Provider, claims: Claims) -> str:
    return jwt.encode(claims, ALGORITHMS[provider.alg], algorithm=provider.alg, headers={"kid": provider.kid})


def _json(value: Any, status: int = 200) -> Answer:
    return Answer(status, json.dumps(value).encode(), {"content-type": "application/json"})


def a_house(nursery: trio.Nursery, secret_file: str, **settings: Any) -> tuple[House, Provider, MemoryNetwork]:
    """Build a house whose settings name the issuer. Without roles in the settings, strangers become readers."""
    if not any(name.endswith(("_groups", "_role")) for name in settings):
        settings["oidc_default_role"] = "reader"
    house = make_house(
        **{
            "oidc_issuer": ISSUER,
            "oidc_client_id": CLIENT,
            "oidc_client_secret_file": secret_file,
            "oidc_name": "Harbour",
            **settings,
        }
    )
    network = MemoryNetwork(nursery)
    world = replace(house.context.world, resolver=network, connector=network, keep_idle=0.0)
    house.context = replace(house.context, world=world)
    provider = Provider(world.wall)
    network.add("id.test", ADDRESS, web(provider.answer, provider.seen), 443)
    return house, provider, network
