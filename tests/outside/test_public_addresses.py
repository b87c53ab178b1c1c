from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobmill.outside.public_addresses import (
    AddressRefused,
    is_public_text,
    parse_private_hosts,
    parse_url,
)

NOT_ASKED = [
    # loopback addresses, in every spelling that some resolver accepts
    "http://127.0.0.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://127.0.0.01/",
    "http://0/",
    "http://0.0.0.0/",
    "http://1.2.3.4.5/",
    "http://127.0.0.1./",
    "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::ffff:8.8.8.8]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:808:808::1]/",
    "http://[2001::1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1::808:808]/",
    "http://[::1%25lo]/",
    "http://[fe80::1%25eth0]/",
    "http://\uff11\uff12\uff17.\uff10.\uff10.\uff11/",
    "http://①②⑦.0.0.1/",
    "http://127。0。0。1/",
    "http://%31%32%37.0.0.1/",
    # other addresses that are not public
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://100.64.0.1/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    "http://192.0.2.1/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://[fe80::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://[2001:db8::1]/",
    "http://[100::1]/",
    # local names
    "http://localhost/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://ⓛocalhost/",
    "http://loc\u00adalhost/",
    "http://%6cocalhost/",
    "http://me.localhost/",
    "http://metadata/",
    "http://metadata.google.internal/",
    "http://printer.local/",
    "http://example.com./",
    # invalid names
    "http:///",
    "http://a..b/",
    "http://-a.com/",
    "http://exa mple.com/",
    "http://exa%20mple.com/",
    "http://example.com%00.org/",
    "http://example.com\\@127.0.0.1/",
    "http://example.com\t/",
    f"http://{'a' * 64}.com/",
    f"http://{'a.' * 130}com/",
    # other schemes and ports
    "file:///etc/passwd",
    "ftp://example.com/",
    "gopher://example.com/",
    "data:text/html,hi",
    "javascript:alert(1)",
    "ws://example.com/",
    "unix:///var/run/x",
    "//example.com/",
    "example.com",
    "",
    "http://example.com:22/",
    "https://example.com:8443/",
    "http://example.com:0/",
    "http://example.com:65616/",
    "http://example.com:99999999999/",
    "http://me@example.com/",
    "http://me:secret@example.com/",
    "https://example.com/" + "a" * 8_000,
]


@pytest.mark.parametrize("url", NOT_ASKED)
def test_a_url_that_is_not_public_is_refused(url: str) -> None:
    with pytest.raises(AddressRefused):
        parse_url(url)


ASKED = {
    "https://example.com": ("https", "example.com", 443, "/", "example.com"),
    "http://EXAMPLE.com:80/A?b=c#d": ("http", "example.com", 80, "/A?b=c", "example.com"),
    "https://example.com:80/": ("https", "example.com", 80, "/", "example.com:80"),
    "https://münchen.de/ä": ("https", "xn--mnchen-3ya.de", 443, "/%C3%A4", "xn--mnchen-3ya.de"),
    "https://8.8.8.8/": ("https", "8.8.8.8", 443, "/", "8.8.8.8"),
    "https://[2606:4700::1111]/": ("https", "2606:4700::1111", 443, "/", "[2606:4700::1111]"),
    "https://a_b.example.co.uk/": ("https", "a_b.example.co.uk", 443, "/", "a_b.example.co.uk"),
    "https://123.example.com/": ("https", "123.example.com", 443, "/", "123.example.com"),
    "https://acme.com/jobs?q=a b": ("https", "acme.com", 443, "/jobs?q=a%20b", "acme.com"),
}


@pytest.mark.parametrize("url", ASKED)
def test_a_public_url_is_parsed(url: str) -> None:
    target = parse_url(url)
    assert (target.scheme, target.host, target.port, target.path, target.authority) == ASKED[url]
    assert "#" not in target.url


def test_only_the_exact_private_host_and_port_is_allowed() -> None:
    private = parse_private_hosts("127.0.0.1:8001, demo.internal:80,[::1]:9")
    for url in ("http://127.0.0.1:8001/", "http://demo.internal/", "http://[::1]:9/"):
        assert parse_url(url, private)
    for url in (
        "http://127.0.0.1:8002/",
        "http://127.0.0.1/",
        "http://127.0.0.2:8001/",
        "http://2130706433:8001/",
        "http://localhost:8001/",
        "http://x.demo.internal/",
        "https://demo.internal/",
    ):
        with pytest.raises(AddressRefused):
            parse_url(url, private)


def test_http_and_https_of_a_host_share_a_rate_limit() -> None:
    private = parse_private_hosts("127.0.0.1:8001")
    assert parse_url("http://example.com/").rate_limit_key == "example.com"
    assert parse_url("https://example.com/").rate_limit_key == "example.com"
    assert parse_url("http://127.0.0.1:8001/", private).rate_limit_key == "127.0.0.1:8001"


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("64:ff9b::808:808", True),
        ("64:ff9b::7f00:1", False),
        ("::ffff:8.8.8.8", False),
        ("fe80::1%eth0", False),
        ("2002:808:808::", False),
        ("10.1.2.3", False),
        ("nonsense", False),
    ],
)
def test_addresses_from_a_resolver_are_checked(address: str, public: bool) -> None:
    assert is_public_text(address) is public


@given(
    st.sampled_from(
        [
            "",
            "http://",
            "https://[",
            "http://x@",
            "http://127.0.0.1",
            "http://a.com:",
            "http://0x7f.",
        ]
    ),
    st.text(max_size=40) | st.text("0123456789.xf", max_size=12),
)
def test_any_text_is_parsed_or_refused_and_never_private(start: str, rest: str) -> None:
    try:
        target = parse_url(start + rest)
    except AddressRefused:
        return
    assert target.port in (80, 443)
    assert "." in target.host or ":" in target.host
    try:
        # All spellings that the oldest resolvers accept.
        address = socket.inet_ntoa(socket.inet_aton(target.host))
    except OSError:
        return
    assert is_public_text(address)
