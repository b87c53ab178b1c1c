// Notifications in this browser: subscribe to its push service, and send the subscription with the form.
"use strict";

const form = document.getElementById("push");
if (form && "serviceWorker" in navigator && "PushManager" in window) {
  form.hidden = false;
  form.addEventListener("submit", async event => {
    event.preventDefault();
    const problem = form.querySelector("[role=alert]");
    problem.hidden = true;
    try {
      await subscribe();
      form.submit();
    } catch {
      problem.hidden = false;
    }
  });
}

async function subscribe() {
  if (await Notification.requestPermission() !== "granted") throw new Error("not allowed");
  await navigator.serviceWorker.register("/static/push_worker.js");
  const worker = await navigator.serviceWorker.getRegistration("/static/");
  const subscription = await worker.pushManager.subscribe(
    {userVisibleOnly: true, applicationServerKey: form.dataset.key});
  const {endpoint, keys} = subscription.toJSON();
  const browser = navigator.userAgentData?.brands.at(-1)?.brand ?? navigator.userAgent.split(" ").at(-1);
  for (const [name, value] of Object.entries({endpoint, ...keys, browser})) form.elements[name].value = value;
}
