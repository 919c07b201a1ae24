// What stands at the block that is pointed at: its text, and a link to it.
import { $, $$, copy, element, say, screenOf, when } from "./main.js";
import { seqOf } from "./live.js";

const list = $("#transcript");
const tools = element("div", { class: "tools" },
  element("button", { type: "button", class: "quiet", "data-do": "copy" }, "Copy"),
  element("button", { type: "button", class: "quiet", "data-do": "link" }, "Link"));

/** The text of a block, as it was said. */
function words(node) {
  const copied = node.cloneNode(true);
  $$(".tools, .language, .target, summary, button", copied).forEach((each) => each.remove());
  $$(".box", copied).forEach((each) => { each.textContent = each.textContent === "☑" ? "[x]" : "[ ]"; });
  document.body.append(copied);
  const text = copied.innerText.trim();
  copied.remove();
  return text;
}

export function offer(target) {
  const place = target.closest?.(".code, .out, .own");
  if (!place || place.contains(tools)) return;
  const block = place.closest(".block");
  if (!block || block.matches(".row") || !list.contains(block)) return;
  const home = place.matches(".code") ? place : place.closest(".own");
  if (home && tools.parentNode !== home) home.append(tools);
}

when("copy", async (button) => {
  const code = button.closest(".code");
  const home = code ? $("code", code) : button.closest(".own");
  await copy(code ? home.textContent : words(home));
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
});
when("link", async (button) => {
  const block = button.closest(".block");
  const number = seqOf(block);
  await copy(`${location.origin}${screenOf(list.dataset.session)}${number ? `?at=${number}` : ""}#${block.id}`);
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Link"; }, 1500);
});

export async function last() {
  const found = $$(".block.answer > .own", list).at(-1);
  if (found) { await copy(words(found)); say("Copied"); }
}
