// Triage of matches: the chosen row of the list is shown in the panel, and a decision moves on to the next row.
// Without this script rows are links and decisions are plain forms.
"use strict";

const panels = new Map();
const decided = [];
let unexplained = null;   // The id of the last decision, if it is a dismissal without a reason.
let requests = Promise.resolve();
let requestCount = 0;
let loading = null;

const panel = () => document.getElementById("panel");
const toast = () => document.getElementById("toast");
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
  htmx.process(panel());
  updateClocks(panel());
  document.dispatchEvent(new CustomEvent("panel:shown"));
}

function neighbour(row) {
  return row.nextElementSibling || row.previousElementSibling;
}

// Hold keys from now on, until the match that they are for is shown.
const holdKeys = () => (loading = [...(loading ?? [])]);

// Show the match of a row. Keys that are pressed while it loads are repeated when it is there.
function select(row) {
  const link = row.querySelector("[data-panel]");
  currentLink()?.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  const keys = holdKeys();
  panel().replaceChildren(document.getElementById("panel-placeholder").content.cloneNode(true));
  if (isNarrow()) panel().scrollIntoView();
  fetchPanel(link).then((html) => {
    if (loading !== keys) return;
    loading = null;
    // A filter may have replaced the list meanwhile.
    if (!row.isConnected) return;
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
  loading = null;
  focusAndSelect(link.closest("[data-row]"));
});

// The toast is about the newest request only.
function post(url, fields) {
  const number = ++requestCount;
  toast().replaceChildren();
  return enqueue(async () => {
    const html = await request(url, { method: "POST", body: fields });
    if (number === requestCount) toast().innerHTML = html;
  });
}

const readFields = (form, submitter) => new URLSearchParams(new FormData(form, submitter));

function decide(form, submitter) {
  const row = currentLink().closest("[data-row]"), next = neighbour(row), id = row.id.replace("match-", "");
  decided.push({ id, row, list: row.parentNode, before: row.nextElementSibling });
  unexplained = submitter.value === "dismissed" ? id : null;
  panels.delete(currentLink().dataset.panel);
  row.remove();
  const sent = post(form.action, readFields(form, submitter));
  if (next) focusAndSelect(next);
  else sent.then(() => { if (!document.querySelector("#list > li")) location.assign(document.querySelector("[data-triage]").dataset.list); });
}

function undo(id, fields) {
  const at = decided.findLastIndex((entry) => entry.id === id);
  const sent = post(`/matches/${id}/undo`, fields);
  unexplained = null;
  // Filters replace the list; the row may not belong into the new one.
  const list = decided[at]?.list;
  if (!list?.isConnected) return sent.then(() => location.reload());
  const [{ row, before }] = decided.splice(at, 1);
  list.insertBefore(row, before?.parentNode === list ? before : null);
  row.querySelector("[data-panel]").removeAttribute("aria-current");
  holdKeys();
  return sent.then(() => { focusAndSelect(row); offerUndo(); });
}

function explain(id, fields) {
  unexplained = null;
  return post(`/matches/${id}/reason`, fields);
}

function earlierUndoForm(id) {
  const template = document.getElementById("undo-earlier").content.cloneNode(true);
  template.querySelector("[data-changed]").dataset.changed = id;
  template.querySelector("form").setAttribute("action", `/matches/${id}/undo`);
  return template;
}

// After an undo, offer to undo the decision before it.
function offerUndo() {
  const last = decided.at(-1);
  if (last && !toast().querySelector("[data-undo]")) toast().append(earlierUndoForm(last.id));
}

// u and 1 to 7 are for the last decision, even if the server has not answered it yet.
document.addEventListener("keydown", (event) => {
  const last = decided.at(-1), reason = toast()?.dataset.reasons.split(" ")[event.key - 1];
  if (isTyping(event) || localStorage.getItem("keys") === "off") return;
  if (!(event.key === "u" && last) && !(reason && unexplained)) return;
  const fields = readFields(earlierUndoForm(0).querySelector("form"));
  if (event.key === "u") undo(last.id, fields);
  else {
    fields.set("reason", reason);
    explain(unexplained, fields);
  }
  event.stopImmediatePropagation();
  event.preventDefault();
}, true);

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!document.querySelector("[data-triage]") || !closest(form, ".panel-actions, #toast")) return;
  event.preventDefault();
  const id = form.action.match(/(\d+)\/\w+$/)[1];
  if (form.action.endsWith("/status")) decide(form, event.submitter);
  else (form.action.endsWith("/undo") ? undo : explain)(id, readFields(form, event.submitter));
});

// Swipe on a touch screen: to the right saves, to the left dismisses. Tables and fields scroll sideways themselves.
let touch = null;
const SWIPE = 80;

document.addEventListener("touchstart", (event) => {
  const isSwipe = closest(event.target, "#panel") && !closest(event.target, ".wide, input") && event.touches.length === 1;
  touch = isSwipe ? event.touches[0] : null;
}, { passive: true });
document.addEventListener("touchend", (event) => {
  if (!touch) return;
  const end = event.changedTouches[0], x = end.clientX - touch.clientX, y = end.clientY - touch.clientY;
  touch = null;
  if (Math.abs(x) >= SWIPE && Math.abs(y) < SWIPE / 2) pressKey(x > 0 ? "s" : "d");
});
