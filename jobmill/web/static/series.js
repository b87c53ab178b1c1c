// Long series: <table data-series> becomes a chart, and stays below it for whoever wants to read it.
// Its first column is a time, the others are numbers; each cell says it in data-value (times in seconds
// since 1970, none where nothing is known). A column without any is words, and not drawn. The attribute may
// say what the table is called then, and a heading data-tone ("good", "bad", "calm", "busy") how its line looks.
"use strict";

(() => {
  const HEIGHT = 220;
  const DAY = 86400;
  const DAYS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 30, 60, 90, 180, 365].map((n) => n * DAY);
  const TONES = ["busy", "good", "calm", "bad"];
  // Lines differ in more than their colour.
  const DASHES = [[], [6, 4], [2, 3], [10, 3, 2, 3]];
  const LANGUAGE = document.documentElement.lang;

  const drawn = new Map();
  const opened = new Set();

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const words = (cell) => cell.textContent.trim();

  function number(cell) {
    const said = cell && cell.dataset.value;
    return said === undefined || said === "" ? null : Number(said);
  }

  // Columns with their headings, as uPlot wants them: oldest first, whichever way the table is sorted.
  function read(table) {
    const rows = [...table.tBodies[0].rows].map((row) => [...row.cells].map(number));
    rows.sort((a, b) => a[0] - b[0]);
    const columns = [...table.tHead.rows[0].cells].map((head, n) => ({ head, values: rows.map((row) => row[n] ?? null) }));
    return columns.filter(({ values }) => values.some((one) => one !== null));
  }

  // Whole days are those of UTC, as the server counts them; other times are told as they are here.
  function clock(times) {
    const daily = times.every((at) => at % DAY === 0);
    const zone = daily ? { timeZone: "UTC" } : {};
    const format = (how) => new Intl.DateTimeFormat(LANGUAGE, { ...zone, ...how });
    const day = format({ day: "numeric", month: "short" });
    const month = format({ month: "short", year: "numeric" });
    const hour = format({ hour: "2-digit", minute: "2-digit" });
    const whole = format({ dateStyle: "medium", ...(daily ? {} : { timeStyle: "short" }) });
    return {
      daily,
      tell: (at) => whole.format(at * 1000),
      mark: (at, step) => (step >= 30 * DAY ? month : step >= DAY ? day : hour).format(at * 1000),
    };
  }

  function line(head, n) {
    const tone = head.dataset.tone || TONES[n % TONES.length];
    const tell = (_, value) => (value === null || value === undefined ? "–" : value.toLocaleString(LANGUAGE));
    return { label: words(head), stroke: color(tone), width: 2, dash: DASHES[n % DASHES.length], value: tell };
  }

  function settings([first, ...others], width) {
    const { daily, tell, mark } = clock(first.values);
    const axis = { stroke: color("soft"), grid: { stroke: color("line"), width: 1 }, ticks: { stroke: color("line"), width: 1 } };
    const time = { ...axis, size: 36, space: 80, values: (_, at, __, ___, step) => at.map((one) => mark(one, step)) };
    return {
      width,
      height: HEIGHT,
      // Half of the last mark stands beyond the last moment.
      padding: [null, 32, null, null],
      ...(daily ? { tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC") } : {}),
      scales: { y: { range: (_, low, high) => [Math.min(low ?? 0, 0), Math.max(high ?? 0, 1) * 1.08] } },
      axes: [
        daily ? { ...time, incrs: DAYS } : time,
        { ...axis, size: 56, values: (_, at) => at.map((one) => one.toLocaleString(LANGUAGE)) },
      ],
      series: [
        { label: words(first.head), value: (_, at) => (at === null ? "–" : tell(at)) },
        ...others.map(({ head }, n) => line(head, n)),
      ],
    };
  }

  function plot(place, table) {
    const columns = read(table);
    drawn.get(place)?.plot.destroy();
    const data = columns.map(({ values }) => values);
    drawn.set(place, { table, plot: new uPlot(settings(columns, place.clientWidth), data, place) });
  }

  const sizes = new ResizeObserver((seen) => {
    for (const { target, contentRect } of seen) {
      const chart = drawn.get(target)?.plot;
      if (chart && contentRect.width && chart.width !== Math.floor(contentRect.width)) {
        chart.setSize({ width: Math.floor(contentRect.width), height: HEIGHT });
      }
    }
  });

  // Whoever has opened a table finds it open when new figures come.
  function fold(table) {
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    const name = table.id || words(table.tHead);
    summary.textContent = table.dataset.series || "As a table";
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

  // A part that is morphed may keep the element and take what was in it.
  function drop() {
    for (const [place, { plot }] of drawn) {
      if (place.isConnected && place.className === "series" && place.contains(plot.root)) continue;
      sizes.unobserve(place);
      plot.destroy();
      drawn.delete(place);
    }
  }

  function drawAll() {
    drop();
    const known = new Set([...drawn.values()].map(({ table }) => table));
    for (const table of document.querySelectorAll("table[data-series]")) {
      // One point is no line: it is read where it stands.
      if (!known.has(table) && table.tBodies[0]?.rows.length > 1) draw(table);
    }
  }

  drawAll();
  document.addEventListener("htmx:after:swap", drawAll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const [place, { table }] of drawn) plot(place, table);
  });
})();
