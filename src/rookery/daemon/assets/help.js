// The keys of this screen, as they are shown.
import { element } from "./main.js";
import { open } from "./dialogs.js";
import { keys } from "./keys.js";

/** As keyboards have it. */
export const label = (combination) => combination.replace(/^Ctrl\+/, /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl+").replace(/\+(.)$/, (_, last) => `+${last.toUpperCase()}`);

/** The keys that do something now. */
export const actable = () => keys.filter((each) => each.words && each.only({}));

/** The list of all of them. */
export function help() {
  const places = element("div", { class: "places" });
  const close = element("button", { type: "button" }, "Close");
  const dialog = element("dialog", { class: "keys", "aria-label": "Keys" }, element("h2", {}, "Keys"), places, close);
  for (const where of new Set(keys.map((each) => each.where))) {
    const rows = keys.filter((each) => each.where === where && each.words);
    if (!rows.length) continue;
    places.append(element("section", {}, element("h3", {}, where), element("dl", {}, ...rows.flatMap((each) => [
      element("dt", {}, element("kbd", {}, label(each.combination))), element("dd", {}, each.words),
    ]))));
  }
  close.addEventListener("click", () => dialog.close());
  open(dialog, document.activeElement);
}
