"""Over 250 addresses and URLs that the guard must refuse, each with the rule that refuses it.

`ADDRESSES`: possible answers of a resolver. `URLS`: possible input from a user, a link or a redirect; those that parse
lead to a refused address.
"""

from __future__ import annotations

from ipaddress import IPv4Address

V4 = {
    "this-network": ["0.0.0.0", "0.0.0.1", "0.1.2.3", "0.255.255.255"],
    "private": [
        "10.0.0.0",
        "10.1.2.3",
        "10.255.255.255",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.0.1",
        "192.168.255.255",
    ],
    "shared": ["100.64.0.0", "100.64.0.1", "100.127.255.255"],
    "loopback": ["127.0.0.0", "127.0.0.1", "127.1.1.1", "127.255.255.255"],
    "link-local": ["169.254.0.1", "169.254.1.1", "169.254.255.255"],
    "protocol": ["192.0.0.0", "192.0.0.8", "192.0.0.170", "192.0.0.255"],
    "documentation": ["192.0.2.0", "192.0.2.1", "198.51.100.7", "203.0.113.255"],
    "6to4": ["192.88.99.0", "192.88.99.1"],
    "special": ["192.31.196.1", "192.52.193.1", "192.175.48.6"],
    "benchmark": ["198.18.0.0", "198.18.0.1", "198.19.255.255"],
    "multicast": ["224.0.0.1", "232.1.1.1", "239.255.255.250"],
    "reserved": ["240.0.0.0", "240.0.0.1", "250.1.2.3", "255.255.255.254"],
    "broadcast": ["255.255.255.255"],
    "metadata": [
        "169.254.169.254",
        "169.254.170.2",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
        "169.254.42.42",
    ],
}

