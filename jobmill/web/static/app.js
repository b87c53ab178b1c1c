// Progressive enhancement: every page also works without this script.
"use strict";

// Show times relative to now, with the exact local time as title.
const RELATIVE = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "auto" });
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

function relative(seconds) {
  const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) || UNITS[3];
  return RELATIVE.format(Math.round(seconds / length), unit);
}

// A time of day in the reader's zone: 15:24 today, Tue, Nov 17, 15:24 on other days.
function formatClock(at) {
  const time = { hour: "2-digit", minute: "2-digit" };
  if (at.toDateString() === new Date().toDateString()) return at.toLocaleTimeString([], time);
  return at.toLocaleString([], { weekday: "short", month: "short", day: "numeric", ...time });
}

function updateTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    time.title = at.toLocaleString();
    const ago = relative((at - Date.now()) / 1000);
    if ("clock" in time.dataset) time.textContent = formatClock(at);
    else time.textContent = "exact" in time.dataset ? `${time.title} (${ago})` : ago;
  }
}

// A countdown: 4:07, 2:30:00, 6 d 23 h.
function formatCountdown(left) {
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  const [days, hours, minutes] = [left / 86400, (left % 86400) / 3600, (left % 3600) / 60];
  if (left >= 86400) return `${Math.floor(days)} d` + (hours >= 1 ? ` ${Math.floor(hours)} h` : "");
  if (left >= 3600) return `${Math.floor(hours)}:${two(minutes)}:${two(left % 60)}`;
  return `${Math.floor(minutes)}:${two(left % 60)}`;
}

// Announce a deadline to screen readers at these seconds, not every second.
const ANNOUNCED_SECONDS = [3600, 600, 300, 60, 30];

function announceDeadline(countdown, left) {
  const status = document.getElementById("steps");
  if (!status || !countdown.isConnected || !(left <= 0 || ANNOUNCED_SECONDS.includes(left))) return;
  const text = left > 0 ? relative(left) : countdown.textContent;
  if (status.textContent !== text) status.textContent = text;
}

function updateDeadlines(root) {
  for (const countdown of root.querySelectorAll("[data-until]")) {
    const left = Math.ceil((new Date(countdown.dataset.until) - Date.now()) / 1000);
    countdown.textContent = left > 0 ? formatCountdown(left) : countdown.dataset.over || "over";
    announceDeadline(countdown, left);
  }
}

function updateClocks(root = document) {
  updateTimes(root);
  updateDeadlines(root);
}

updateClocks();
setInterval(updateClocks, 1000);
document.addEventListener("htmx:after:swap", () => updateClocks());

// The nearest ancestor of an event target, which may also be the document or a text node.
function closest(target, selector) {
  const element = target instanceof Element ? target : target?.parentElement;
  return element ? element.closest(selector) : null;
}

// Matches: keyboard shortcuts. Rows are links, so Tab, Enter and screen readers work as well.
const MOVES = { j: 1, k: -1 };
let lastRow = null;

// The match is above the list on a narrow screen, and beside it on a wide one.
const isNarrow = () => matchMedia("(max-width: 56rem)").matches;

function focusRow(row) {
  const link = row && row.querySelector("h2 a, h3 a");
  if (link) link.focus({ preventScroll: isNarrow() });
}

function moveRow(by) {
  const rows = [...document.querySelectorAll("[data-triage] [data-row]")];
  const current = document.querySelector("[data-triage] [aria-current]");
  const here = rows.indexOf(closest(document.activeElement, "[data-row]") || closest(current, "[data-row]"));
  const next = here < 0 ? 0 : Math.min(Math.max(here + by, 0), rows.length - 1);
  focusRow(rows[next]);
}

function pressKey(key) {
  const row = closest(document.activeElement, "[data-row]");
  const inRow = row && row.querySelector(`[data-key="${key}"]`);
  const undo = key === "u" && document.querySelector("#toast [data-undo]");
  const button = undo || inRow || document.querySelector(`.panel-actions [data-key="${key}"], #toast [data-reason="${key}"]`);
  if (button) button.click();
  return Boolean(button);
}

