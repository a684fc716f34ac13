from __future__ import annotations

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from api.ratelimit import REMEMBERED, Bucket, Limit, Limiter, neighbourhood, take
from tests.api.house import House, make_house, running

rates = st.floats(0.01, 1000)
bursts = st.integers(1, 1000)


@given(rates, bursts, st.lists(st.floats(0, 100), max_size=60))
def test_requests_never_exceed_the_burst_plus_the_refill(rate: float, burst: int, waits: list[float]) -> None:
    bucket, now, admitted = Bucket(float(burst), 0.0), 0.0, 0
    for wait in waits:
        now += wait
        bucket, verdict = take(bucket, Limit(rate, burst), now)
        admitted += verdict.admitted
        assert 0 <= verdict.remaining <= burst
    assert admitted <= burst + rate * now + 1e-6


@given(rates, bursts, st.floats(0, 1))
def test_a_client_that_waits_as_asked_is_admitted(rate: float, burst: int, tokens: float) -> None:
    limit = Limit(rate, burst)
    bucket, verdict = take(Bucket(tokens * 0.99, 0.0), limit, 0.0)
    assert not verdict.admitted and verdict.retry_after >= 1
    assert take(bucket, limit, float(verdict.retry_after))[1].admitted


@given(rates, bursts)
def test_a_client_at_the_pace_of_the_policy_is_never_refused(rate: float, burst: int) -> None:
    limit, bucket, now = Limit(rate, burst), Bucket(1.0, 0.0), 0.0
    for _ in range(50):
        bucket, verdict = take(bucket, limit, now)
        assert verdict.admitted
        now += verdict.window / verdict.limit + 1e-6


def test_a_frozen_or_backward_clock_adds_no_tokens() -> None:
    bucket, _ = take(Bucket(1.0, 10.0), Limit(1.0, 5), 10.0)
    assert not take(bucket, Limit(1.0, 5), 3.0)[1].admitted


def test_the_memory_for_unauthenticated_clients_is_bounded() -> None:
    limiter = Limiter()
    for number in range(REMEMBERED + 100):
        limiter.take(str(number), Limit(1.0, 5), 0.0)
    assert len(limiter) == REMEMBERED


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("unix", "unix", True),
    ],
)
def test_ipv6_is_counted_by_its_64(one: str, other: str, same: bool) -> None:
    assert (neighbourhood(one) == neighbourhood(other)) is same


async def test_a_key_over_its_limit_gets_429_and_another_does_not(house: House, autojump_clock: object) -> None:
    async with await house.client(rate=60, burst=3) as eager, await house.client() as other:
        answers = [await eager.get("/v1/sources") for _ in range(4)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert [answer.headers["ratelimit-remaining"] for answer in answers] == ["2", "1", "0", "0"]
        assert answers[0].headers["ratelimit-limit"] == "3" and answers[0].headers["ratelimit-reset"] == "1"
        assert {answer.headers["ratelimit-policy"] for answer in answers} == {"3;w=3"}
        assert answers[3].json()["type"].endswith("/rate-limited")
        assert (await other.get("/v1/sources")).status_code == 200
        await trio.sleep(int(answers[3].headers["retry-after"]))
        assert (await eager.get("/v1/sources")).status_code == 200


@pytest.mark.parametrize(
    ("trusted", "header", "same"),
    [
        ((), "X-Forwarded-For", True),
        (("10.0.0.0/8",), "X-Forwarded-For", True),
        (("127.0.0.0/8",), "X-Forwarded-For", False),
        (("127.0.0.0/8",), "Forwarded", False),
        (("127.0.0.0/8",), "X-Real-IP", True),
    ],
)
async def test_x24_only_a_trusted_proxy_sets_the_client_address(
    trusted: tuple[str, ...], header: str, same: bool, autojump_clock: object
) -> None:
    """The peer of a memory stream is 127.0.0.1."""
    async with running(make_house(trusted_proxies=trusted)) as house, house.stranger() as stranger:
        left = []
        for number in (1, 2):
            value = f"for=203.0.113.{number}" if header == "Forwarded" else f"203.0.113.{number}"
            answer = await stranger.get("/v1/sources", headers={header: value})
            left.append(int(answer.headers["ratelimit-remaining"]))
    assert (left[1] < left[0]) is same


async def test_x24_no_header_changes_the_links() -> None:
    forged = {
        "Host": "evil.test",
        "X-Forwarded-Host": "evil.test",
        "X-Forwarded-Proto": "gopher",
        "X-Original-URL": "/",
    }
    async with running(make_house(trusted_proxies=("127.0.0.0/8",))) as house, await house.client() as client:
        answer = await client.get("/v1/nothing", headers=forged)
        described = await client.get("/openapi.json", headers=forged)
    assert answer.json()["type"] == "http://sanderling.test/problems/not-found"
    assert "evil" not in answer.text + described.text and "gopher" not in described.text


async def test_probes_do_not_use_the_unauthenticated_limit_and_never_get_429(house: House) -> None:
    async with house.stranger() as stranger:
        statuses = {(await stranger.get("/v1/sources")).status_code for _ in range(150)}
        assert 429 in statuses
        for path in ("/healthz", "/readyz"):
            answers = [await stranger.get(path) for _ in range(150)]
            assert {answer.status_code for answer in answers} == {200}
            assert "ratelimit-limit" not in answers[0].headers


async def test_unauthenticated_clients_are_limited_by_address_and_do_not_use_a_keys_tokens(
    house: House, autojump_clock: object
) -> None:
    async with house.stranger() as stranger, await house.client() as client:
        statuses = [(await stranger.get("/v1/sources")).status_code for _ in range(101)]
        assert statuses == [401] * 100 + [429]
        assert (await client.get("/v1/sources")).status_code == 200
