"""PostgreSQL addresses: accepted, refused, and shown without their password."""

from __future__ import annotations

import pytest

from extras.cluster.postgres.address import MAX_HOSTS, MAX_LENGTH, BadAddress, Host, read_address

SAFE = "sslmode=verify-full"
PASSWORD = "hunter2"


@pytest.mark.parametrize(
    ("url", "hosts", "shown"),
    [
        (f"postgresql://u:p@db/x?{SAFE}", (Host("db", 5432),), "postgresql://u@db:5432/x"),
        (f"postgres://db:6000/x?{SAFE}", (Host("db", 6000),), "postgresql://db:6000/x"),
        ("postgresql://%2Frun%2Fpg/x", (Host("/run/pg", 5432),), "postgresql:///run/pg:5432/x"),
        ("postgresql:///x?host=/run/pg&port=5433", (Host("/run/pg", 5433),), "postgresql:///run/pg:5433/x"),
        ("postgresql://u@[::1]:5433/x", (Host("::1", 5433),), "postgresql://u@[::1]:5433/x"),
        ("postgresql://127.9.9.9/x?user=u", (Host("127.9.9.9", 5432),), "postgresql://u@127.9.9.9:5432/x"),
        (
            "postgresql://J%C3%BCrgen@localhost/%E9%B3%A5",
            (Host("localhost", 5432),),
            "postgresql://Jürgen@localhost:5432/鳥",
        ),
        (
            f"postgresql://a,b:6000/x?{SAFE}&target_session_attrs=read-write",
            (Host("a", 5432), Host("b", 6000)),
            "postgresql://a:5432,b:6000/x",
        ),
        (
            f"postgresql:///x?host=a,b&port=1,2&{SAFE}&target_session_attrs=primary",
            (Host("a", 1), Host("b", 2)),
            "postgresql://a:1,b:2/x",
        ),
    ],
)
def test_an_address_is_read_as_libpq_reads_it(url: str, hosts: tuple[Host, ...], shown: str) -> None:
    address = read_address(url)
    assert (address.hosts, str(address), address.url) == (hosts, shown, url)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("", "must begin with postgresql://"),
        ("mysql://db/x", "must begin with postgresql://"),
        ("host=db dbname=x", "a space"),
        ("sqlite:///x", "leave it empty for SQLite"),
        ("postgresql://db/x", "add sslmode=verify-full"),
        ("postgresql://db/x?sslmode=require", "add sslmode=verify-full"),
        ("postgresql://10.0.0.1/x?sslmode=verify-ca", "between here and 10.0.0.1:5432"),
        ("postgresql://localhost.example.org/x", "add sslmode=verify-full"),
        ("postgresql://127.0.0.1,db/x?target_session_attrs=read-write", "between here and db:5432"),
        (f"postgresql://a,b/x?{SAFE}", "add target_session_attrs=read-write"),
        (f"postgresql://a/x?{SAFE}&target_session_attrs=standby", "add target_session_attrs=read-write"),
        ("postgresql:///x", "must name the host"),
        ("postgresql://localhost,/x?target_session_attrs=primary", "must name the host"),
        ("postgresql://%2Frun%2Fpg%2C10.0.0.1/x", "a comma"),
        ("postgresql:///x?host=/run/pg&port", "port has no ="),
        ("postgresql:///x?host=/run/pg&user=a=b", "write %3D"),
        ("postgresql://u@10.0.0.1@localhost/x", "one @ too many"),
        ("postgresql://u:p@localhost/x?password=q", "names the password twice"),
        ("postgresql://localhost/x?dbname=y", "dbname is not a supported parameter"),
        ("postgresql://localhost/", "must name one database"),
        ("postgresql://localhost", "must name one database"),
        ("postgresql://localhost/x/y", "must name one database"),
        ("postgresql://localhost/x?hostaddr=10.0.0.1", "hostaddr is not a supported parameter"),
        ("postgresql://localhost/x?service=other", "service is not a supported parameter"),
        ("postgresql://localhost/x?options=-csearch_path%3Dy", "options is not a supported parameter"),
        ("postgresql://localhost/x?user=a&user=b", "user is there twice"),
        ("postgresql://u@localhost/x?user=v", "names the user twice"),
        ("postgresql://localhost/x?host=db", "names the host twice"),
        ("postgresql://localhost:1/x?port=2", "names the port twice"),
        ("postgresql:///x?host=/a,/b&port=1,2,3&target_session_attrs=primary", "one for each host"),
        ("postgresql://localhost:0/x", "from 1 to 65535"),
        ("postgresql://localhost:70000/x", "from 1 to 65535"),
        ("postgresql:///x?host=localhost&port=५", "from 1 to 65535"),
        ("postgresql://::1/x", "an IPv6 address in brackets"),
        ("postgresql://[::1%2C]/x", "an IPv6 address in brackets"),
        ("postgresql://[nonsense]/x", "no IP address"),
        ("postgresql:///x?host=db:5432", "a separate parameter"),
        ("postgresql://localhost/x%", "write %25"),
        ("postgresql://localhost/%FF", "not UTF-8"),
        ("postgresql://localhost/%00", "control character"),
        ("postgresql://localhost/x#y", "write %23"),
        ("postgresql://localhost/" + "x" * MAX_LENGTH, "longer than"),
        ("postgresql://" + ",".join(["localhost"] * (MAX_HOSTS + 1)) + "/x", f"more than {MAX_HOSTS} hosts"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_setting_and_the_way_out(url: str, says: str) -> None:
    with pytest.raises(BadAddress, match=r"^listen_url: ") as refused:
        read_address(url, "listen_url")
    assert says in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://u:{PASSWORD}@db/x",
        f"postgresql://u:{PASSWORD}@localhost/",
        f"postgresql://u:{PASSWORD}%@localhost/x",
        f"postgresql://u:a/{PASSWORD}@localhost/x?{SAFE}",
        f"postgresql://u:a?{PASSWORD}@localhost/x",
        f"postgresql://u:a?{PASSWORD}=@localhost/x",
        f"postgresql://u:a#{PASSWORD}@localhost/x",
        f"postgresql://u:a@{PASSWORD}:b@localhost/x?{SAFE}&nonsense=1",
        f"postgresql://u:{PASSWORD}/b@db",
        f"postgresql://u:a@{PASSWORD}@localhost/x",
        f"mysql://u:{PASSWORD}@localhost/x",
        f"postgresql://localhost/x?password={PASSWORD}&password={PASSWORD}",
    ],
)
def test_no_refusal_shows_the_password(url: str) -> None:
    with pytest.raises(BadAddress) as refused:
        read_address(url)
    assert PASSWORD not in str(refused.value)


@pytest.mark.parametrize("url", [f"postgresql://u:{PASSWORD}@[::1]/x", f"postgresql://[::1]/x?password={PASSWORD}"])
def test_an_address_shows_no_password(url: str) -> None:
    address = read_address(url)
    assert PASSWORD not in f"{address} {address!r}"
