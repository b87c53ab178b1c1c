from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from jobmill import settings
from jobmill.errors import Invalid, OutsideError, Unavailable
from jobmill.outside.mail import (
    Letter,
    Mailer,
    MailLoginFailed,
    MailServer,
    compose,
    missing_setting,
    parse_server,
)
from jobmill.settings import Settings

from .mailbox import PASSWORD, open_mailbox
from .test_fetch import make_certificate

LETTER = Letter(
    "Ada Lovelace", "ada@example.org", "A place for you", "Hello,\nyes.\n", "n.7@wells.example"
)


async def test_a_letter_arrives_as_it_was_written() -> None:
    text = "Grüße, 你好\n" + "https://wells.example/offer/" + "x" * 300 + "\n.\nend\n"
    async with open_mailbox() as mailbox:
        await Mailer(mailbox.settings()).send(replace(LETTER, subject="Bäckerin · 你好", body=text))
    [got] = mailbox.letters
    assert got.get_content().replace("\r\n", "\n") == text
    assert got["subject"] == "Bäckerin · 你好"
    assert got["from"] == "Wells <hiring@wells.example>"
    assert got["to"] == "Ada Lovelace <ada@example.org>"
    assert got["message-id"] == "<n.7@wells.example>"
    assert got["auto-submitted"] == "auto-generated"
    assert mailbox.recipients == [["ada@example.org"]]


ODD = "Ada\r\nBcc: eve@evil.example\n\nspam\x0b\x00\x85\u2028\u2029Bcc: x@y.z"


@pytest.mark.parametrize("where", ["name", "subject"])
async def test_nothing_in_a_name_or_a_subject_becomes_a_header(where: str) -> None:
    async with open_mailbox() as mailbox:
        await Mailer(mailbox.settings()).send(replace(LETTER, **{where: ODD}))
    [got] = mailbox.letters
    assert mailbox.recipients == [["ada@example.org"]]
    assert got["bcc"] is None
    assert {name.lower() for name in got} == {
        "from", "to", "subject", "date", "message-id", "auto-submitted",
        "content-type", "content-transfer-encoding", "mime-version",
    }  # fmt: skip
    assert len(got["to"].addresses) == 1
    assert got["to"].addresses[0].addr_spec == "ada@example.org"
    assert "\n" not in got[where if where == "subject" else "to"]


@pytest.mark.parametrize(
    "address",
    [
        "",
        "ada",
        "@example.org",
        "ada@",
        "ada@example.org\r\nBcc: eve@evil.example",
        "ada@example.org, eve@evil.example",
        "ada@example.org> <eve@evil.example",
        "a b@example.org",
    ],
)
async def test_an_invalid_address_is_refused_before_connecting(address: str) -> None:
    async with open_mailbox() as mailbox:
        with pytest.raises(Invalid):
            await Mailer(mailbox.settings()).send(replace(LETTER, address=address))
    assert mailbox.letters == []


async def test_international_addresses_are_sent_if_the_server_supports_them() -> None:
    async with open_mailbox() as mailbox:
        post = Mailer(mailbox.settings())
        await post.send(replace(LETTER, address="ada@bücher.example"))
        await post.send(replace(LETTER, address="jörg@bücher.example"))
    assert mailbox.recipients == [
        ["ada@xn--bcher-kva.example"],
        ["jörg@xn--bcher-kva.example"],
    ]


@pytest.mark.parametrize(
    ("refusal", "permanent"),
    [("451 later, {address}", False), ("550 no such user <{address}>", True)],
)
async def test_a_refusal_says_whether_to_retry_but_hides_the_address(
    refusal: str, permanent: bool
) -> None:
    async with open_mailbox() as mailbox:
        mailbox.refusals = [refusal]
        with pytest.raises(OutsideError, match=refusal[:3]) as caught:
            await Mailer(mailbox.settings()).send(LETTER)
    assert caught.value.permanent is permanent
    assert "ada@" not in str(caught.value)


async def test_an_unreachable_mail_server_is_retried() -> None:
    async with open_mailbox() as mailbox:
        post = Mailer(mailbox.settings())
    with pytest.raises(OutsideError, match=r"127\.0\.0\.1 did not accept") as caught:
        await post.send(LETTER)
    assert not caught.value.permanent


