"""Charts that the server draws, and their text alternatives."""

from __future__ import annotations

from jobmill.web.charts import HEIGHT, WIDTH, SparkBars, make_bar_groups, make_columns
from jobmill.web.dependencies import make_environment


def test_bars_run_from_oldest_to_newest_inside_their_box() -> None:
    chart = SparkBars.of([1, 5, 0])
    assert [bar.x for bar in chart.bars] == sorted(bar.x for bar in chart.bars)
    assert all(bar.x + bar.width <= WIDTH and bar.y >= 0 for bar in chart.bars)
    assert [round(bar.y + bar.height) for bar in chart.bars] == [HEIGHT] * 3
    assert chart.bars[1].height == HEIGHT > chart.bars[0].height > chart.bars[2].height > 0
    assert (chart.low, chart.high, chart.latest) == (0, 5, 0)


def test_empty_series_draw_nothing() -> None:
    assert SparkBars.of([]).bars == ()
    assert make_columns([]) == []
    assert make_bar_groups([], []) == []


def test_groups_share_one_scale() -> None:
    groups = make_bar_groups(["Mon", "Tue"], [[4, 0], [2, 1]])
    assert [group.heights for group in groups] == [[100, 0], [50, 25]]


def test_column_heights_are_relative_to_the_highest() -> None:
    drawn = make_columns([("a", 5, "good"), ("b", 20, ""), ("c", 0, "bad")])
    assert [column.height for column in drawn] == [25, 100, 0]
    assert [column.height for column in make_columns([("a", 0, "")])] == [0]


def draw(macro: str, **values: object) -> str:
    source = f'{{% from "_charts.html" import {macro} %}}{{{{ {macro}(chart, "Calls") }}}}'
    return make_environment().from_string(source).render(values)


def test_every_chart_has_a_text_alternative() -> None:
    assert "Calls: now 3, lowest 1, highest 5" in draw("spark_bars", chart=SparkBars.of([1, 5, 3]))
    text = draw("columns", chart=make_columns([('<b>"', 5, "good")]))
    assert 'aria-label="Calls"' in text
    assert text.count("&lt;b&gt;&#34;: 5") == 2
