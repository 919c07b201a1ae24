// The first ask of a page brings what answers it.
import { $ } from "./main.js";

const cards = document.getElementsByClassName("answers");
let at = cards.length ? -Infinity : 0; // there since the page was opened
/** When the first card came, by the page's own clock. */
export const arrived = () => at;

if (cards.length) import("./answers.js");
else {
  const watch = new MutationObserver(() => {
    if (!cards.length) return;
    watch.disconnect();
    at = performance.now();
    import("./answers.js");
  });
  watch.observe($("#main"), { childList: true, subtree: true });
}
