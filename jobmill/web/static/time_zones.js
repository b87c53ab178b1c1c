// The time zone of an opening: suggest the names that the browser knows.
"use strict";

for (const input of document.querySelectorAll("input[list=zones]")) {
  const names = Intl.supportedValuesOf ? Intl.supportedValuesOf("timeZone") : [];
  input.list.replaceChildren(...names.map((name) => new Option("", name)));
  // A new opening starts with the person's own zone, unless the operator has set one.
  if ("new" in input.dataset && input.value === "UTC") {
    input.value = Intl.DateTimeFormat().resolvedOptions().timeZone || input.value;
  }
}
