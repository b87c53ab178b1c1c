// Triage of matches: the chosen row of the list is shown in the panel, and a decision moves on to the next row.
// Without this script rows are links and decisions are plain forms.
"use strict";

const panels = new Map();
const decided = [];
let requests = Promise.resolve();
let loading = null;

const panel = () => document.getElementById("panel");
const currentLink = () => document.querySelector("[data-triage] [data-panel][aria-current]");

async function request(url, options) {
  const response = await fetch(url, { headers: { "HX-Request": "true" }, ...options });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response.text();
}

// Decisions are sent one after the other; after a refused one the page shows the current state.
function enqueue(task) {
  requests = requests.then(task).catch(() => location.reload());
  return requests;
}

function fetchPanel(link) {
  const url = link.dataset.panel;
  if (!panels.has(url)) panels.set(url, request(url));
  return panels.get(url);
}

function showPanel(html) {
  panel().innerHTML = html;
  panel().scrollTop = 0;
  updateClocks(panel());
  document.dispatchEvent(new CustomEvent("panel:shown"));
}

function neighbour(row) {
  return row.nextElementSibling || row.previousElementSibling;
}

// Show the match of a row. Keys that are pressed while it loads are repeated when it is there.
function select(row) {
  const link = row.querySelector("[data-panel]");
  currentLink()?.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  const keys = (loading = []);
  panel().replaceChildren();
  if (isNarrow()) panel().scrollIntoView();
  fetchPanel(link).then((html) => {
    if (loading !== keys) return;
    loading = null;
    showPanel(html);
    const next = row.nextElementSibling?.querySelector("[data-panel]");
    if (next) fetchPanel(next).catch(() => {});
    while (keys.length && !loading) document.dispatchEvent(new KeyboardEvent("keydown", { key: keys.shift() }));
    loading?.unshift(...keys);
  }).catch(() => location.assign(link.href));
}

document.addEventListener("keydown", (event) => {
  if (!loading || !event.isTrusted || event.key.length > 1 || isTyping(event)) return;
  loading.push(event.key);
  event.stopImmediatePropagation();
  event.preventDefault();
}, true);

function focusAndSelect(row) {
  focusRow(row);
  select(row);
}

// j and k move the focus (app.js); the focused match is shown. Tab only moves the focus.
document.addEventListener("keydown", (event) => {
  if (!(event.key in MOVES) || isTyping(event)) return;
  const link = closest(document.activeElement, "[data-triage] [data-panel]");
  if (link && link !== currentLink()) select(link.closest("[data-row]"));
});

document.addEventListener("click", (event) => {
  const link = closest(event.target, "[data-triage] [data-panel]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  focusAndSelect(link.closest("[data-row]"));
});

function post(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  return enqueue(async () => {
    document.getElementById("toast").innerHTML = await request(form.action, { method: "POST", body });
  });
}

function decide(form, submitter) {
  const row = currentLink().closest("[data-row]"), next = neighbour(row);
  decided.push({ id: row.id, row, before: row.nextElementSibling });
  panels.delete(currentLink().dataset.panel);
  row.remove();
  const sent = post(form, submitter);
  if (next) focusAndSelect(next);
  else sent.then(() => location.assign(document.querySelector("[data-triage]").dataset.list));
}

function undo(form, submitter) {
  const id = `match-${form.closest("[data-changed]")?.dataset.changed}`;
  const at = decided.findLastIndex((entry) => entry.id === id);
  const sent = post(form, submitter);
  if (at < 0) return sent.then(() => location.reload());
  const [{ row, before }] = decided.splice(at, 1);
  const list = document.getElementById("list");
  list.insertBefore(row, before?.parentNode === list ? before : null);
  row.querySelector("[data-panel]").removeAttribute("aria-current");
  loading = loading || [];
  return sent.then(() => { focusAndSelect(row); offerUndo(); });
}

// After an undo, offer to undo the decision before it.
function offerUndo() {
  const last = decided.at(-1), toast = document.getElementById("toast");
  if (!last || toast.querySelector("[data-undo]")) return;
  const template = document.getElementById("undo-earlier").content.cloneNode(true);
  const id = last.id.replace("match-", "");
  template.querySelector("[data-changed]").dataset.changed = id;
  template.querySelector("form").setAttribute("action", `/matches/${id}/undo`);
  toast.append(template);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!document.querySelector("[data-triage]") || !closest(form, ".panel-actions, #toast")) return;
  event.preventDefault();
  if (form.action.endsWith("/undo")) undo(form, event.submitter);
  else if (form.action.endsWith("/status")) decide(form, event.submitter);
  else post(form, event.submitter);
});

// Swipe on a touch screen: to the right saves, to the left dismisses.
let touch = null;
const SWIPE = 80;

document.addEventListener("touchstart", (event) => {
  touch = closest(event.target, "#panel") && event.touches.length === 1 ? event.touches[0] : null;
}, { passive: true });
document.addEventListener("touchend", (event) => {
  if (!touch) return;
  const end = event.changedTouches[0], x = end.clientX - touch.clientX, y = end.clientY - touch.clientY;
  touch = null;
  if (Math.abs(x) >= SWIPE && Math.abs(y) < SWIPE / 2) pressKey(x > 0 ? "s" : "d");
});