V6 = {
    "unspecified": ["::", "0:0:0:0:0:0:0:0"],
    "loopback": ["::1", "0:0:0:0:0:0:0:1"],
    "v4-compatible": ["::127.0.0.1", "::10.0.0.1", "::8.8.8.8", "::ffff"],
    "translated": ["::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8"],
    "nat64": ["64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::a00:1", "64:ff9b:1:2::8.8.8.8"],
    "discard": ["100::", "100::1", "100:0:0:1::1"],
    "teredo": ["2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
    "benchmark": ["2001:2::1", "2001:2:0:ffff::"],
    "orchid": ["2001:10::1", "2001:1f::1", "2001:20::1", "2001:2f:ffff::1"],
    "protocol": ["2001:1::1", "2001:3::1", "2001:4:112::1", "2001:5::1", "2001:100::1", "2001:1ff::1"],
    "documentation": ["2001:db8::1", "2001:db8:ffff::1", "3fff::1", "3fff:fff::1"],
    "6to4": ["2002:7f00:1::", "2002:a00:1::1", "2002:808:808::1"],
    "special": ["2620:4f:8000::1"],
    "6bone": ["3ffe::1", "3ffe:ffff::1"],
    "segment-routing": ["5f00::1", "5f00:ffff::1"],
    "unique-local": ["fc00::1", "fd00::1", "fdff:ffff::1"],
    "link-local": ["fe80::1", "febf::1"],
    "site-local": ["fec0::1", "feff::1"],
    "multicast": ["ff00::1", "ff02::1", "ff05::2", "ff0e::1"],
    "not-global": [
        "1::1",
        "200::1",
        "400::1",
        "1000::1",
        "1fff:ffff::1",
        "4000::1",
        "8000::1",
        "c000::1",
        "e000::1",
        "fe00::1",
    ],
    "metadata": ["fd00:ec2::254", "fd20:ce::254", "fd00:42::42", "fe80::a9fe:a9fe"],
}


def addresses() -> list[tuple[str, str]]:
    """Return every address with its rule: the tables, and each IPv4 address again inside IPv6."""
    table = [(a, f"address-{name}") for names in (V4, V6) for name, found in names.items() for a in found]
    for name, found in V4.items():
        for address in found:
            high, low = divmod(int(IPv4Address(address)), 1 << 16)
            inner = "address-metadata" if name == "metadata" else None
            table += [
                (f"::ffff:{address}", f"address-{name}"),
                (f"64:ff9b::{high:x}:{low:x}", inner or "address-nat64"),
                (f"2002:{high:x}:{low:x}::1", inner or "address-6to4"),
                (f"2600:1f18::5efe:{high:x}:{low:x}", f"address-{name}"),  # ISATAP under a public prefix
            ]
    table += [("fe80::1%eth0", "address-zone"), ("", "address-unreadable"), ("localhost", "address-unreadable")]
    table += [
        (a, "address-unreadable") for a in ("127.1", "0x7f.0.0.1", "0177.0.0.1", "2130706433", "1.2.3.4/8", "[::1]")
    ]
    return table


URLS: list[tuple[str, str]] = [
    # X4: where parsers differ
    ("http://127.0.0.1\\@example.com/", "url-backslash"),
    ("http://example.com\\@127.0.0.1/", "url-backslash"),
    ("http:\\\\example.com/", "url-backslash"),
    ("http://example.com/a\\b", "url-backslash"),
    ("http://a@b@127.0.0.1/", "url-userinfo"),
    ("http://user:pa ss@host/", "url-character"),
    ("http://user:password@example.com/", "url-userinfo"),
    ("http://example.com@127.0.0.1/", "url-userinfo"),
    ("http://@example.com/", "url-userinfo"),
    ("http://:@example.com/", "url-userinfo"),
    ("http://0x7f.1/", "url-host-spelling"),
    ("http://0x7f000001/", "url-host-spelling"),
    ("http://0X7F.0.0.1/", "url-host-spelling"),
    ("http://2130706433/", "url-host-spelling"),
    ("http://127.1/", "url-host-spelling"),
    ("http://127.0.1/", "url-host-spelling"),
    ("http://0177.0.0.1/", "url-host-spelling"),
    ("http://017700000001/", "url-host-spelling"),
    ("http://127.0.0.01/", "url-host-spelling"),
    ("http://127.0.0.0x1/", "url-host-spelling"),
    ("http://127.0.0.1.5/", "url-host-spelling"),
    ("http://256.1.1.1/", "url-host-spelling"),
    ("http://1.2.3.4.:80.", "url-port"),
    ("http://0/", "url-host-spelling"),
    ("http://0x/", "url-host-spelling"),
    ("http://evil.0/", "url-host-spelling"),
    ("http://evil.0x7f/", "url-host-spelling"),
    ("http://\u2460\u2461\u2466.0.0.1/", "url-host-idna"),
    ("http://\uff11\uff12\uff17.0.0.1/", "url-host-idna"),
    ("http://127\u30020\u30020\u30021/", "url-host"),
    ("http://127\uff0e0\uff0e0\uff0e1/", "url-host"),
    ("http://example\uff61com/", "url-host"),
    ("http://\u24d4xample.com/", "url-host-idna"),
    ("http://\ufb01le.com/", "url-host-idna"),
    ("http://exa\u00admple.com/", "url-host-idna"),
    ("http://exa\u200dmple.com/", "url-host-idna"),
    ("http://exa\u200bmple.com/", "url-character"),
    ("http://xn--a/", "url-host-idna"),
    ("http://xn--/", "url-host-idna"),
    ("http://xn--80ak6aa92e.xn--zzz\u00ff/", "url-host-idna"),
    ("http://host%00.example/", "url-host"),
    ("http://%31%32%37.0.0.1/", "url-host"),
    ("http://ex%61mple.com/", "url-host"),
    ("http://[fe80::1%25eth0]/", "url-zone"),
    ("http://[fe80::1%eth0]/", "url-zone"),
    ("http://[::1/", "url-host"),
    ("http://[::1]x/", "url-host"),
    ("http://[v1.fe]/", "url-host"),
    ("http://[127.0.0.1]/", "url-host"),
    ("http://[]/", "url-host"),
    ("http://::1/", "url-host-empty"),
    ("http://a]b/", "url-host"),
    # X5 and invisible characters
    ("http://host:80\r\nX-Evil: 1/", "url-character"),
    ("http://example.com/\r\nX-Evil: 1", "url-character"),
    ("http://example.com/\nx", "url-character"),
    ("http://example.com/\x00x", "url-character"),
    ("http://exa\tmple.com/", "url-character"),
    (" http://example.com/", "url-character"),
    ("http://example.com/ ", "url-character"),
    ("http://example.com/a b", "url-character"),
    ("http://example.com/\x7f", "url-character"),
    ("http://example.com/\x85", "url-character"),
    ("http://example.com/\u2028", "url-character"),
    ("http://example.com/\u202egnp.exe", "url-character"),
    ("http://example.com/\ufeff", "url-character"),
    ("http://example.com/\ud800", "url-character"),
    ("http://example.com/\u3000", "url-character"),
    # schemes
    ("file:///etc/passwd", "url-scheme"),
    ("FILE://localhost/etc/passwd", "url-scheme"),
    ("gopher://127.0.0.1:6379/_x", "url-scheme"),
    ("ftp://example.com/", "url-scheme"),
    ("dict://127.0.0.1:11211/", "url-scheme"),
    ("ldap://example.com/", "url-scheme"),
    ("jar:http://example.com!/", "url-relative"),
    ("data:text/html,x", "url-relative"),
    ("javascript:alert(1)", "url-relative"),
    ("view-source:http://example.com/", "url-relative"),
    ("1http://example.com/", "url-scheme"),
    ("ht%74p://example.com/", "url-scheme"),
    ("", "url-relative"),
    ("example.com", "url-relative"),
    ("//example.com/", "url-relative"),
    ("/path", "url-relative"),
    ("http:example.com", "url-relative"),
    ("http:/example.com", "url-relative"),
    ("://example.com", "url-relative"),
    # hosts
    ("http:///path", "url-host-empty"),
    ("http://", "url-host-empty"),
    ("http://:80/", "url-host-empty"),
    ("http://./", "url-host-empty"),
    ("http://../", "url-host"),
    ("http://.example.com/", "url-host"),
    ("http://example..com/", "url-host"),
    ("http://example.com../", "url-host"),
    ("http://-example.com/", "url-host"),
    ("http://example-.com/", "url-host"),
    ("http://exam!ple.com/", "url-host"),
    ("http://a,b.com/", "url-host"),
    ("http://$(id).example.com/", "url-host"),
    ("http://*.example.com/", "url-host"),
    ("http://" + "a" * 64 + ".com/", "url-host"),
    ("http://" + "a." * 127 + "com/", "url-host"),
    ("http://" + "\u00e4" * 64 + ".com/", "url-host-idna"),
    # lengths and ports
    ("http://example.com/" + "a" * 2048, "url-length"),
    ("http://example.com/" + "\u00e4" * 1000, "url-length"),
    *(
        (f"http://example.com:{port}/", "url-port")
        for port in (0, 1, 7, 22, 23, 25, 53, 79, 81, 110, 143, 389, 445, 465)
    ),
    *(
        (f"http://example.com:{port}/", "url-port")
        for port in (587, 993, 1023, 1433, 2375, 2379, 3306, 5432, 5900, 6000)
    ),
    *(
        (f"http://example.com:{port}/", "url-port")
        for port in (6379, 6667, 9200, 11211, 27017, 65536, 99999, 123456789)
    ),
    *(
        (f"http://example.com:{port}/", "url-port")
        for port in ("-80", "+80", "0x50", "80a", "8 0".replace(" ", "_"), "\u0661")
    ),
    # these parse, and lead to refused addresses
    ("http://127.0.0.1/", "address-loopback"),
    ("http://127.0.0.1./", "address-loopback"),
    ("http://[::ffff:7f00:1]/", "address-loopback"),
    ("http://[::ffff:127.0.0.1]/", "address-loopback"),
    ("http://[0:0:0:0:0:ffff:7f00:0001]:8080/", "address-loopback"),
    ("http://[::]/", "address-unspecified"),
    ("https://10.0.0.1/", "address-private"),
    ("ws://192.168.1.1/", "address-private"),
    ("wss://169.254.169.254/", "address-metadata"),
    ("http://[::ffff:169.254.169.254]/", "address-metadata"),
    ("http://[64:ff9b::a9fe:a9fe]/", "address-metadata"),
    ("http://[2002:a9fe:a9fe::]/", "address-metadata"),
    ("http://[fd00:ec2::254]/", "address-metadata"),
    ("http://100.100.100.200/latest/meta-data", "address-metadata"),
    ("http://0.0.0.0:8080/", "address-this-network"),
]
