import html

import pytest

from jobmill.extract.fields import html_text


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("<p>One</p><p>Two</p>", "One\n\nTwo"),
        ("<p>one\n   line</p>", "one line"),
        ("a<br>b<br/>c<BR />d", "a\nb\nc\nd"),
        ("<p>un<b>break</b>able w<i>or</i>d</p>", "unbreakable word"),
        (
            "<h2>Asked</h2><ul><li>Ada</li><li>C</li></ul><h2>Given</h2>",
            "Asked\n- Ada\n- C\n\nGiven",
        ),
        ("<ul><li><p>a</p></li><li>b<ul><li>c</li></ul></li></ul>", "- a\n- b\n- c"),
        ("<ul><li>a</li><li> </li><li></li></ul><p>after</p>", "- a\n\nafter"),
        ("<ul><li><div><p>deep</p></div></li></ul>", "- deep"),
        ("<ol><li>a<li>b</ol>", "- a\n- b"),
        (
            "<table><tr><th>Pay</th><td>10</td></tr><tr><td><p>Off</p></td><td>30</td></tr></table>end",
            "Pay | 10\n\nOff | 30\n\nend",
        ),
        ("Tom &amp; Jo&nbsp;&#8211; &eacute;t&eacute;", "Tom & Jo \u2013 été"),
        ("zero\u200bwidth soft\u00adhyphen\ufeff", "zerowidth softhyphen"),
        ("a < b and c > d, 1 <2", "a < b and c > d, 1 <2"),
        ('<p title="a > b">x</p><a href=\'y">z\'>w</a>', "x\nw"),
        ("<p>x</p><script>if (a<b) { '</p>' }</script><style>p{}</style><p>y</p>", "x\n\ny"),
        ("<!-- <p>no</p> --><p>k<!-- not -->ept</p><!doctype html>", "kept"),
        ("<p>seen</p><script>never closed <p>hidden</p>", "seen"),
        ("<svg><title>icon</title></svg><p>x</p><template><p>y</p></template>", "x"),
        ("<pre>a\n  b</pre>", "a\nb"),
        ("No tags at all\nbut lines\n\n\n\nand gaps", "No tags at all\nbut lines\n\nand gaps"),
        ("<b>Only</b> inline\ntags", "Only inline\ntags"),
        ("<p>cut off <a href='", "cut off"),
        ("&lt;p&gt; is a tag", "<p> is a tag"),
        ("<p>&nbsp;</p><br>", None),
        ("", None),
        (None, None),
    ],
)
def test_html_becomes_lines_of_text(value: str | None, expected: str | None) -> None:
    assert html_text.from_html(value) == expected


def test_an_upper_case_tag_is_a_tag() -> None:
    assert html_text.from_html("<UL><LI>a</LI></UL><SCRIPT>b</SCRIPT>") == "- a"


PLAIN = "<p>Ships &amp; <b>boats</b></p><ul><li>R&amp;D</li></ul>"


@pytest.mark.parametrize("times", [0, 1, 2])
def test_html_escaped_once_twice_or_not_at_all_reads_the_same(times: int) -> None:
    escaped = PLAIN
    for _ in range(times):
        escaped = html.escape(escaped)
    assert html_text.from_escaped_html(escaped) == "Ships & boats\n- R&D"


def test_an_escaped_tag_inside_html_stays_text() -> None:
    assert html_text.from_escaped_html("<p>Write &lt;b&gt; for bold</p>") == "Write <b> for bold"


@pytest.mark.parametrize("value", ["\ud800 half", "nul\x00byte", "<p>\udfff</p>x", "&#xD800;x"])
def test_read_text_can_be_encoded_as_utf_8(value: str) -> None:
    for read in (
        html_text.from_html,
        html_text.from_escaped_html,
        html_text.clean_text,
        html_text.single_line,
    ):
        text = read(value)
        assert text
        assert "\x00" not in text
        text.encode()


def test_a_line_is_one_line_with_entities_resolved() -> None:
    assert html_text.single_line("  Cook &amp;\n\tBaker\u00a0(m/f) ") == "Cook & Baker (m/f)"
    assert html_text.single_line(" \u200b ") is None
    assert html_text.single_line(7) is None


def test_parts_are_joined_with_a_gap_and_missing_ones_passed_over() -> None:
    assert html_text.join_sections("a", None, "", "b") == "a\n\nb"
    assert html_text.join_sections(None, "") is None


def test_cleaning_keeps_lines_and_drops_invisible_characters() -> None:
    assert html_text.clean_text(" a \t b \r\n\n\n\n c\u2028d ") == "a b\n\nc\nd"
    assert html_text.clean_text(" \n ") is None


@pytest.mark.parametrize(
    "tag", ["<div>", "<b>", "<ul><li>", "<table><tr><td>", "<font size=1>", "<p", "<a '\">", "<!--"]
)
@pytest.mark.timeout(60)
def test_a_hundred_thousand_levels_do_no_harm(tag: str) -> None:
    html_text.from_html(tag * 100_000 + "end")
