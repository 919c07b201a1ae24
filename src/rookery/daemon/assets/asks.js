// The first ask of a page brings what answers it.
import { $ } from "./main.js";
import { arrival } from "./stream.js";

const cards = document.getElementsByClassName("answers");
/** `at`: when the first card came, by the page's own clock. */
const begin = (at) => arrival(() => import("./answers.js")).then((answers) => answers.begin(at));

if (cards.length) begin(-Infinity); // there since the page was opened
else {
  const watch = new MutationObserver(() => {
    if (!cards.length) return;
    watch.disconnect();
    begin(performance.now());
  });
  watch.observe($("#main"), { childList: true, subtree: true });
}
