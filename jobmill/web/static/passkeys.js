// Passkeys: a form with data-passkey holds the options of a request to the browser. The browser's
// answer is put into the form's field `credential`, and the form is sent.
"use strict";

const toBytes = text => Uint8Array.from(
  atob(text.replace(/-/g, "+").replace(/_/g, "/")), letter => letter.charCodeAt(0));
const toText = buffer => btoa(String.fromCharCode(...new Uint8Array(buffer)))
  .replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

function readOptions(form) {
  const options = JSON.parse(form.dataset.passkey);
  options.challenge = toBytes(options.challenge);
  if (options.user) options.user.id = toBytes(options.user.id);
  for (const known of [...options.allowCredentials ?? [], ...options.excludeCredentials ?? []])
    known.id = toBytes(known.id);
  return options;
}

function writeCredential(credential) {
  const response = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"])
    if (credential.response[name]) response[name] = toText(credential.response[name]);
  return JSON.stringify({id: credential.id, rawId: toText(credential.rawId), type: credential.type, response});
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential) continue;
  form.hidden = false;
  form.addEventListener("submit", async event => {
    event.preventDefault();
    const problem = form.querySelector("[role=alert]");
    problem.hidden = true;
    try {
      const publicKey = readOptions(form);
      const credential = publicKey.user
        ? await navigator.credentials.create({publicKey})
        : await navigator.credentials.get({publicKey});
      form.elements.credential.value = writeCredential(credential);
      form.submit();
    } catch {
      problem.hidden = false;
    }
  });
}
