// The board of applications: move cards by mouse, touch and keyboard. Without this script each card has a select.
"use strict";

const MOVE_DISTANCE = 8;   // Pixels after which a press is a drag and not a click.
const COLUMN_MOVES = { h: -1, l: 1 };
const TARGET_MOVES = { ...COLUMN_MOVES, ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 };
let drag = null;
let moving = null;
// Moves the dragged card: the security policy of the pages forbids style attributes.
const dragSheet = new CSSStyleSheet();
document.adoptedStyleSheets.push(dragSheet);

const bar = () => document.getElementById("move-bar");
const cardLink = (card) => card && card.querySelector("h3 a");

// The toast is in the half of the screen without the pointer.
let pointerY = 0;
document.addEventListener("pointerup", (event) => { pointerY = event.clientY; }, true);
function placeToast() {
  document.getElementById("toast").dataset.side = pointerY > innerHeight / 2 ? "top" : "bottom";
}

function prepareBoard() {
  for (const handle of document.querySelectorAll("[data-move]")) handle.hidden = false;
  placeToast();
}

// Move mode: a bar with all statuses, which are also places to drop a card.
function startMove(card) {
  if (moving) endMove();
  moving = card;
  card.classList.add("moving");
  const form = bar(), title = document.getElementById("move-title");
  form.action = `/applications/${card.dataset.card}/move`;
  form.elements.seen.value = card.dataset.seen;
  form.hidden = false;
  title.textContent = `${cardLink(card).textContent}: ${title.dataset.text}`;
  const key = card.closest("[data-column]").dataset.column;
  for (const target of form.querySelectorAll("[data-target]")) {
    target.toggleAttribute("aria-current", target.dataset.target === key);
  }
}

function focusTarget(by = 0) {
  const targets = [...bar().querySelectorAll("[data-target]")];
  const focused = targets.indexOf(document.activeElement);
  const here = focused < 0 ? targets.findIndex((target) => target.hasAttribute("aria-current")) : focused;
  targets[Math.min(Math.max(here + by, 0), targets.length - 1)].focus();
}

function endMove() {
  moving?.classList.remove("moving");
  markTarget(null);
  if (bar()) bar().hidden = true;
  const card = moving;
  moving = null;
  return card;
}

// Send a form and show the board of the answer, also if the change was refused.
async function send(form, submitter, cardId) {
  const toast = document.getElementById("toast");
  try {
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form, submitter)) });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const board = page.getElementById("board");
    if (!board) throw new Error(answer.statusText);
    document.getElementById("board").replaceWith(document.adoptNode(board));
    window.htmx?.process(board);
    prepareBoard();
    document.dispatchEvent(new Event("htmx:after:swap"));
    cardLink(document.getElementById(`application-${cardId}`))?.focus();
  } catch {
    placeToast();
    toast.replaceChildren(Object.assign(document.createElement("p"), {
      className: "message bad", textContent: document.getElementById("board").dataset.failed,
    }));
  }
}

function drop(key) {
  const card = endMove();
  const target = key && bar().querySelector(`[data-target="${CSS.escape(key)}"]`);
  if (!card || !target || target.hasAttribute("aria-current")) return cardLink(card)?.focus();
  // The card moves at once; the answer of the server replaces the board.
  document.querySelector(`[data-column="${CSS.escape(key)}"] .stack`)?.prepend(card);
  return send(bar(), target, card.dataset.card);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.id === "move-bar") {
    event.preventDefault();
    drop(event.submitter?.dataset.target);
  } else if (closest(form, "#board") && form.action.endsWith("/undo")) {
    event.preventDefault();
    send(form, event.submitter, form.action.match(/(\d+)\/undo$/)[1]);
  }
});

document.addEventListener("click", (event) => {
  const handle = closest(event.target, "[data-move]");
  if (handle) {
    startMove(handle.closest("[data-card]"));
    focusTarget();
  } else if (moving && !drag && !closest(event.target, "#move-bar")) endMove();
});

