// Keys of the page: named once, shown by `?`, silent while somebody types.
import { $, element } from "./main.js";

const keys = [];

/** `combination`: "j", "Enter", "Ctrl+.". `where`: a heading of the list. `typing`: also in fields.
 * `only()`: whether it is for now. */
export function key(combination, words, run, { where = "Everywhere", typing = false, only = () => true } = {}) {
  keys.push({ combination, words, run, where, typing, only });
}

export function isTyping(node = document.activeElement) {
  return node?.isContentEditable || (/^(input|textarea|select)$/.test(node?.localName ?? "") && !/^(button|checkbox|radio|submit)$/.test(node.type));
}

function named(event) {
  const held = `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}`;
  const shift = event.shiftKey && event.key.length > 1 ? "Shift+" : "";
  return held + shift + event.key;
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
  const dialog = element("dialog", { class: "keys", "aria-label": "Keys" }, element("h2", {}, "Keys"));
  for (const where of new Set(keys.map((each) => each.where))) {
    const rows = keys.filter((each) => each.where === where && each.words);
    if (!rows.length) continue;
    dialog.append(element("h3", {}, where), element("dl", {}, ...rows.flatMap((each) => [
      element("dt", {}, element("kbd", {}, each.combination)), element("dd", {}, each.words),
    ])));
  }
  const close = element("button", { type: "button" }, "Close");
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  dialog.append(close);
  document.body.append(dialog);
  dialog.showModal();
}

key("?", "Show the keys", help);
key("n", "New session", () => location.assign("/new"));
key("/", "Find", () => $("#find")?.focus());
key("g", "Inbox", () => location.assign("/inbox"));
