// The profile form with chips: type and press Enter to add, click × to remove. Without this script the same
// values are lines of text and rows.
"use strict";

function changed(element) {
  element.dispatchEvent(new Event("input", { bubbles: true }));
}

function removeButton(template, name, remove) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "chip-remove";
  button.textContent = "×";
  button.setAttribute("aria-label", template.replace("%s", name));
  button.addEventListener("click", remove);
  return button;
}

// An input that calls `add` with its text on Enter, on leaving it and before the form is sent.
function adder(form, label, add) {
  const input = document.createElement("input");
  input.className = "chip-input";
  input.maxLength = 200;
  input.placeholder = label;
  input.setAttribute("aria-label", label);
  const commit = () => {
    const text = input.value.trim();
    input.value = "";
    if (text) add(text);
  };
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    commit();
  });
  // Typing is no change until it is committed.
  input.addEventListener("input", (event) => event.stopPropagation());
  input.addEventListener("blur", commit);
  form.addEventListener("submit", commit, true);
  return input;
}

function chipField(label) {
  const area = label.querySelector("textarea");
  const box = document.createElement("div");
  const list = document.createElement("ul");
  list.className = "chip-list";
  box.className = "chip-box";
  const lines = () => area.value.split("\n").map((line) => line.trim()).filter(Boolean);
  const set = (values) => {
    area.value = values.join("\n");
    show();
    changed(area);
  };
  const input = adder(area.form, label.dataset.chips, (text) => {
    if (!lines().some((line) => line.toLowerCase() === text.toLowerCase())) set([...lines(), text]);
  });
  input.id = `chips-${area.name}`;
  function show() {
    list.replaceChildren(...lines().map((line) => {
      const chip = document.createElement("li");
      chip.className = "chip known-chip";
      chip.append(line, removeButton(label.dataset.remove, line, () => {
        set(lines().filter((other) => other !== line));
        input.focus();
      }));
      return chip;
    }));
  }
  input.addEventListener("keydown", (event) => {
    if (event.key === "Backspace" && !input.value && lines().length) set(lines().slice(0, -1));
  });
  show();
  area.hidden = true;
  label.querySelector(".plain-hint").hidden = true;
  label.htmlFor = input.id;
  box.append(list, input);
  label.append(box);
}

function skillRows(actions) {
  const group = document.querySelector(".skill-rows");
  const blank = group.querySelector(".skill-row:last-child").cloneNode(true);
  const prepare = (row) => {
    const name = row.querySelector("[name=skill]");
    const remove = () => {
      row.remove();
      changed(group);
      input.focus();
    };
    name.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      input.focus();
    });
    row.append(removeButton(actions.dataset.remove, name.value, remove));
  };
  const input = adder(actions.closest("form"), actions.dataset.moreRows, (text) => {
    const row = blank.cloneNode(true);
    row.querySelector("[name=skill]").value = text;
    row.querySelector("[name=skill]").setAttribute("aria-label", text);
    group.append(row);
    prepare(row);
    changed(group);
  });
  for (const row of group.querySelectorAll(".skill-row:not(.heads)")) {
    if (row.querySelector("[name=skill]").value) prepare(row);
    else row.remove();
  }
  group.classList.add("has-remove");
  actions.replaceChildren(input);
}

for (const label of document.querySelectorAll("[data-chips]")) chipField(label);
for (const actions of document.querySelectorAll("[data-more-rows]")) skillRows(actions);

// The browser knows the time zone; a resume rarely says it.
for (const input of document.querySelectorAll("[data-browser-zone]")) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (input.value || !zone) continue;
  input.value = zone;
  const hint = document.createElement("small");
  hint.textContent = input.dataset.browserZone;
  input.after(hint);
}