// Keyboard: j and k go through the cards, h and l to the next column, m moves the card.
function focusCard(by, inColumns) {
  const cards = [...document.querySelectorAll("[data-card]")];
  const here = closest(document.activeElement, "[data-card]");
  if (!here || !inColumns) {
    const next = cards[here ? Math.min(Math.max(cards.indexOf(here) + by, 0), cards.length - 1) : 0];
    return cardLink(next)?.focus();
  }
  const columns = [...document.querySelectorAll("[data-column]")].filter((column) => column.querySelector("[data-card]"));
  const at = columns.indexOf(here.closest("[data-column]")) + by;
  return cardLink(columns[Math.min(Math.max(at, 0), columns.length - 1)]?.querySelector("[data-card]"))?.focus();
}

document.addEventListener("keydown", (event) => {
  const off = event.ctrlKey || event.metaKey || event.altKey || closest(event.target, "input, select, textarea, dialog");
  if (!document.querySelector("[data-board]") || off) return;
  if (moving) {
    if (event.key === "Escape") { const card = endMove(); cardLink(card).focus(); }
    else if (event.key in TARGET_MOVES) focusTarget(TARGET_MOVES[event.key]);
    else return;
  } else if (localStorage.getItem("keys") === "off") return;
  else if (event.key in COLUMN_MOVES) focusCard(COLUMN_MOVES[event.key], true);
  else if (event.key === "j" || event.key === "k") focusCard(event.key === "j" ? 1 : -1, false);
  else if (event.key === "m" && bar() && closest(document.activeElement, "[data-card]")) {
    startMove(closest(document.activeElement, "[data-card]"));
    focusTarget();
  } else return;
  event.preventDefault();
});

// Mouse: drag the card. Touch: drag its Move button, because a finger on the card scrolls the page.
function markTarget(element) {
  for (const old of document.querySelectorAll(".drop-target")) old.classList.remove("drop-target");
  element?.classList.add("drop-target");
}

function targetAt(event) {
  const under = document.elementFromPoint(event.clientX, event.clientY);
  return closest(under, "[data-target], [data-column]");
}

document.addEventListener("pointerdown", (event) => {
  const card = closest(event.target, "[data-card]");
  const isHandle = closest(event.target, "[data-move]");
  if (!card || !bar() || event.button !== 0 || (event.pointerType !== "mouse" && !isHandle)) return;
  if (isHandle) isHandle.releasePointerCapture?.(event.pointerId);
  drag = { card, id: event.pointerId, x: event.clientX, y: event.clientY, moved: false };
});

document.addEventListener("pointermove", (event) => {
  if (!drag || event.pointerId !== drag.id) return;
  const x = event.clientX - drag.x, y = event.clientY - drag.y;
  if (!drag.moved && Math.hypot(x, y) < MOVE_DISTANCE) return;
  if (!drag.moved) {
    drag.moved = true;
    startMove(drag.card);
    getSelection()?.removeAllRanges();
  }
  event.preventDefault();
  dragSheet.replaceSync(`.moving { translate: ${x}px ${y}px; }`);
  markTarget(targetAt(event));
});

function endDrag(event, key) {
  if (!drag || event.pointerId !== drag.id) return;
  const { moved } = drag;
  dragSheet.replaceSync("");
  drag = null;
  if (!moved) return;
  // The click that follows a drag must not open the card.
  const stop = (click) => { click.preventDefault(); click.stopImmediatePropagation(); };
  addEventListener("click", stop, { capture: true });
  setTimeout(() => removeEventListener("click", stop, { capture: true }), 0);
  drop(key);
}

document.addEventListener("pointerup", (event) => {
  const target = drag?.moved ? targetAt(event) : null;
  endDrag(event, target?.dataset.target || target?.dataset.column);
});
document.addEventListener("pointercancel", (event) => endDrag(event, null));
document.addEventListener("dragstart", (event) => { if (closest(event.target, "[data-card]")) event.preventDefault(); });

// A live update replaces the board: continue with the new card.
document.addEventListener("htmx:after:swap", () => {
  prepareBoard();
  const held = moving || drag?.card;
  if (!held || held.isConnected) return;
  const card = document.getElementById(held.id);
  if (drag) drag.card = card;
  if (!card) drag = null;
  if (!moving) return;
  moving = null;
  if (card) startMove(card);
});
prepareBoard();