async def test_a_wrong_password_is_a_login_failure() -> None:
    async with open_mailbox(login=True) as mailbox:
        await Mailer(mailbox.settings(f"me:{quote(PASSWORD, safe='')}@")).send(LETTER)
        with pytest.raises(MailLoginFailed, match="rejected the login: 535") as caught:
            await Mailer(mailbox.settings("me:hunter2@")).send(LETTER)
    assert set(mailbox.logins) == {b"me"}
    assert len(mailbox.letters) == 1
    assert "hunter2" not in str(caught.value)


async def test_a_server_without_a_valid_certificate_gets_no_letter_and_no_password(
    tmp_path: Path,
) -> None:
    served, trusted = make_certificate(tmp_path, "127.0.0.1")
    trusted.check_hostname = False
    async with open_mailbox(login=True, tls=served) as mailbox:
        settings = mailbox.settings(f"me:{quote(PASSWORD, safe='')}@")
        with pytest.raises(OutsideError, match=r"(?i)certificate"):
            await Mailer(settings).send(LETTER)
        assert mailbox.logins == []
        await Mailer(settings, tls=trusted).send(LETTER)
    assert len(mailbox.letters) == 1


@pytest.mark.parametrize(
    ("server", "start_tls"),
    [
        (MailServer("mail.example", 587, "me", "x"), True),
        (MailServer("mail.example", 25), None),
        (MailServer("mail.example", 465, "me", "x", tls=True), False),
        (MailServer("127.0.0.1", 25, "me", "x"), False),
        (MailServer("localhost", 25), False),
    ],
)
def test_a_password_is_sent_only_over_tls(server: MailServer, start_tls: bool | None) -> None:
    assert server.start_tls is start_tls


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://mail.example", MailServer("mail.example", 587)),
        ("smtps://me@mail.example", MailServer("mail.example", 465, "me", tls=True)),
        ("smtp://a%40b:p%2F%40%3A@[::1]:25/", MailServer("::1", 25, "a@b", "p/@:")),
    ],
)
def test_a_server_is_parsed_from_its_url(url: str, server: MailServer) -> None:
    assert (
        parse_server(Settings.model_validate({"smtp_url": url}).smtp_url.get_secret_value())
        == server
    )


def test_an_unusual_sender_gives_one_from_header() -> None:
    message = compose(LETTER, "Wells, Bakers & Söhne <hiring@wells.example>")
    assert [address.addr_spec for address in message["from"].addresses] == ["hiring@wells.example"]


async def test_missing_mail_settings_are_named() -> None:
    assert "smtp_url" in str(missing_setting(Settings()))
    half = Settings.model_validate({"smtp_url": "smtp://mail.example"})
    assert "mail_from" in str(missing_setting(half))
    with pytest.raises(Unavailable, match="mail_from"):
        await Mailer(half).send(LETTER)


WRONG = [
    ("SMTP_URL", "http://me:s3cret@mail.example", "smtp://"),
    ("SMTP_URL", "smtp://me:s3cret@mail.example:99999", "smtp://"),
    ("SMTP_URL", "smtp://me:s3cret@mail.example/x?y", "smtp://"),
    ("SMTP_URL", "smtp://", "smtp://"),
    ("MAIL_FROM", "hiring", "an address"),
    ("MAIL_FROM", "Wells <hiring@wells.example", "an address"),
    ("MAIL_FROM", "a@b.example, c@d.example", "an address"),
    ("MAIL_FROM", "Wells\x1b <a@b.example>", "an address"),
    ("PUBLIC_URL", "wells.example", "http://"),
    ("PUBLIC_URL", "https://me:s3cret@wells.example", "http://"),
]


@pytest.mark.parametrize(("name", "text", "complaint"), WRONG)
def test_invalid_settings_are_refused_without_showing_a_password(
    name: str, text: str, complaint: str
) -> None:
    with pytest.raises(Invalid, match=complaint) as caught:
        settings.load({f"JOBMILL_{name}": text})
    assert "s3cret" not in str(caught.value)


def test_the_password_is_not_printed_and_links_start_with_public_url() -> None:
    loaded, _ = settings.load(
        {"JOBMILL_SMTP_URL": "smtp://me:s3cret@h", "JOBMILL_PUBLIC_URL": "https://wells.example/"}
    )
    assert "s3cret" not in f"{loaded!r} {loaded.model_dump()} {loaded.model_dump_json()}"
    assert settings.public_base_url(loaded) == "https://wells.example"
    assert settings.public_base_url(Settings(web_host="::1")) == "http://[::1]:8000"
