// What opens beside the transcript: changes, the timeline, a file. It comes, as do their scripts, when one is asked for.
import { $, element, when } from "./main.js";
import { key } from "./keys.js";

const side = $("#side");
const modules = { changes: "./changes.js", timeline: "./timeline.js", viewer: "./viewer.js" };
const sheets = { viewer: ["changes.css", "viewer.css"] };
let shown = "", opener = null;

const loaded = new Map();
/** Until its style is there, it would stand in the way. */
const styled = (name) => Promise.all((sheets[name] ?? ["changes.css"]).map((sheet) => {
  if (!loaded.has(sheet)) loaded.set(sheet, new Promise((then) => {
    const link = element("link", { rel: "stylesheet", href: new URL(`./${sheet}`, import.meta.url).pathname });
    link.onload = link.onerror = then;
    document.head.append(link);
  }));
  return loaded.get(sheet);
}));

/** `given`: what its module's `show` gets beside the session. */
export async function open(name, ...given) {
  if (!modules[name]) return;
  shown = name;
  if (!side.contains(document.activeElement)) opener = document.activeElement;
  await styled(name);
  if (shown !== name) return;
  side.hidden = false;
  document.body.dataset.side = name;
  side.replaceChildren(element("div", { class: "side-head", role: "status" }, element("h2", {}, "Loading…"), element("span", { class: "soft" }),
    element("button", { type: "button", class: "quiet", "data-do": "close-side" }, "Close")));
  try {
    const { show } = await import(modules[name]);
    if (shown === name) await show(side, document.body.dataset.session, ...given);
    if (!side.contains(document.activeElement)) side.focus({ preventScroll: true });
  } catch (error) {
    close();
    throw error;
  }
}

export function close() {
  const before = opener?.isConnected && opener !== document.body ? opener : $(`[data-do="${shown}"]`);
  shown = "";
  side.hidden = true;
  delete document.body.dataset.side;
  side.replaceChildren();
  (before ?? $("#scroll"))?.focus({ preventScroll: true });
}

/** Where it covers the transcript. */
export const isSheet = () => innerWidth < 1100;

export async function find(words = "") {
  await styled();
  if (isSheet() && shown) close();
  const { show } = await import("./find.js");
  await show(words);
}

export const toggle = (name) => (shown === name ? close() : open(name));

side.tabIndex = -1;
side.setAttribute("aria-label", "Beside the transcript");
when("close-side", close);
key("Escape", "", close, { only: () => Boolean(shown) && side.contains(document.activeElement) });
