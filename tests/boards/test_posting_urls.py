"""The canonical URL of a page, and the posting that a URL names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import urls
from jobmill.errors import Invalid

LEVER_ID = "0a1b2c3d-4e5f-6789-abcd-ef0123456789"
SAME_PAGE = {
    "https://acme.example/careers/platform-engineer": (
        "https://acme.example/careers/platform-engineer/",
        "http://www.Acme.example:80/careers//platform-engineer",
        "https://acme.example./careers/./x/../platform-engineer#apply",
        "https://acme.example:443/careers/platform%2Dengineer?utm_source=x&UTM_Campaign=y",
        "https://acme.example/careers/platform-engineer?ref=a&source=b&src=c&fbclid=1&gclid=2&trk=z",
        "https://acme.example/careers/platform-engineer?mc_cid=1&_hsenc=2&__hstc=3&igshid=4&gh_src=5",
        "https://somebody:secret@acme.example/careers/platform-engineer;jsessionid=A1",
    ),
    "https://acme.example/jobs?id=7&page=2": ("https://acme.example/jobs/?page=2&utm_term=q&id=7&id=7",),
    "https://acme.example/#/openings/123": (
        "https://acme.example/#/openings/123/",
        "https://acme.example#/openings/123?utm_source=feed",
    ),
    "https://acme.example/#!openings/123": ("https://acme.example/?fbclid=1#!openings/123",),
    "http://acme.example:8080/x": ("HTTP://ACME.example:8080/x/",),
    "https://xn--mller-kva.example/stellen/%C3%BCbersicht": (
        "https://müller.example/stellen/übersicht",
        "https://MÜLLER.example/stellen/%c3%bcbersicht",
    ),
    "https://boards.greenhouse.io/acme/jobs/4012345": (
        "https://job-boards.greenhouse.io/acme/jobs/4012345?gh_src=abc&t=def",
        "https://boards.greenhouse.io/ACME/jobs/4012345#app",
        "https://boards.greenhouse.io/embed/job_app?for=Acme&token=4012345&b=https%3A%2F%2Facme.example",
        "https://job-boards.greenhouse.io/embed/job_app?token=4012345&for=acme",
        "https://boards-api.greenhouse.io/v1/boards/acme/jobs/4012345?questions=true",
    ),
    "https://boards.eu.greenhouse.io/acme/jobs/4012345101": (
        "https://job-boards.eu.greenhouse.io/acme/jobs/4012345101",
    ),
    "https://acme.example/careers?gh_jid=4012345": (
        "https://www.acme.example/careers/?gh_jid=4012345&job_id=99&gh_src=x",
    ),
    f"https://jobs.lever.co/acme/{LEVER_ID}": (
        f"https://jobs.lever.co/Acme/{LEVER_ID.upper()}/apply?lever-source=LinkedIn&lever-origin=a",
        f"https://api.lever.co/v0/postings/acme/{LEVER_ID}?mode=json",
    ),
    f"https://jobs.eu.lever.co/acme/{LEVER_ID}": (f"https://jobs.eu.lever.co/acme/{LEVER_ID}/apply",),
    f"https://jobs.ashbyhq.com/acme%20labs/{LEVER_ID}": (
        f"https://jobs.ashbyhq.com/Acme%20Labs/{LEVER_ID}/application?utm_source=x&locationId=1",
        f"https://jobs.ashbyhq.com/acme labs/{LEVER_ID}",
    ),
    "https://apply.workable.com/j/AB12CD34EF": (
        "https://apply.workable.com/acme/j/AB12CD34EF/apply/",
        "https://apply.workable.com/Acme/j/ab12cd34ef",
        "https://acme.workable.com/j/AB12CD34EF",
    ),
    "https://jobs.smartrecruiters.com/acmegroup/744000012345678": (
        "https://jobs.smartrecruiters.com/AcmeGroup/744000012345678-senior-welder?trid=1",
        "https://careers.smartrecruiters.com/acmegroup/744000012345678",
        "https://api.smartrecruiters.com/v1/companies/AcmeGroup/postings/744000012345678",
    ),
    "https://acme.wd5.myworkdayjobs.com/External_Site/job/Welder--Night_R-10042-1": (
        "https://acme.wd5.myworkdayjobs.com/en-US/External_Site/job/Oslo/Welder--Night_R-10042-1",
        "https://acme.wd5.myworkdayjobs.com/External_Site/job/Oslo/Welder--Night_R-10042-1/apply/autofillWithResume?source=x",
        "https://acme.wd5.myworkdayjobs.com/de/External_Site/details/Welder--Night_R-10042-1?q=welder",
        "https://acme.wd5.myworkdayjobs.com/wday/cxs/acme/External_Site/job/Oslo/Welder--Night_R-10042-1",
    ),
    "https://linkedin.com/jobs/view/3812345678": (
        "https://www.linkedin.com/jobs/view/platform-engineer-at-acme-3812345678?trk=public",
        "https://uk.linkedin.com/jobs/view/3812345678/",
        "https://www.linkedin.com/jobs/search/?keywords=x&currentJobId=3812345678",
    ),
    "https://indeed.com/viewjob?jk=0123456789abcdef": (
        "https://www.indeed.com/rc/clk?jk=0123456789abcdef&from=serp&vjs=3",
        "https://uk.indeed.com/jobs?q=x&vjk=0123456789abcdef",
    ),
    "https://acme.teamtailor.com/jobs/501234": (
        "https://acme.teamtailor.com/en-GB/jobs/501234-platform-engineer/applications/new",
    ),
    "https://acme.jobs.personio.de/job/9876": ("https://acme.jobs.personio.com/job/9876?language=en",),
    "https://acme.bamboohr.com/careers/31": ("https://acme.bamboohr.com/jobs/view.php?id=31&source=x",),
    "https://jobs.jobvite.com/acme/job/oAbCdfwQ": (
        "https://jobs.jobvite.com/careers/acme/job/oAbCdfwQ/apply?nl=1&fr=false",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("url", "expected"),
    [(url, page) for page, forms in SAME_PAGE.items() for url in (page, *forms)],
)
def test_all_forms_of_a_page_have_the_same_canonical_url(url: str, expected: str) -> None:
    assert PLATFORM_RULES.canonical(url) == expected


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("https://acme.example/Jobs/A", "https://acme.example/jobs/a"),
        ("https://acme.example/jobs?id=1", "https://acme.example/jobs?id=2"),
        ("https://acme.example/jobs?reqid=1", "https://acme.example/jobs?reqid=2"),
        ("https://acme.example/a%2Fb", "https://acme.example/a/b"),
        ("https://acme.example/#/a/1", "https://acme.example/#/a/2"),
        ("https://acme.example:8443/", "https://acme.example/"),
        (
            "https://acme.wd5.myworkdayjobs.com/Site/job/X_R1",
            "https://acme.wd5.myworkdayjobs.com/site/job/X_R1",
        ),
        ("https://acme.example/x?gh_jid=1", "https://acme.example/x?gh_jid=2"),
        ("https://boards.greenhouse.io/a/jobs/1", "https://boards.eu.greenhouse.io/a/jobs/1"),
    ],
)
def test_different_pages_have_different_canonical_urls(first: str, other: str) -> None:
    assert PLATFORM_RULES.canonical(first) != PLATFORM_RULES.canonical(other)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://job-boards.greenhouse.io/Acme/jobs/401?x=1", ("greenhouse", "acme", "401")),
        ("https://acme.example/about/jobs?gh_jid=401", ("greenhouse", "", "401")),
        ("https://boards.greenhouse.io/embed/job_app?token=401", ("greenhouse", "", "401")),
        (f"https://jobs.lever.co/acme/{LEVER_ID}/apply", ("lever", "acme", LEVER_ID)),
        (f"https://jobs.ashbyhq.com/Acme.io/{LEVER_ID}", ("ashby", "acme.io", LEVER_ID)),
        (f"https://acme.example/careers?ashby_jid={LEVER_ID}", ("ashby", "", LEVER_ID)),
        ("https://apply.workable.com/j/ab12cd34ef", ("workable", "", "AB12CD34EF")),
        (
            "https://jobs.smartrecruiters.com/Acme/744000012345678-welder",
            ("smartrecruiters", "acme", "744000012345678"),
        ),
        (
            "https://acme.wd1.myworkdayjobs.com/en-US/Site/job/Oslo/Night_Welder_JR20042-2",
            ("workday", "acme", "JR20042"),
        ),
        (
            "https://wd3.myworkdaysite.com/en-US/recruiting/acme/Site/job/Oslo/Welder_R-10042",
            ("workday", "acme", "R-10042"),
        ),
        ("https://acme.breezy.hr/p/0123456789ab-welder/apply", ("breezy", "acme", "0123456789ab")),
        ("https://acme.applytojob.com/apply/aBcDeFgHiJ/Welder", ("jazzhr", "acme", "aBcDeFgHiJ")),
        ("https://careers-acme.icims.com/jobs/4321/welder/job", ("icims", "careers-acme", "4321")),
        (
            "https://eabc.fa.em2.oraclecloud.com/hcmUI/CandidateExperience/no/sites/CX_1/job/88/?x",
            ("oracle", "eabc.fa.em2", "88"),
        ),
        ("https://boards.greenhouse.io/acme", None),
        ("https://jobs.lever.co/acme", None),
        ("https://acme.wd1.myworkdayjobs.com/en-US/Site", None),
        ("https://acme.example/careers/welder", None),
        ("not a url", None),
    ],
)
def test_a_posting_url_names_platform_board_and_id(
    url: str, expected: tuple[str, str, str] | None
) -> None:
    assert PLATFORM_RULES.posting_key(url) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "acme.example/jobs", "//acme.example", "ftp://acme.example", "mailto:a@acme.example",
        "javascript:alert(1)", "https://", "https:///x", "https://a..b/", "https://a b/",
        "https://[::1", "https://acme.example:99999/", "https://acme.example:x/", "https://%41/",
        "https://acme.example/" + "x" * 5000,
    ],
)  # fmt: skip
def test_anything_but_a_web_url_is_invalid(text: str) -> None:
    with pytest.raises(Invalid):
        PLATFORM_RULES.canonical(text)


def test_parameters_without_an_id_do_not_distinguish_postings() -> None:
    plain = PLATFORM_RULES.page("https://acme.example/role/welder")
    assert PLATFORM_RULES.page("https://acme.example/role/welder?lang=en&theme=dark") == plain
    assert PLATFORM_RULES.page("https://acme.example/role/welder?reqid=7") != plain
    assert PLATFORM_RULES.page("https://acme.example/role/welder?x=10042") != plain


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("https://acme.example/careers/401?gh_jid=401", "https://acme.example/careers/401"),
        ("https://www.acme.example/careers/401/?gh_jid=401&utm_source=x", "https://acme.example/careers/401"),
        ("https://acme.example/careers/rigger-401?gh_jid=401", "https://acme.example/careers/rigger-401"),
        ("https://acme.example/careers/401?job_id=401", "https://acme.example/careers/401"),
        (f"https://acme.example/jobs/{LEVER_ID}?ashby_jid={LEVER_ID}", f"https://acme.example/jobs/{LEVER_ID}"),
    ],
)  # fmt: skip
def test_a_parameter_that_repeats_the_id_of_the_path_is_dropped(url: str, page: str) -> None:
    assert PLATFORM_RULES.canonical(url) == PLATFORM_RULES.canonical(page) == page


@pytest.mark.parametrize(
    ("url", "other"),
    [
        ("https://acme.example/careers/401?gh_jid=402", "https://acme.example/careers/401"),
        ("https://acme.example/careers/1401?gh_jid=401", "https://acme.example/careers/1401"),
        ("https://acme.example/careers?gh_jid=401", "https://acme.example/careers"),
        ("https://acme.example/list/2?page=2", "https://acme.example/list/2"),
    ],
)
def test_a_parameter_that_says_more_than_the_path_is_kept(url: str, other: str) -> None:
    assert PLATFORM_RULES.canonical(url) != PLATFORM_RULES.canonical(other)


def test_a_list_is_not_taken_for_a_posting() -> None:
    assert PLATFORM_RULES.is_specific("https://acme.example/careers/10042")
    assert PLATFORM_RULES.is_specific("https://acme.example/senior-night-shift-welder")
    assert PLATFORM_RULES.is_specific("https://acme.example/careers?gh_jid=10042")
    assert not PLATFORM_RULES.is_specific("https://acme.example/careers")
    assert not PLATFORM_RULES.is_specific("https://acme.example")


HOSTS = st.sampled_from([
    "acme.example", "WWW.acme.example.", "boards.greenhouse.io", "jobs.lever.co", "müller.example",
    "acme.wd1.myworkdayjobs.com", "apply.workable.com", "jobs.ashbyhq.com", "www.indeed.com",
    "acme.recruitee.com", "jobs.smartrecruiters.com", "www.linkedin.com", "[::1]:8080",
])  # fmt: skip
PIECES = st.lists(
    st.sampled_from([
        "/", "//", "acme", "jobs", "j", "o", "job", "Ü", "%c3%9c", "%41", "%", "%2", "..", ".", "_R1-1",
        "401", "7440000123456", "AB12CD34EF", LEVER_ID, "apply", ";jsessionid=", " ", "+", "?", "&", "=",
        "gh_jid=", "jk=", "utm_x=", "id", "#", "#/", "#!", "for=", "embed/job_app", "token=", "en-US",
    ]),
    max_size=14,
).map("".join)  # fmt: skip


@given(HOSTS, PIECES)
def test_the_canonical_url_of_a_canonical_url_is_itself(host: str, rest: str) -> None:
    try:
        once = PLATFORM_RULES.canonical(f"https://{host}/{rest}")
    except Invalid:
        return
    assert PLATFORM_RULES.canonical(once) == once
    assert PLATFORM_RULES.posting_key(once) == PLATFORM_RULES.posting_key(f"https://{host}/{rest}")


@given(st.one_of(st.text(), st.text().map("https://".__add__)))
def test_any_text_is_a_url_or_invalid(text: str) -> None:
    try:
        once = PLATFORM_RULES.canonical(text)
    except Invalid:
        return
    assert PLATFORM_RULES.canonical(once) == once
    urls.domain(text)
    PLATFORM_RULES.page(text)
    PLATFORM_RULES.posting_key(text)
