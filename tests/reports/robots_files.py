"""Robots.txt files after shapes found on public sites, with what RFC 9309 and Google's documentation
say about them. `python_differs` names why the documented behaviour, not Python's
`urllib.robotparser`, is right."""

from __future__ import annotations

from dataclasses import dataclass, field

FIRST_MATCH = "Python takes the first matching rule; RFC 9309 2.2.2 takes the longest."
NO_WILDCARD = 'Python compares "*" literally; RFC 9309 2.2.3 makes it any text.'
NO_ANCHOR = 'Python compares "$" literally; RFC 9309 2.2.3 makes it the end of the path.'
FIRST_GROUP = "Python uses the first group of an agent; RFC 9309 2.2.1 combines all of them."
SUBSTRING = "Python matches an agent by a part of its name; RFC 9309 2.2.1 by the whole token."
BLANK_LINE = "Python ends a group at a blank line; in RFC 9309 only the next user agent ends it."
OTHER_LINE = "Python drops this group; Google ignores lines that are no rules and keeps the group."
TYPO = "Google's parser accepts this spelling; Python ignores the line."
BYTE_ORDER_MARK = "Google skips a byte order mark; Python reads it as part of the first key."
EMPTY_DISALLOW = (
    "Python reads an empty Disallow as a rule; by Google's documentation it is ignored."
)
PERCENT = (
    "RFC 9309 2.2.2 compares octets after decoding unreserved ones; Python decodes reserved too."
)
ROBOTS_ITSELF = "RFC 9309 2.2.2: /robots.txt is always allowed."


@dataclass(frozen=True, slots=True)
class RobotsFileCase:
    name: str
    text: str
    expected: dict[tuple[str, str], bool]
    """Whether a bot may fetch a path."""
    python_differs: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])


G, GPT, OAI, PPX, CLB, CLS, CC = (
    "Googlebot", "GPTBot", "OAI-SearchBot", "PerplexityBot", "ClaudeBot", "Claude-SearchBot", "CCBot",
)  # fmt: skip

