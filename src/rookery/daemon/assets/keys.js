// Keys of the page: named once, shown by `?`, silent while somebody types.
import { $, element, told, when } from "./main.js";

const keys = [];

/** `combination`: "j", "Enter", "Ctrl+.". `where`: a heading of the list. `typing`: also in fields.
 * `only()`: whether it is for now. */
export function key(combination, words, run, { where = "Everywhere", typing = false, only = () => true } = {}) {
  keys.push({ combination, words, run, where, typing, only });
}

export function isTyping(node = document.activeElement) {
  return node?.isContentEditable || (/^(input|textarea|select)$/.test(node?.localName ?? "") && !/^(button|checkbox|radio|submit)$/.test(node.type));
}

/** As keyboards have it. */
export const label = (combination) => combination.replace(/^Ctrl\+/, /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl+").replace(/\+(.)$/, (_, last) => `+${last.toUpperCase()}`);

/** The keys that do something now. */
export const actable = () => keys.filter((each) => each.words && each.only({}));

function named(event) {
  const held = `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}`;
  const shift = event.shiftKey && event.key.length > 1 ? "Shift+" : "";
  return held + shift + (held && event.key.length === 1 ? event.key.toLowerCase() : event.key);
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  if ($("dialog[open]") && event.key !== "Escape") return;
  const pressed = named(event);
  const busy = isTyping(event.target);
  const found = keys.findLast((each) => each.combination === pressed && (each.typing || !busy) && each.only(event));
  if (!found) return;
  event.preventDefault();
  found.run(event);
});

/** The list of keys that act here. */
export function help() {
  const places = element("div", { class: "places" });
  const dialog = element("dialog", { class: "keys", "aria-label": "Keys" }, element("h2", {}, "Keys"), places);
  for (const where of new Set(keys.map((each) => each.where))) {
    const rows = keys.filter((each) => each.where === where && each.words);
    if (!rows.length) continue;
    places.append(element("section", {}, element("h3", {}, where), element("dl", {}, ...rows.flatMap((each) => [
      element("dt", {}, element("kbd", {}, label(each.combination))), element("dd", {}, each.words),
    ]))));
  }
  const close = element("button", { type: "button" }, "Close");
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  dialog.append(close);
  document.body.append(dialog);
  dialog.showModal();
}

const palette = () => import("./palette.js").then(({ open }) => open()).catch(told);
when("palette", palette);
key("Ctrl+k", "Search sessions, actions and settings", palette, { typing: true });
key("?", "Show the keys", help);
key("n", "New session", () => location.assign("/new"));
key("/", "Find", () => $("#find")?.focus());
key("g", "Inbox", () => location.assign("/inbox"));
