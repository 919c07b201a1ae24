// Keys of the page: named once, shown by `?`, silent while somebody types.
import { $ } from "./main.js";

/** In the order in which they were named. */
export const keys = [];

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
