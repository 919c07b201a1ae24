// Logs this browser in: it makes a key, and leaves the public half with the daemon.
import { ask, makeKey, own, remember, tryToKeep } from "./device.js";

const next = document.querySelector("[name=next]").value;
const form = document.getElementById("login");
const wrong = document.getElementById("wrong");
const button = form?.querySelector("button");

function complain(text) {
  wrong.textContent = text;
  wrong.hidden = false;
}

async function logIn() {
  await tryToKeep().catch(() => { throw new Error("This browser keeps nothing for this page. Allow it to store site data, or leave its private window."); });
  const { key, open } = await makeKey();
  const body = new URLSearchParams(new FormData(form));
  body.set("key", open);
  const answer = await fetch("/login", { method: "POST", body, headers: { Accept: "application/json" } });
  const said = await answer.json();
  if (!answer.ok) throw new Error(`${said.message} ${said.remedy}`);
  await remember({ id: said.device, key });
  location.replace(next);
}

/** Whoever is logged in goes on: the link was opened before, or "back" led here. */
async function goOn() {
  if (!(await own())) return;
  const answer = await ask("/api/about");
  if (answer.ok) location.replace(next);
  else complain((await answer.json()).message);
}

goOn().catch(() => {});
if (button) button.disabled = false; // which it is where no script runs
form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  wrong.hidden = true;
  button.disabled = true;
  try {
    await logIn();
  } catch (error) {
    button.disabled = false;
    complain(error instanceof TypeError ? "Rookery cannot be reached. Try again." : error.message);
  }
});