CASES = (
    RobotsFileCase("empty file", "", {(G, "/"): True, (GPT, "/careers"): True}),
    RobotsFileCase(
        "everything allowed by an empty Disallow",
        "User-agent: *\nDisallow:\n",
        {(G, "/"): True, (GPT, "/a/b?c=d"): True},
    ),
    RobotsFileCase(
        "everything disallowed",
        "User-agent: *\nDisallow: /\n",
        {(G, "/"): False, (GPT, "/careers"): False, (G, "/robots.txt"): True},
        {(G, "/robots.txt"): ROBOTS_ITSELF},
    ),
    RobotsFileCase(
        "WordPress default",
        "User-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\n\n"
        "Sitemap: https://site.example/wp-sitemap.xml\n",
        {
            (G, "/"): True,
            (G, "/wp-admin/"): False,
            (G, "/wp-admin"): True,
            (G, "/wp-admin/admin-ajax.php"): True,
            (GPT, "/wp-admin/users.php"): False,
        },
        {(G, "/wp-admin/admin-ajax.php"): FIRST_MATCH},
    ),
    RobotsFileCase(
        "WordPress with an SEO plug-in",
        "# START BLOCK\n# ---------------------------\nUser-agent: *\nDisallow:\n\n"
        "Sitemap: https://site.example/sitemap_index.xml\n# ---------------------------\n# END BLOCK\n",
        {(G, "/about"): True, (CC, "/"): True},
    ),
    RobotsFileCase(
        "shop system default",
        "# we use a shop platform\n\nUser-agent: *\nDisallow: /admin\nDisallow: /cart\n"
        "Disallow: /orders\nDisallow: /checkouts/\nDisallow: /*/checkouts\n"
        "Disallow: /collections/*sort_by*\nDisallow: /*/collections/*sort_by*\n"
        "Disallow: /collections/*+*\nDisallow: /collections/*%2B*\nDisallow: /blogs/*+*\n"
        "Disallow: /*?*oseid=*\nDisallow: /*preview_theme_id*\nDisallow: /search\n"
        "Sitemap: https://shop.example/sitemap.xml\n\n"
        "User-agent: adsbot-google\nDisallow: /checkouts/\n\nUser-agent: Nutch\nDisallow: /\n\n"
        "User-agent: AhrefsBot\nCrawl-delay: 10\nDisallow: /admin\n",
        {
            (G, "/"): True,
            (G, "/collections/all"): True,
            (G, "/collections/all?sort_by=price"): False,
            (G, "/collections/red+blue"): False,
            (G, "/en/checkouts"): False,
            (G, "/cart"): False,
            (G, "/pages/careers"): True,
            (OAI, "/products/x?a=1&oseid=2"): False,
            ("Nutch", "/pages/careers"): False,
        },
        {
            (G, "/collections/all?sort_by=price"): NO_WILDCARD,
            (G, "/collections/red+blue"): NO_WILDCARD,
            (G, "/en/checkouts"): NO_WILDCARD,
            (OAI, "/products/x?a=1&oseid=2"): NO_WILDCARD,
        },
    ),
    RobotsFileCase(
        "site builder that names AI bots in one group",
        "User-agent: GPTBot\nUser-agent: ChatGPT-User\nUser-agent: CCBot\nUser-agent: anthropic-ai\n"
        "User-agent: Google-Extended\nUser-agent: FacebookBot\nUser-agent: Claude-Web\n"
        "User-agent: PerplexityBot\nUser-agent: Applebot-Extended\nDisallow: /\n\n"
        "User-agent: *\nDisallow: /config\nDisallow: /search\nDisallow: /account$\n"
        "Allow: /api/ui-extensions/\nDisallow: /api/\n",
        {
            (GPT, "/"): False,
            (PPX, "/about"): False,
            ("Applebot-Extended", "/"): False,
            ("Applebot", "/"): True,
            ("Google-Extended", "/"): False,
            (G, "/"): True,
            (G, "/api/ui-extensions/x"): True,
            (G, "/api/x"): False,
            (G, "/account"): False,
            (G, "/account/x"): True,
        },
        {(G, "/account"): NO_ANCHOR},
    ),
    RobotsFileCase(
        "news site that blocks training and AI search",
        "User-agent: *\nDisallow: /ads/\nDisallow: /search\n\nUser-agent: GPTBot\nDisallow: /\n\n"
        "User-agent: OAI-SearchBot\nDisallow: /\n\nUser-agent: CCBot\nDisallow: /\n\n"
        "User-agent: ClaudeBot\nDisallow: /\n\nUser-agent: PerplexityBot\nDisallow: /\n\n"
        "User-agent: Google-Extended\nDisallow: /\n\nUser-agent: Bytespider\nDisallow: /\n",
        {
            (GPT, "/jobs"): False,
            (OAI, "/jobs"): False,
            (CLB, "/"): False,
            (CLS, "/"): True,
            ("Google-Extended", "/"): False,
            (G, "/"): True,
            (G, "/search?q=x"): False,
            ("Bytespider", "/"): False,
        },
    ),
    RobotsFileCase(
        "news site that allows search but not training",
        "User-agent: GPTBot\nDisallow: /\n\nUser-agent: OAI-SearchBot\nAllow: /\n\n"
        "User-agent: *\nDisallow: /paywall/\n",
        {(GPT, "/paywall/a"): False, (OAI, "/paywall/a"): True, (G, "/paywall/a"): False},
    ),
    RobotsFileCase(
        "AI bots allowed in one folder only",
        "User-agent: GPTBot\nAllow: /careers/\nDisallow: /\n",
        {(GPT, "/careers/engineer"): True, (GPT, "/"): False, (G, "/"): True},
    ),
    RobotsFileCase(
        "longest match, Disallow first",
        "User-agent: *\nDisallow: /\nAllow: /careers\n",
        {(G, "/careers"): True, (G, "/careers/1"): True, (G, "/about"): False},
        {(G, "/careers"): FIRST_MATCH, (G, "/careers/1"): FIRST_MATCH},
    ),
    RobotsFileCase(
        "equal length: Allow wins",
        "User-agent: *\nDisallow: /page\nAllow: /page\n",
        {(G, "/page"): True, (G, "/page2"): True},
        {(G, "/page"): FIRST_MATCH, (G, "/page2"): FIRST_MATCH},
    ),
    RobotsFileCase(
        "Google's example of a folder and a page",
        "User-agent: *\nAllow: /folder\nDisallow: /folder\nAllow: /p\nDisallow: /\n",
        {(G, "/folder/page"): True, (G, "/page"): True, (G, "/other"): False},
    ),
    RobotsFileCase(
        "Google's example of a file type",
        "User-agent: *\nAllow: /page\nDisallow: /*.htm\n",
        {(G, "/page.htm"): False, (G, "/page"): True, (G, "/x/y.html"): False},
        {(G, "/page.htm"): FIRST_MATCH, (G, "/x/y.html"): NO_WILDCARD},
    ),
    RobotsFileCase(
        "Google's example of the home page alone",
        "User-agent: *\nAllow: /$\nDisallow: /\n",
        {(G, "/"): True, (G, "/page.htm"): False},
        {(G, "/"): NO_ANCHOR},
    ),
    RobotsFileCase(
        "file type at the end",
        "User-agent: *\nDisallow: /*.php$\n",
        {(G, "/a.php"): False, (G, "/a.php?x=1"): True, (G, "/a.php5"): True, (G, "/a.PHP"): True},
        {(G, "/a.php"): NO_WILDCARD},
    ),
    RobotsFileCase(
        "a dollar sign in the middle is a character",
        "User-agent: *\nDisallow: /a$b\n",
        {(G, "/a$b"): False, (G, "/a"): True},
    ),
    RobotsFileCase(
        "trailing star is ignored",
        "User-agent: *\nDisallow: /fish*\n",
        {(G, "/fish"): False, (G, "/fish/x"): False, (G, "/Fish"): True, (G, "/catfish"): True},
        {(G, "/fish"): NO_WILDCARD, (G, "/fish/x"): NO_WILDCARD},
    ),
    RobotsFileCase(
        "several stars",
        "User-agent: *\nDisallow: /fish*.php\nDisallow: /*/private/*/files\n",
        {
            (G, "/fish.php"): False,
            (G, "/fishheads/catfish.php?x=1"): False,
            (G, "/Fish.PHP"): True,
            (G, "/a/private/b/files/c"): False,
            (G, "/private/b/files"): True,
        },
        {
            (G, "/fish.php"): NO_WILDCARD,
            (G, "/fishheads/catfish.php?x=1"): NO_WILDCARD,
            (G, "/a/private/b/files/c"): NO_WILDCARD,
        },
    ),
    RobotsFileCase(
        "every query string disallowed",
        "User-agent: *\nDisallow: /*?\n",
        {(G, "/jobs"): True, (G, "/jobs?page=2"): False},
        {(G, "/jobs?page=2"): NO_WILDCARD},
    ),
    RobotsFileCase(
        "several groups of one agent are combined",
        "User-agent: GPTBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n\n"
        "User-agent: GPTBot\nDisallow: /b\n",
        {(GPT, "/a"): False, (GPT, "/b"): False, (GPT, "/c"): True, (G, "/c"): False},
        {(GPT, "/b"): FIRST_GROUP},
    ),
    RobotsFileCase(
        "several groups for all are combined",
        "User-agent: *\nDisallow: /a\n\nUser-agent: Bingbot\nDisallow: /c\n\n"
        "User-agent: *\nDisallow: /b\n",
        {(G, "/a"): False, (G, "/b"): False, (G, "/c"): True, ("Bingbot", "/a"): True},
        {(G, "/b"): FIRST_GROUP},
    ),
    RobotsFileCase(
        "a named bot ignores the group for all",
        "User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nDisallow: /private\n",
        {(G, "/"): True, (G, "/private"): False, (OAI, "/"): False},
    ),
    RobotsFileCase(
        "a named bot without rules may read everything",
        "User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nDisallow:\n",
        {(G, "/"): True, (G, "/a"): True, (GPT, "/"): False},
    ),
    RobotsFileCase(
        "a shorter name is another bot",
        "User-agent: Claude\nDisallow: /\n\nUser-agent: Applebot\nDisallow: /x\n",
        {
            (CLB, "/"): True,
            (CLS, "/"): True,
            ("Applebot-Extended", "/x"): True,
            ("Applebot", "/x"): False,
        },
        {
            (CLB, "/"): SUBSTRING,
            (CLS, "/"): SUBSTRING,
            ("Applebot-Extended", "/x"): SUBSTRING,
        },
    ),
    RobotsFileCase(
        "a longer name is another bot",
        "User-agent: Googlebot-News\nDisallow: /\n\nUser-agent: Applebot-Extended\nDisallow: /\n",
        {(G, "/"): True, ("Applebot", "/"): True, ("Applebot-Extended", "/"): False},
    ),
    RobotsFileCase(
        "names in other cases, with a version",
        "USER-AGENT: gptbot/1.2\ndisallow: /Private\n\nuser-Agent: GOOGLEBOT\nDISALLOW: /x\n",
        {
            (GPT, "/Private"): False,
            (GPT, "/private"): True,
            (G, "/x"): False,
            (G, "/X"): True,
        },
        {(GPT, "/Private"): SUBSTRING},
    ),
    RobotsFileCase(
        "byte order mark",
        "\ufeffUser-agent: *\nDisallow: /private\n",
        {(G, "/private"): False, (G, "/"): True},
        {(G, "/private"): BYTE_ORDER_MARK},
    ),
    RobotsFileCase(
        "line ends of Windows",
        "User-agent: GPTBot\r\nDisallow: /a\r\n\r\nUser-agent: *\r\nDisallow: /b\r\n",
        {(GPT, "/a"): False, (GPT, "/b"): True, (G, "/b"): False},
    ),
    RobotsFileCase(
        "line ends of old Macs",
        "User-agent: *\rDisallow: /a\r",
        {(G, "/a"): False, (G, "/b"): True},
    ),
    RobotsFileCase(
        "comments everywhere",
        "# Hello bots\nUser-agent: * # everyone\n# nothing\nDisallow: /a # secret\nDisallow: #/b\n",
        {(G, "/a"): False, (G, "/b"): True},
    ),
    RobotsFileCase(
        "blank lines inside a group",
        "User-agent: *\n\nDisallow: /a\n\n\nDisallow: /b\n",
        {(G, "/a"): False, (G, "/b"): False},
        {(G, "/a"): BLANK_LINE, (G, "/b"): BLANK_LINE},
    ),
    RobotsFileCase(
        "percent-encoding of unreserved characters",
        "User-agent: *\nDisallow: /foo/bar/%62%61%7A\nDisallow: /%7Ejoe/\n",
        {(G, "/foo/bar/baz"): False, (G, "/foo/bar/%62az"): False, (G, "/~joe/x"): False},
    ),
    RobotsFileCase(
        "percent-encoding of reserved characters",
        "User-agent: *\nDisallow: /a%2Fb\n",
        {(G, "/a%2fb"): False, (G, "/a/b"): True},
        {(G, "/a/b"): PERCENT},
    ),
    RobotsFileCase(
        "letters outside of ASCII",
        "User-agent: *\nDisallow: /über\nDisallow: /%E3%83%84\n",
        {(G, "/%C3%BCber"): False, (G, "/über-uns"): False, (G, "/ツ"): False, (G, "/u"): True},
    ),
    RobotsFileCase(
        "crawl delay between agents",
        "User-agent: Bingbot\nCrawl-delay: 10\nUser-agent: CCBot\nDisallow: /\n",
        {("Bingbot", "/"): False, (CC, "/"): False, (G, "/"): True},
        {("Bingbot", "/"): OTHER_LINE},
    ),
    RobotsFileCase(
        "sitemap and unknown lines inside a group",
        "User-agent: *\nSitemap: https://site.example/sitemap.xml\nHost: site.example\n"
        "Content-Signal: search=yes, ai-train=no\nNoindex: /old\nClean-param: ref /\nDisallow: /a\n",
        {(G, "/a"): False, (G, "/old"): True, (GPT, "/b"): True},
    ),
    RobotsFileCase(
        "frequent misspellings",
        "Useragent: *\nDissallow: /a\nDisallow /b\n",
        {(G, "/a"): False, (G, "/b"): False, (G, "/c"): True},
        {(G, "/a"): TYPO, (G, "/b"): TYPO},
    ),
    RobotsFileCase(
        "rules before any user agent",
        "Disallow: /\nUser-agent: GPTBot\nDisallow: /a\n",
        {(G, "/"): True, (GPT, "/a"): False, (GPT, "/"): True},
    ),
    RobotsFileCase(
        "a pattern without a leading slash matches nothing",
        "User-agent: *\nDisallow: private\nDisallow: *secret\n",
        {(G, "/private"): True, (G, "/a/secret"): False},
        {(G, "/a/secret"): NO_WILDCARD},
    ),
    RobotsFileCase(
        "an HTML page instead of rules",
        "<!DOCTYPE html>\n<html><head><title>Not found</title></head>\n"
        "<body style='color: red'>Disallow: nothing here</body></html>\n",
        {(G, "/"): True, (GPT, "/careers"): True},
    ),
    RobotsFileCase(
        "empty Disallow beside others",
        "User-agent: *\nDisallow:\nDisallow: /a\n",
        {(G, "/a"): False, (G, "/b"): True},
        {(G, "/a"): EMPTY_DISALLOW},
    ),
)
