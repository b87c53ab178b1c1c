from __future__ import annotations

import pytest

from jobmill.boards import company_site
from jobmill.errors import OutsideError
from jobmill.outside.request import FetchCause, FetchFailure, Ok, Request, Truncated
from tests.extract.company.helpers import ABOUT, CAREERS, html
from tests.fakes import Net, ok

ROOT = "https://brinewell.example"


def asked(net: Net) -> list[str]:
    return [request.url.removeprefix(ROOT) for request in net.requests]


def serve(net: Net, path: str, body: str, *, led: str | None = None) -> None:
    net.on(ROOT + path, ok(html(body), url=ROOT + (path if led is None else led)))


async def visit(net: Net) -> list[str]:
    pages = await company_site.read_site(net, f"{ROOT}/", "Brinewell")
    return [page.url.removeprefix(ROOT) for page in pages]


async def test_five_pages_are_requested_in_order() -> None:
    net = Net()
    serve(net, "/about", ABOUT)
    serve(net, "/careers", CAREERS)
    serve(net, "/", "<p>Home.</p>")
    assert await visit(net) == ["/about", "/careers", "/"]
    assert asked(net) == ["/about", "/about-us", "/company", "/careers", "/"]
    assert all(request.page for request in net.requests)


@pytest.mark.parametrize(
    ("website", "home"),
    [
        ("https://a.example", "https://a.example/"),
        ("https://a.example/en/", "https://a.example/en/"),
        ("https://a.example/about-us", "https://a.example/"),
        ("https://a.example/index.html?x=1", "https://a.example/"),
    ],
)
def test_the_home_page_is_found_from_any_page_of_the_site(website: str, home: str) -> None:
    assert company_site.page_urls(website)[-1] == home
    assert company_site.page_urls(website)[0] == f"{home}about"


async def test_a_page_served_at_several_urls_is_kept_once() -> None:
    net = Net()
    serve(net, "/about", ABOUT)
    serve(net, "/about-us", ABOUT, led="/about")
    serve(net, "/company", ABOUT + " ", led="/company")
    serve(net, "/careers", ABOUT, led="/other")
    serve(net, "/", CAREERS)
    assert await visit(net) == ["/about", "/company", "/"]


async def test_careers_links_are_followed_if_no_page_leads_to_a_board() -> None:
    net = Net()
    serve(net, "/", '<p>Home.</p><a href="/join-us">Join us</a>')
    serve(net, "/join-us", CAREERS)
    assert await visit(net) == ["/", "/join-us"]


async def test_careers_links_are_not_followed_if_a_board_is_found() -> None:
    net = Net()
    serve(net, "/", CAREERS + '<a href="/join-us">Join us</a>')
    await visit(net)
    assert "/join-us" not in asked(net)


async def test_responses_that_are_not_pages_are_skipped() -> None:
    net = Net()
    net.on(f"{ROOT}/about", Ok(f"{ROOT}/about", b"%PDF", "application/pdf"))
    net.on(f"{ROOT}/company", ok("<title>404: not found</title>"))
    net.on(f"{ROOT}/careers", Truncated(f"{ROOT}/careers", html(CAREERS).encode(), 10))
    serve(net, "/", "<p>Ho\0me.</p>")
    pages = await company_site.read_site(net, ROOT, "Brinewell")
    assert [page.url for page in pages] == [f"{ROOT}/careers", f"{ROOT}/"]
    assert "\0" not in pages[1].html


async def test_a_long_page_is_truncated() -> None:
    net = Net()
    serve(net, "/", "x" * (company_site.MAX_PAGE_LENGTH + 10))
    assert (
        len((await company_site.read_site(net, ROOT, "Brinewell"))[0].html)
        == company_site.MAX_PAGE_LENGTH
    )


@pytest.mark.parametrize(
    ("cause", "permanent", "asks"),
    [
        ("timeout", False, 5),
        ("server", False, 5),
        ("forbidden", False, 5),
        ("robots", True, 5),
        ("refused", True, 1),
    ],
)
async def test_an_unreachable_site_is_an_error(
    cause: FetchCause, permanent: bool, asks: int
) -> None:
    net = Net()

    def away(request: Request) -> FetchFailure:
        return FetchFailure(request.url, cause, "no luck")

    for url in company_site.page_urls(ROOT):
        net.on(url, away)
    with pytest.raises(OutsideError, match="no luck") as caught:
        await visit(net)
    assert (caught.value.permanent, len(net.requests)) == (permanent, asks)


async def test_a_site_without_pages_is_a_permanent_error() -> None:
    with pytest.raises(OutsideError) as caught:
        await visit(Net())
    assert caught.value.permanent


async def test_an_unresolved_host_is_requested_once_and_retried_later() -> None:
    net = Net()
    net.on(
        f"{ROOT}/about",
        FetchFailure(ROOT, "unresolved", "brinewell.example cannot be resolved"),
    )
    with pytest.raises(OutsideError) as caught:
        await visit(net)
    assert (caught.value.permanent, len(net.requests)) == (False, 1)
