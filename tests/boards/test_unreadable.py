"""Platforms that cannot be read are recognised, and reading them is refused."""

from __future__ import annotations

import pytest

from jobmill.boards.adapters import unreadable
from jobmill.boards.detection import detect_likeliest_board
from jobmill.errors import Invalid
from jobmill.outside.request import Request

GUID = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
ADDRESSES = [
    (f"https://workforcenow.adp.com/mascsr/default/mdf/recruitment/recruitment.html?cid={GUID}&ccId=19_1&lang=en", "adp", f"{GUID}/19_1"),
    (f"https://workforcenow.adp.com/mascsr/default/mdf/recruitment/recruitment.html?cid={GUID}", "adp", GUID),
    ("https://acme.jobs.cz/", "almacareer", "acme"),
    ("https://acme.avature.net/en_US/careers/SearchJobs", "avature", "acme"),
    ("https://acme.zhiye.com/Social", "beisen", "acme"),
    ("https://sjobs.brassring.com/TGnewUI/Search/Home/Home?partnerid=1&siteid=2", "brassring", "1/2"),
    ("https://www.comeet.com/jobs/acme/A1.00B", "comeet", "acme"),
    ("https://acme.csod.com/ux/ats/careersite/4/home?c=acme", "cornerstone", "acme"),
    ("https://acme.darwinbox.in/ms/candidate/careers", "darwinbox", "acme"),
    ("https://acme.darwinbox.com/ms/candidate/careers", "darwinbox", "acme.com"),
    ("https://jobs.dayforcehcm.com/en-US/acme/CANDIDATEPORTAL/jobs/1", "dayforce", "acme/CANDIDATEPORTAL"),
    ("https://acme.eightfold.ai/careers", "eightfold", "acme"),
    ("https://jobs.gem.com/acme/1", "gem", "acme"),
    ("https://acme.gupy.io/", "gupy", "acme"),
    ("https://herp.careers/v1/acme/x", "herp", "acme"),
    ("https://hrmos.co/pages/acme/jobs", "hrmos", "acme"),
    ("https://cdn.jobylon.com/jobs/companies/12/embed/v2/", "jobylon", "12"),
    ("https://join.com/companies/acme/1-baker", "join", "acme"),
    ("https://acme.keka.com/careers", "keka", "acme"),
    ("https://app.mokahr.com/social-recruitment/acme/12", "moka", "acme/12"),
    ("https://app.mokahr.com/campus-recruitment/acme/12", "moka", "acme/12/campus"),
    ("https://hire-r1.mokahr.com/social-recruitment/acme/12", "moka", "hire-r1/acme/12"),
    ("https://careers.pageuppeople.com/12/cw/en-us/listing/", "pageup", "12/cw/en-us"),
    ("https://www.paycomonline.net/v4/ats/web.php/portal/AB12/career-page", "paycom", "AB12"),
    (f"https://recruiting.paylocity.com/Recruiting/Jobs/All/{GUID}/Acme", "paylocity", GUID),
    ("https://acme.recruiter.co.kr/career/home", "recruiter_co_kr", "acme"),
    ("https://acme.hire.trakstar.com/jobs", "recruiterbox", "acme"),
    ("https://acme.career.softgarden.de/", "softgarden", "acme"),
    ("https://acme.softgarden.io/de/vacancies", "softgarden", "acme"),
    ("https://career5.successfactors.eu/career?company=acmeP&x=1", "successfactors", "acmeP"),
    ("https://acme.jobs2web.com/", "successfactors", "acme"),
    ("https://phh.tbe.taleo.net/phh01/ats/careers/v2/searchResults?org=ACME&cws=1", "taleo", "ACME"),
    ("https://acme.taleo.net/careersection/2/jobsearch.ftl", "taleo", "acme"),
    ("https://acme.traffit.com/", "traffit", "acme"),
    (f"https://recruiting2.ultipro.com/ACM1000/JobBoard/{GUID}", "ukg", "ACM1000"),
    ("https://recruitingapp-12.umantis.com/Jobs/All", "umantis", "12"),
]  # fmt: skip


def test_every_unreadable_platform_is_covered_by_these_tests() -> None:
    assert {platform.name for platform in unreadable.PLATFORMS} == {
        *(platform for _, platform, _ in ADDRESSES),
        "phenom",
    }


@pytest.mark.parametrize(
    ("html", "platform"),
    [
        ("<script>var phApp = {}; phApp.ddo = {}</script>", "phenom"),
        ('<link href="https://rmkcdn.successfactors.com/x/y.css">', "successfactors"),
    ],
)
def test_a_page_on_a_host_of_its_own_is_recognised(html: str, platform: str) -> None:
    board = detect_likeliest_board("https://careers.acme.example/", html)
    assert board is not None
    assert (board.platform, board.token) == (platform, "careers.acme.example")


@pytest.mark.parametrize("platform", unreadable.PLATFORMS, ids=lambda platform: platform.name)
def test_reading_an_unreadable_platform_is_refused_with_a_message(
    platform: unreadable.Platform,
) -> None:
    config = platform.parse_config({"board_token": "acme"})
    with pytest.raises(Invalid, match="cannot be read yet"):
        platform.read_response(b"{}", Request("https://acme.example/"), config)
