// What the pages do beyond links and forms. Without it everything can still be read and sent.
"use strict";

// Times are shown as they are here, and how long ago; the exact one stands in the title.
const RELATIVE = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "auto" });
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

function relative(seconds) {
  const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) || UNITS[3];
  return RELATIVE.format(Math.round(seconds / length), unit);
}

function tellTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    time.title = at.toLocaleString();
    const ago = relative((at - Date.now()) / 1000);
    time.textContent = "exact" in time.dataset ? `${time.title} (${ago})` : ago;
  }
}

// A countdown to a deadline: 4:07, 2:30:00, 6 d 23 h, and "over" once it is.
function clock(left) {
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  const [days, hours, minutes] = [left / 86400, (left % 86400) / 3600, (left % 3600) / 60];
  if (left >= 86400) return `${Math.floor(days)} d ${Math.floor(hours)} h`;
  if (left >= 3600) return `${Math.floor(hours)}:${two(minutes)}:${two(left % 60)}`;
  return `${Math.floor(minutes)}:${two(left % 60)}`;
}

// A screen reader is told of a deadline at a few steps, not every second.
const STEPS = [3600, 600, 300, 60, 30];

function tellStep(one, left) {
  const line = document.getElementById("steps");
  if (!line || !one.isConnected || !(left <= 0 || STEPS.includes(left))) return;
  const said = left > 0 ? relative(left) : one.textContent;
  if (line.textContent !== said) line.textContent = said;
}

function tellDeadlines(root) {
  for (const one of root.querySelectorAll("[data-until]")) {
    const left = Math.ceil((new Date(one.dataset.until) - Date.now()) / 1000);
    one.textContent = left > 0 ? clock(left) : one.dataset.over || "over";
    tellStep(one, left);
  }
}

function tell(root = document) {
  tellTimes(root);
  tellDeadlines(root);
}

tell();
setInterval(tell, 1000);
document.addEventListener("htmx:after:swap", () => tell());

// Matches: one key a decision. Rows are links, so that Tab, Enter and a screen reader know them, too.
const MOVES = { j: 1, k: -1 };
let lastRow = null;

function focusRow(row) {
  const link = row && row.querySelector("h2 a, h3 a");
  if (link) link.focus();
}

function moveRow(by) {
  const rows = [...document.querySelectorAll("[data-triage] [data-row]")];
  const here = rows.indexOf(document.activeElement.closest("[data-row]"));
  const next = here < 0 ? 0 : Math.min(Math.max(here + by, 0), rows.length - 1);
  focusRow(rows[next]);
}

// The board: to the first card of the next column that has one.
const SIDES = { h: -1, l: 1 };

function moveColumn(by) {
  const columns = [...document.querySelectorAll(".kanban section")].filter((one) => one.querySelector("[data-row]"));
  const here = columns.indexOf(document.activeElement.closest(".kanban section"));
  const next = columns[here < 0 ? 0 : Math.min(Math.max(here + by, 0), columns.length - 1)];
  focusRow(next && next.querySelector("[data-row]"));
  return columns.length > 0;
}

function pressKey(key) {
  const row = document.activeElement.closest("[data-row]") || document.querySelector("main > [data-row]");
  const button = row && row.querySelector(`[data-key="${key}"]`);
  if (button) button.click();
  return Boolean(button);
}

function isTyping(event) {
  const held = event.ctrlKey || event.metaKey || event.altKey;
  return held || event.target.closest("input, select, textarea, dialog");
}

document.addEventListener("keydown", (event) => {
  const known = document.querySelector("[data-row], #keys");
  if (!known || isTyping(event)) return;
  const help = document.getElementById("keys");
  if (event.key === "?" && help) help.showModal();
  else if (localStorage.getItem("keys") === "off") return;
  else if (event.key in MOVES && document.querySelector("[data-triage]")) moveRow(MOVES[event.key]);
  else if (event.key in SIDES && moveColumn(SIDES[event.key])) {}
  else if (!/^[sadiour]$/.test(event.key) || !pressKey(event.key)) return;
  event.preventDefault();
});

// A row that is drawn anew keeps the place of whoever was in it.
document.addEventListener("submit", (event) => {
  const row = event.target.closest("[data-row]");
  // A card leaves its column: whoever goes through one goes on with the next.
  const next = row && row.closest(".kanban") && (row.nextElementSibling || row.previousElementSibling);
  lastRow = row && (next || row).id;
});
document.addEventListener("htmx:before:swap", () => {
  const row = document.activeElement.closest("[data-row]");
  if (row && !lastRow) lastRow = row.id;
});
document.addEventListener("htmx:after:swap", () => {
  if (lastRow && document.activeElement === document.body) focusRow(document.getElementById(lastRow));
  lastRow = null;
});

// So does whoever stood on a link of a part that is drawn anew.
let lastLink = null;
document.addEventListener("htmx:before:swap", () => {
  const link = document.activeElement.closest("main a[href]");
  lastLink = link && link.getAttribute("href");
});
document.addEventListener("htmx:after:swap", () => {
  if (!lastLink || document.activeElement !== document.body) return;
  const again = document.querySelector(`main a[href="${CSS.escape(lastLink)}"]`);
  if (again) again.focus({ preventScroll: true });
});

// What was refused is told by the page itself.
document.addEventListener("htmx:response:error", (event) => {
  if (event.target.closest("[data-row]")) location.reload();
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

// Copying, where the browser lets a page do it; else the text can be selected.
for (const copier of document.querySelectorAll("[data-copy]")) {
  copier.hidden = !navigator.clipboard;
  copier.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(copier.dataset.copy).value);
    copier.textContent = "Copied";
  });
}

// A table whose headings are buttons is sorted here: it is all on this page.
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
  const head = event.target.closest("table[data-sort] thead th");
  if (!head || !event.target.closest("button")) return;
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = head.closest("table").tBodies[0];
  const rows = [...body.rows].sort((a, b) => compare(sortValue(a, head.cellIndex), sortValue(b, head.cellIndex)));
  body.append(...(down ? rows.reverse() : rows));
});

// Whoever is cut off is told, for nothing here moves meanwhile.
function tellConnection(on) {
  const line = document.getElementById("offline");
  if (line) line.hidden = on;
}
addEventListener("offline", () => tellConnection(false));
addEventListener("online", () => tellConnection(true));
document.addEventListener("htmx:sse:error", () => tellConnection(false));
document.addEventListener("htmx:sse:after:connection", () => tellConnection(true));

// The replay: where the slider or a button has led to is said once, by the slider as well.
document.addEventListener("htmx:after:swap", () => {
  const line = document.getElementById("said"), moment = document.querySelector("#past .moment");
  if (!line || !moment) return;
  line.textContent = moment.textContent.replace(/\s+/g, " ").trim();
  document.getElementById("seq").setAttribute("aria-valuetext", line.textContent);
});
