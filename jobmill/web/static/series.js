// Turn <table data-series> into a chart, with the table in a disclosure below it.
// The first column is a time, the others are numbers: cells hold them in data-value (times in seconds since
// 1970, empty if unknown). Columns without values are text and not drawn. data-series labels the disclosure,
// and data-tone on a heading ("good", "bad", "calm", "busy") sets the color of its line.
"use strict";

(() => {
  const HEIGHT = 220;
  const MIN_ROWS = 4;
  const DAY = 86400;
  const DAYS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 30, 60, 90, 180, 365].map((n) => n * DAY);
  const TONES = ["busy", "good", "calm", "bad"];
  // Lines also differ by dashes, not only by color.
  const DASHES = [[], [6, 4], [2, 3], [10, 3, 2, 3]];
  const LANGUAGE = document.documentElement.lang;

  const drawn = new Map();
  const opened = new Set();

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const textOf = (cell) => cell.textContent.trim();

  function number(cell) {
    const value = cell && cell.dataset.value;
    return value === undefined || value === "" ? null : Number(value);
  }

  // Columns with their headings in the order that uPlot needs: oldest first.
  function read(table) {
    const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].map(number));
    rows.sort((a, b) => a[0] - b[0]);
    const columns = [...table.tHead.rows[0].cells].map((head, n) => ({ head, values: rows.map((row) => row[n] ?? null) }));
    return columns.filter(({ values }) => values.some((value) => value !== null));
  }

  // Whole days are in UTC, as the server counts them; other times are local.
  function timeFormats(times) {
    const daily = times.every((at) => at % DAY === 0);
    const zone = daily ? { timeZone: "UTC" } : {};
    const format = (options) => new Intl.DateTimeFormat(LANGUAGE, { ...zone, ...options });
    const day = format({ day: "numeric", month: "short" });
    const month = format({ month: "short", year: "numeric" });
    const hour = format({ hour: "2-digit", minute: "2-digit" });
    const full = format({ dateStyle: "medium", ...(daily ? {} : { timeStyle: "short" }) });
    return {
      daily,
      formatTime: (at) => full.format(at * 1000),
      formatTick: (at, step) => (step >= 30 * DAY ? month : step >= DAY ? day : hour).format(at * 1000),
    };
  }

  // What is counted per day is drawn as bars: one beside the other, so at most two columns.
  function bars(n, count) {
    return { paths: uPlot.paths.bars({ size: [count === 1 ? 0.6 : 0.35, 28], align: count === 1 ? 0 : n === 0 ? -1 : 1 }), dash: [], points: { show: false } };
  }

  function line(head, n) {
    const tone = head.dataset.tone || TONES[n % TONES.length];
    const formatValue = (_, value) => (value === null || value === undefined ? "–" : value.toLocaleString(LANGUAGE));
    return { label: textOf(head), stroke: color(tone), width: 2, dash: DASHES[n % DASHES.length], value: formatValue };
  }

  function settings([first, ...others], width) {
    const { daily, formatTime, formatTick } = timeFormats(first.values);
    const axis = { stroke: color("soft"), grid: { stroke: color("line"), width: 1 }, ticks: { stroke: color("line"), width: 1 } };
    const time = { ...axis, size: 36, space: 80, values: (_, at, __, ___, step) => at.map((tick) => formatTick(tick, step)) };
    return {
      width,
      height: HEIGHT,
      // Room for the right half of the last tick label.
      padding: [null, 32, null, null],
      ...(daily ? { tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC") } : {}),
      scales: { y: { range: (_, low, high) => [Math.min(low ?? 0, 0), Math.max(high ?? 0, 1) * 1.08] } },
      axes: [
        daily ? { ...time, incrs: DAYS } : time,
        { ...axis, size: 56, values: (_, at) => at.map((tick) => tick.toLocaleString(LANGUAGE)) },
      ],
      series: [
        { label: textOf(first.head), value: (_, at) => (at === null ? "–" : formatTime(at)) },
        ...others.map(({ head }, n) => {
          const drawnAs = line(head, n);
          return daily && others.length <= 2 ? { ...drawnAs, fill: drawnAs.stroke, ...bars(n, others.length) } : drawnAs;
        }),
      ],
    };
  }

  function plot(place, table) {
    const columns = read(table);
    drawn.get(place)?.plot.destroy();
    const data = columns.map(({ values }) => values);
    drawn.set(place, { table, plot: new uPlot(settings(columns, place.clientWidth), data, place) });
  }

  const sizes = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) {
      const chart = drawn.get(target)?.plot;
      if (chart && contentRect.width && chart.width !== Math.floor(contentRect.width)) {
        chart.setSize({ width: Math.floor(contentRect.width), height: HEIGHT });
      }
    }
  });

  // Keep an opened table open after an update.
  function fold(table) {
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    const name = table.id || textOf(table.tHead);
    summary.textContent = table.dataset.series || "Show as table";
    details.open = opened.has(name);
    details.addEventListener("toggle", () => (details.open ? opened.add(name) : opened.delete(name)));
    const block = table.closest(".wide") || table;
    block.before(details);
    details.append(summary, block);
    return details;
  }

  function draw(table) {
    const place = document.createElement("div");
    place.className = "series";
    place.setAttribute("aria-hidden", "true");
    fold(table).before(place);
    plot(place, table);
    sizes.observe(place);
  }

  // Remove charts whose element htmx replaced or emptied.
  function removeStale() {
    for (const [place, { plot }] of drawn) {
      if (place.isConnected && place.className === "series" && place.contains(plot.root)) continue;
      sizes.unobserve(place);
      plot.destroy();
      drawn.delete(place);
    }
  }

  function drawAll() {
    removeStale();
    const tables = new Set([...drawn.values()].map(({ table }) => table));
    for (const table of document.querySelectorAll("table[data-series]")) {
      // A few rows make no line, so the table stays as it is.
      if (!tables.has(table) && table.tBodies[0]?.rows.length >= MIN_ROWS) draw(table);
    }
  }

  drawAll();
  document.addEventListener("htmx:after:swap", drawAll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const [place, { table }] of drawn) plot(place, table);
  });
})();
