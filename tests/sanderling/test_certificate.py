"""TLS by files: an unusable pair is reported, and never replaces a working one."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
import trio
from trio.testing import memory_stream_pair

from actors.settings import Settings
from sanderling.exits import CommandFailed, Exit
from sanderling.listeners import CertificateFiles, CertificateUnusable
from sanderling.serve import _certificate
from tests.support.certificates import NAME, make_certificate, needs_openssl, trusting

pytestmark = [needs_openssl, pytest.mark.real]


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    return make_certificate(tmp_path)


async def shown(files: CertificateFiles, context: ssl.SSLContext) -> tuple[str, str, str | None]:
    """Shake hands; return the certificate's common name, the TLS version, and the negotiated protocol."""
    ours, theirs = memory_stream_pair()
    server = files.wrap(theirs)
    assert isinstance(server, trio.SSLStream)
    client = trio.SSLStream(ours, context, server_hostname=NAME)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.do_handshake)
        await client.do_handshake()
    name = dict(part[0] for part in client.getpeercert()["subject"])["commonName"]
    return name, client.version(), client.selected_alpn_protocol()


def renew(pair: tuple[Path, Path], name: str) -> None:
    """Replace a pair with a new one."""
    (pair[0].parent / "new").mkdir(exist_ok=True)
    for new, old in zip(make_certificate(pair[0].parent / "new", name), pair, strict=True):
        new.replace(old)


async def test_modern_tls_negotiates_http_1_1(pair: tuple[Path, Path]) -> None:
    assert await shown(CertificateFiles(*pair), trusting(pair[0])) == (NAME, "TLSv1.3", "http/1.1")
    older = trusting(pair[0], alpn=("http/1.1",))
    older.maximum_version = ssl.TLSVersion.TLSv1_2
    assert (await shown(CertificateFiles(*pair), older))[1:] == ("TLSv1.2", "http/1.1")


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated")
async def test_tls_1_1_is_not_spoken(pair: tuple[Path, Path]) -> None:
    context = trusting(pair[0])
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(BaseExceptionGroup):
        await shown(CertificateFiles(*pair), context)


async def test_a_renewed_pair_is_taken_once(pair: tuple[Path, Path]) -> None:
    files, first = CertificateFiles(*pair), trusting(pair[0])
    assert (await shown(files, first))[0] == NAME
    assert files.refresh() is None
    renew(pair, "renewed")
    renewal = files.refresh()
    assert renewal is not None and renewal.taken and str(pair[0]) in renewal.says
    assert (await shown(files, trusting(pair[0])))[0] == "renewed"
    assert files.refresh() is None


async def test_half_a_renewal_is_reported_and_the_old_pair_stays_until_the_other_half(pair: tuple[Path, Path]) -> None:
    files, first = CertificateFiles(*pair), trusting(pair[0])
    (pair[0].parent / "new").mkdir()
    certificate, key = make_certificate(pair[0].parent / "new", "renewed")
    certificate.replace(pair[0])
    renewal = files.refresh()
    assert renewal is not None and not renewal.taken
    assert "is not the key of" in renewal.says and "stays in use" in renewal.says
    assert files.refresh() is None, "told once"
    assert (await shown(files, first))[0] == NAME
    key.replace(pair[1])
    renewal = files.refresh()
    assert renewal is not None and renewal.taken
    assert (await shown(files, trusting(pair[0])))[0] == "renewed"


async def test_files_that_go_away_change_nothing(pair: tuple[Path, Path]) -> None:
    files, first = CertificateFiles(*pair), trusting(pair[0])
    pair[1].unlink()
    renewal = files.refresh()
    assert renewal is not None and not renewal.taken and "No such file" in renewal.says
    assert (await shown(files, first))[0] == NAME


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda cert, key: cert.unlink(), "can't be read: No such file"),
        (lambda cert, key: (key.unlink(), key.mkdir()), "can't be read: Is a directory"),
        (lambda cert, key: cert.write_text("nonsense"), "must hold a certificate chain"),
        (lambda cert, key: key.write_text(""), "must hold a certificate chain"),
        (lambda cert, key: make_certificate(cert.parent, password="secret"), "is encrypted"),
        (lambda cert, key: cert.write_bytes(key.read_bytes()), "must hold a certificate chain"),
    ],
)
def test_a_pair_that_cannot_be_used_stops_the_start_with_words(
    pair: tuple[Path, Path], spoil: Callable[[Path, Path], object], says: str
) -> None:
    spoil(*pair)
    with pytest.raises(CertificateUnusable, match=says):
        CertificateFiles(*pair)
    with pytest.raises(CommandFailed, match=says) as caught:
        _certificate(Settings(tls_cert=str(pair[0]), tls_key=str(pair[1])))
    assert caught.value.code == Exit.BAD_SETTING


def test_one_file_without_the_other_is_refused() -> None:
    for given in ({"tls_cert": "c"}, {"tls_key": "k"}):
        with pytest.raises(ValueError, match="https needs both"):
            Settings(**given)
    assert _certificate(Settings()) is None
    assert Settings(tls_cert="c", tls_key="k", port=8443).public_url() == "https://127.0.0.1:8443"
