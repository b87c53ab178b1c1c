"""Charts that the server draws, and their text alternatives."""

from __future__ import annotations

from jobmill.web.charts import HEIGHT, WIDTH, Sparkline, make_columns
from jobmill.web.dependencies import make_environment


def test_a_sparkline_runs_from_oldest_to_newest_inside_its_box() -> None:
    line = Sparkline.of([1, 5, 3])
    dots = [tuple(map(float, dot.split(","))) for dot in line.points.split()]
    assert [x for x, _ in dots] == sorted(x for x, _ in dots)
    assert all(0 < x < WIDTH and 0 < y < HEIGHT for x, y in dots)
    assert dots[1][1] < dots[2][1] < dots[0][1]
    assert (line.low, line.high, line.latest, line.last) == (1, 5, 3, dots[-1])


def test_equal_values_are_drawn_in_the_middle() -> None:
    assert {dot.split(",")[1] for dot in Sparkline.of([4, 4]).points.split()} == {str(HEIGHT / 2)}


def test_empty_series_draw_nothing() -> None:
    assert Sparkline.of([]).points == ""
    assert make_columns([]) == []


def test_column_heights_are_relative_to_the_highest() -> None:
    drawn = make_columns([("a", 5, "good"), ("b", 20, ""), ("c", 0, "bad")])
    assert [column.height for column in drawn] == [25, 100, 0]
    assert [column.height for column in make_columns([("a", 0, "")])] == [0]


def draw(macro: str, **values: object) -> str:
    source = f'{{% from "_charts.html" import {macro} %}}{{{{ {macro}(chart, "Calls") }}}}'
    return make_environment().from_string(source).render(values)


def test_every_chart_has_a_text_alternative() -> None:
    assert "Calls: now 3, lowest 1, highest 5" in draw("sparkline", chart=Sparkline.of([1, 5, 3]))
    text = draw("columns", chart=make_columns([('<b>"', 5, "good")]))
    assert 'aria-label="Calls"' in text
    assert text.count("&lt;b&gt;&#34;: 5") == 2
