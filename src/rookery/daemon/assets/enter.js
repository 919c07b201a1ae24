// In the place of every page until it is known who is there: proves this device's key, and puts the
// page that was asked for in its place. Modules that are loaded stay, and so does the tab's token.
import { ask, own } from "./device.js";

const login = () => location.replace(`/login?next=${encodeURIComponent(location.pathname + location.search + location.hash)}`);
const challenge = document.querySelector("meta[name=challenge]").content;

/** A file has no page: it is saved, or shown as what it is. */
async function file(answer) {
  const type = answer.headers.get("Content-Type") ?? "";
  if (/^text\/|json/.test(type) && !answer.headers.has("Content-Disposition")) {
    document.write("<!doctype html><meta name=color-scheme content='light dark'><pre></pre>");
    document.querySelector("pre").textContent = await answer.text();
    return;
  }
  const { save } = await import("./save.js");
  document.write("<!doctype html><meta name=color-scheme content='light dark'><p></p>");
  document.querySelector("p").textContent = `Saved as ${await save(answer)}.`;
}

async function page(answer) {
  const words = new TextDecoder();
  const reader = answer.body.getReader();
  for (let part; !(part = await reader.read()).done; ) document.write(words.decode(part.value, { stream: true }));
}

function place(name) {
  try { return document.getElementById(decodeURIComponent(name)); } catch { return null; } // not an address of ours
}

async function enter() {
  document.open(); // at once: until it is closed, the page counts as loading
  if (!(await own().catch(() => null))) return login();
  try {
    const answer = await ask(location.pathname + location.search, { headers: { Accept: "text/html, */*" } }, challenge);
    if (answer.status === 401) return login();
    await ((answer.headers.get("Content-Type") ?? "").startsWith("text/html") ? page(answer) : file(answer));
  } catch (error) {
    console.info(`the page did not come: ${error.message}`);
    document.write("<!doctype html><meta name=color-scheme content='light dark'><p>Rookery cannot be reached. <a href=''>Try again</a></p>");
  }
  document.close();
  if (location.hash) place(location.hash.slice(1))?.scrollIntoView();
}

enter();
