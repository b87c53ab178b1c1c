// Shows messages of Jobmill while no page is open, and opens the page that a message is about.
"use strict";

self.addEventListener("push", event => {
  const {title, body, url, tag} = event.data.json();
  // A message that arrives twice has the same tag and is shown once.
  event.waitUntil(self.registration.showNotification(title, {body, tag, icon: "/static/icon.svg", data: {url}}));
});

self.addEventListener("notificationclick", event => {
  event.notification.close();
  event.waitUntil(self.clients.openWindow(event.notification.data.url));
});
