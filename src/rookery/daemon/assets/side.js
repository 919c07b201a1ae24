// What opens beside the transcript: changes and the timeline. Their scripts come when they are asked for.
import { $, element, told, when } from "./main.js";
import { key } from "./keys.js";

const side = $("#side");
const modules = { changes: "./changes.js", timeline: "./timeline.js" };
let shown = "";

let sheet;
/** Until its style is there, it would stand in the way. */
const styled = () => (sheet ??= new Promise((then) => {
  const link = element("link", { rel: "stylesheet", href: new URL("./changes.css", import.meta.url).pathname });
  link.onload = link.onerror = then;
  document.head.append(link);
}));

export async function open(name) {
  if (!side) return;
  shown = name;
  await styled();
  if (shown !== name) return;
  side.hidden = false;
  document.body.dataset.side = name;
  side.replaceChildren(element("div", { class: "side-head", role: "status" }, element("h2", {}, "Loading…"), element("span", { class: "soft" }),
    element("button", { type: "button", class: "quiet", "data-do": "close-side" }, "Close")));
  try {
    const { show } = await import(modules[name]);
    if (shown === name) await show(side, document.body.dataset.session);
    side.focus({ preventScroll: true });
  } catch (error) {
    close();
    throw error;
  }
}

export function close() {
  const button = `[data-do="${shown}"]`;
  shown = "";
  side.hidden = true;
  delete document.body.dataset.side;
  side.replaceChildren();
  ($(button) ?? $("#scroll"))?.focus({ preventScroll: true });
}

/** Where it covers the transcript. */
export const isSheet = () => innerWidth < 1100;

async function find(words = "") {
  await styled();
  if (isSheet() && shown) close();
  const { show } = await import("./find.js");
  await show(words);
}

const toggle = (name) => (shown === name ? close() : open(name));
if (side) {
  side.tabIndex = -1;
  side.setAttribute("aria-label", "Beside the transcript");
  for (const name of Object.keys(modules)) when(name, () => toggle(name));
  when("close-side", close);
  key("d", "Changes", () => toggle("changes")?.catch?.(told), { where: "Session" });
  key("t", "Timeline", () => toggle("timeline")?.catch?.(told), { where: "Session" });
  key("f", "Find in this session", () => find().catch(told), { where: "Session" });
  when("find-here", () => find());
  key("Escape", "", close, { only: () => Boolean(shown) && side.contains(document.activeElement) });
  const asked = new URLSearchParams(location.search);
  if (modules[asked.get("side")]) open(asked.get("side")).catch(told);
  if (asked.get("find")) find(asked.get("find")).catch(told);
}
