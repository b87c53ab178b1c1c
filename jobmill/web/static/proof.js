// Proof of work: find a number whose hash with the challenge starts with enough zero bits, then submit.
"use strict";

function leadingZeros(bytes) {
  const index = bytes.findIndex((byte) => byte !== 0);
  return index < 0 ? bytes.length * 8 : index * 8 + Math.clz32(bytes[index]) - 24;
}

async function solve(challenge, bits) {
  const encoder = new TextEncoder();
  for (let number = 0; ; number++) {
    const proof = `${challenge}:${number}`;
    const hash = await crypto.subtle.digest("SHA-256", encoder.encode(proof));
    if (leadingZeros(new Uint8Array(hash)) >= bits) return proof;
  }
}

// Browsers offer hashes only over HTTPS and on this machine; elsewhere the form is sent without a proof.
for (const form of window.crypto?.subtle ? document.querySelectorAll("form[data-challenge]") : []) {
  form.addEventListener("submit", async (event) => {
    if (form.elements.proof) return;
    event.preventDefault();
    const pressed = event.submitter;
    pressed?.setAttribute("aria-busy", "true");
    const field = Object.assign(document.createElement("input"), { type: "hidden", name: "proof" });
    field.value = await solve(form.dataset.challenge, Number(form.dataset.bits));
    form.append(field);
    form.requestSubmit(pressed);
  });
}
