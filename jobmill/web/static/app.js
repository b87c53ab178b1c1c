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
    time.textContent = relative((at - Date.now()) / 1000);
  }
}

// A countdown to a deadline: 4:07, and "over" once it is.
function tellDeadlines(root) {
  for (const one of root.querySelectorAll("[data-until]")) {
    const left = Math.ceil((new Date(one.dataset.until) - Date.now()) / 1000);
    const clock = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    one.textContent = left > 0 ? clock : "over";
  }
}

function tell(root = document) {
  tellTimes(root);
  tellDeadlines(root);
}

tell();
setInterval(tell, 1000);
document.addEventListener("htmx:after:swap", () => tell());