function isTyping(event) {
  const modified = event.ctrlKey || event.metaKey || event.altKey;
  return modified || closest(event.target, "input, select, textarea, dialog");
}

document.addEventListener("keydown", (event) => {
  const hasShortcuts = document.querySelector("[data-row], #keys");
  if (!hasShortcuts || isTyping(event)) return;
  const help = document.getElementById("keys");
  if (event.key === "?" && help) help.showModal();
  else if (localStorage.getItem("keys") === "off") return;
  else if (event.key in MOVES && document.querySelector("[data-triage]")) moveRow(MOVES[event.key]);
  else if (!/^[sadiour1-7]$/.test(event.key) || !pressKey(event.key)) return;
  event.preventDefault();
});

// Keep the focus in a row when htmx replaces it.
document.addEventListener("submit", (event) => {
  const row = closest(event.target, "[data-row]");
  lastRow = row && row.id;
});
document.addEventListener("htmx:before:swap", () => {
  const row = closest(document.activeElement, "[data-row]");
  if (row && !lastRow) lastRow = row.id;
});
document.addEventListener("htmx:after:swap", () => {
  if (lastRow && document.activeElement === document.body) focusRow(document.getElementById(lastRow));
  lastRow = null;
});

// Keep the focus on a link when htmx replaces its part of the page.
let lastLink = null;
document.addEventListener("htmx:before:swap", () => {
  // Nothing has the focus while another swap has not ended: its link is kept.
  if (document.activeElement === document.body) return;
  const link = closest(document.activeElement, "main a[href]");
  lastLink = link && link.getAttribute("href");
});
document.addEventListener("htmx:after:swap", () => {
  if (document.activeElement !== document.body) lastLink = null;
  const again = lastLink && document.querySelector(`main a[href="${CSS.escape(lastLink)}"]`);
  if (again) again.focus({ preventScroll: true });
});
// What the person does decides the focus from then on.
for (const type of ["pointerdown", "keydown"]) document.addEventListener(type, () => { lastLink = null; }, true);

// Reload after a refused change, so that the page shows the current state.
document.addEventListener("htmx:response:error", (event) => {
  if (closest(event.target, "[data-row]")) location.reload();
});

for (const opener of document.querySelectorAll("[data-open]")) {
  opener.hidden = false;
  opener.addEventListener("click", () => document.getElementById(opener.dataset.open).showModal());
}

const keysOn = document.getElementById("keys-on");
if (keysOn) {
  keysOn.checked = localStorage.getItem("keys") !== "off";
  keysOn.addEventListener("change", () => localStorage.setItem("keys", keysOn.checked ? "on" : "off"));
}

// Copy buttons, where the browser supports them.
for (const copier of document.querySelectorAll("[data-copy]")) {
  copier.hidden = !navigator.clipboard;
  copier.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(copier.dataset.copy).value);
    copier.textContent = "Copied";
  });
}

// Sort tables by their column headings; such tables are complete on one page.
function sortValue(row, column) {
  const cell = row.cells[column];
  const text = cell.dataset.value ?? cell.textContent.trim();
  const number = Number(text.replace(/[,%$ ]/g, ""));
  return text !== "" && !Number.isNaN(number) ? number : text.toLowerCase();
}

function compare(a, b) {
  if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
  return typeof a === "number" ? -1 : 1;
}

document.addEventListener("click", (event) => {
  const head = closest(event.target, "table[data-sort] thead th");
  if (!head || !closest(event.target, "button")) return;
  const descending = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const body = head.closest("table").tBodies[0];
  const rows = [...body.rows].sort((a, b) => compare(sortValue(a, head.cellIndex), sortValue(b, head.cellIndex)));
  body.append(...(descending ? rows.reverse() : rows));
});

// Show a notice while the connection is lost.
function showConnection(online) {
  const notice = document.getElementById("offline");
  if (notice) notice.hidden = online;
}
addEventListener("offline", () => showConnection(false));
addEventListener("online", () => showConnection(true));
document.addEventListener("htmx:sse:error", () => showConnection(false));
document.addEventListener("htmx:sse:after:connection", () => showConnection(true));
