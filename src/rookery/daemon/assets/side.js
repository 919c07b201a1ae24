// The place beside the transcript, for changes, the timeline or a file.
import { $, element, styled, when } from "./main.js";
import { key } from "./keys.js";

const side = $("#side");
const sheets = { viewer: ["changes.css", "viewer.css"] };
let shown = "", opener = null;

/** Until its style is there, it would stand in the way. */
const dressed = (name) => Promise.all((sheets[name] ?? ["changes.css"]).map(styled));

/** `load`: imports its module, whose `show` gets what is `given` beside the session. */
export async function open(name, load, ...given) {
  shown = name;
  if (!side.contains(document.activeElement)) opener = document.activeElement;
  await dressed(name);
  if (shown !== name) return;
  side.hidden = false;
  document.body.dataset.side = name;
  side.replaceChildren(element("div", { class: "side-head", role: "status" }, element("h2", {}, "Loading…"), element("span", { class: "soft" }),
    element("button", { type: "button", class: "quiet", "data-do": "close-side" }, "Close")));
  try {
    const { show } = await load();
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

/** Makes way for what is done in the transcript. */
export function clear() {
  if (isSheet() && shown) close();
}

export const toggle = (name, load) => (shown === name ? close() : open(name, load));

side.tabIndex = -1;
side.setAttribute("aria-label", "Beside the transcript");
when("close-side", close);
key("Escape", "", close, { only: () => Boolean(shown) && side.contains(document.activeElement) });
