// The replay of an opening: steps, plays and moves people between the lists. Each step loads what the server shows
// after that event, so a long log costs no more than a short one. Without this script all steps are links.
"use strict";

const root = document.getElementById("replay");
const past = document.getElementById("past");
const slider = document.getElementById("seq");
const playButton = document.getElementById("play");
const speedChoice = document.getElementById("speed");
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

const MIN_FRAME_SECONDS = 0.25;
const MOVE_MILLISECONDS = 350;

let shown = Number(slider.value);
let wanted = shown;
let loading = false;
let playing = false;

const lastSeq = () => Number(slider.max);
const timeline = () => document.getElementById("timeline");
const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));

async function load(path) {
  const response = await fetch(`${root.dataset.path}${path}`);
  if (!response.ok) throw new Error(`The server answered ${response.status}`);
  return response.text();
}

// Positions relative to the lists: text of another length above them is no movement.
function boxes() {
  const origin = past.querySelector(".columns")?.getBoundingClientRect();
  const items = [...past.querySelectorAll("[data-person]")];
  return new Map(items.map((item) => {
    const box = item.getBoundingClientRect();
    return [item.dataset.person, { item, x: box.x - origin.x, y: box.y - origin.y }];
  }));
}

function move(before, milliseconds) {
  const options = { duration: milliseconds, easing: "ease-out" };
  for (const [person, { item, x, y }] of boxes()) {
    const old = before.get(person);
    if (!old) item.animate({ opacity: [0, 1] }, options);
    else if (old.x !== x || old.y !== y) {
      item.animate({ transform: [`translate(${old.x - x}px, ${old.y - y}px)`, "none"] }, options);
    }
  }
}

function render(html, milliseconds) {
  const before = boxes();
  past.innerHTML = html;
  const frame = document.getElementById("frame");
  shown = Number(frame.dataset.seq);
  slider.max = frame.dataset.last;
  if (!reducedMotion.matches) move(before, milliseconds);
  updateClocks(past);
  showPosition(shown);
  if (!playing) announce();
}

function pageUrl(seq) {
  const span = timeline().dataset.span;
  return `${root.dataset.path}?seq=${seq}${span ? `&span=${span}` : ""}`;
}

function showPosition(seq) {
  slider.value = seq;
  const targets = { first: 0, previous: seq - 1, next: seq + 1, last: lastSeq() };
  for (const [id, target] of Object.entries(targets)) {
    const link = document.getElementById(id);
    const possible = target >= 0 && target <= lastSeq() && target !== seq;
    if (possible) link.href = pageUrl(target);
    else link.removeAttribute("href");
    link.toggleAttribute("aria-disabled", !possible);
    if (!possible) link.setAttribute("aria-disabled", "true");
  }
  history.replaceState(null, "", pageUrl(seq));
  moveCursor(seq);
}

function moveCursor(seq) {
  const { first, last, span } = timeline().dataset;
  if (span && (seq < Number(first) || seq > Number(last)) && seq > 0) return void loadTimeline(seq);
  const x = 1000 * (seq - first + 0.5) / Math.max(last - first + 1, 1);
  const cursor = timeline().querySelector(".cursor");
  cursor.setAttribute("x1", x);
  cursor.setAttribute("x2", x);
}

async function loadTimeline(seq) {
  const html = await load(pageUrl(seq).slice(root.dataset.path.length));
  const fresh = new DOMParser().parseFromString(html, "text/html").getElementById("timeline");
  timeline().replaceWith(fresh);
}

// Once per step of the reader, never while it plays.
function announce() {
  const parts = [".moment", ".why-panel strong"].map((part) => past.querySelector(part)?.textContent ?? "");
  const text = parts.join(". ").replace(/\s+/g, " ").trim();
  document.getElementById("said").textContent = text;
  slider.setAttribute("aria-valuetext", text);
}

function fail() {
  pause();
  document.getElementById("said").textContent = root.dataset.failed;
  const message = Object.assign(document.createElement("p"), { className: "message bad", textContent: root.dataset.failed });
  past.prepend(message);
}

// Only the newest wish is loaded: dragging the slider skips what lies between.
async function go(seq) {
  wanted = Math.min(Math.max(seq, 0), lastSeq());
  if (loading) return;
  loading = true;
  try {
    while (shown !== wanted) render(await load(`/frame?seq=${wanted}`), MOVE_MILLISECONDS);
  } catch {
    fail();
  } finally {
    loading = false;
  }
}

async function play() {
  if (shown >= lastSeq()) await go(0);
  playing = true;
  root.classList.add("playing");
  playButton.textContent = root.dataset.pause;
  try {
    while (playing && shown < lastSeq()) {
      const seconds = Math.max(1 / speedChoice.value, MIN_FRAME_SECONDS);
      const next = Math.min(shown + Math.max(Math.round(speedChoice.value * seconds), 1), lastSeq());
      const [html] = await Promise.all([load(`/frame?seq=${next}`), sleep(seconds)]);
      if (playing) render(html, Math.min(MOVE_MILLISECONDS, 800 * seconds));
    }
  } catch {
    fail();
  }
  if (playing) pause();
}

function pause() {
  if (playing) announce();
  playing = false;
  wanted = shown;
  root.classList.remove("playing");
  playButton.textContent = root.dataset.play;
}

function step(seq) {
  pause();
  go(seq);
}

for (const control of document.querySelectorAll(".controls [hidden], .keys")) control.hidden = false;
document.getElementById("jump").hidden = true;
playButton.addEventListener("click", () => (playing ? pause() : play()));
slider.addEventListener("input", () => step(Number(slider.value)));
document.getElementById("copy").addEventListener("click", async ({ currentTarget }) => {
  await navigator.clipboard.writeText(new URL(pageUrl(shown), location.href).href);
  currentTarget.textContent = currentTarget.dataset.copied;
});

root.addEventListener("click", (event) => {
  const link = event.target.closest(".step");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    if (link.href) step(Number(new URL(link.href).searchParams.get("seq")));
  }
  const picture = event.target.closest("#timeline svg");
  if (picture) {
    const box = picture.getBoundingClientRect();
    const { first, last } = timeline().dataset;
    step(Number(first) + Math.floor((last - first + 1) * (event.clientX - box.left) / box.width));
  }
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
  const target = event.target;
  if (target.closest("select, textarea, input:not([type=range])")) return;
  if (event.key === " " && !target.closest("a, button, summary")) {
    event.preventDefault();
    playButton.click();
  }
  const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  // The slider moves by itself.
  if (direction && target !== slider) {
    event.preventDefault();
    step((loading ? wanted : shown) + direction);
  }
});
