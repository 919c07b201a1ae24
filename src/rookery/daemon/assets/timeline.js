// The timeline beside the transcript: a turn or a mark opens its place.
import { $, $$, html, piece, screenOf, when } from "./main.js";
import { clear, isSheet } from "./side.js";

let box = null, session = "";
const here = () => screenOf(session);

export async function show(node, id, turn = "") {
  box = node;
  session = id;
  const text = await piece(`${here()}/timeline?piece=1&side=1${turn ? `&turn=${turn}` : ""}`);
  if (!box.isConnected) return;
  box.replaceChildren(html(text));
  const rows = $(".patch", box);
  if (rows && !turn) rows.scrollTop = rows.scrollHeight;
  current();
}

/** The block of an event, if that part of the transcript is loaded. */
export function blockOf(seq) {
  const later = $("#newer a");
  if (later && seq >= Number(new URL(later.href).searchParams.get("at"))) return null;
  let found = null;
  for (const block of $$("#transcript .block[id]")) {
    const place = Number(/^b\d+\.(\d+)/.exec(block.id)?.[1] ?? NaN);
    if (place <= seq) found = block;
    else if (place > seq) break;
  }
  return found;
}

/** Shows a block as a link to it would. */
export function reveal(block) {
  if (location.hash === `#${block.id}`) history.replaceState(null, "", location.pathname + location.search);
  location.hash = block.id;
}

function go(seq) {
  const block = blockOf(seq);
  if (!block) return location.assign(`${here()}?at=${seq}${isSheet() ? "" : "&side=timeline"}`);
  clear();
  return reveal(block);
}

when("rewind", async (button) => (await import("./rewind.js")).rewind(session, Number(button.dataset.turn)));
when("fork", async (button) => (await import("./choices.js")).choose("fork", { id: session }, { turn: button.dataset.turn }));

when("at", (link) => go(Number(link.dataset.seq)));
when("turns", async (node) => {
  const turn = node.localName === "form" ? node.turn.value : node.dataset.turn;
  await show(box, session, turn);
});

/** The turn that is read now. */
function current() {
  const scroller = $("#scroll");
  if (!scroller || !box?.isConnected) return;
  const middle = scroller.getBoundingClientRect().top + scroller.clientHeight / 3;
  let turn = "";
  for (const block of $$("#transcript > .block[id], #transcript > .unit[id]")) {
    if (block.getBoundingClientRect().top > middle) break;
    turn = /^b(\d+)\./.exec(block.id)?.[1] ?? turn;
  }
  for (const row of $$(".turns li", box)) row.toggleAttribute("data-here", $(".n", row).textContent === turn);
}
let due = false;
$("#scroll")?.addEventListener("scroll", () => {
  if (due) return;
  due = true;
  setTimeout(() => { due = false; current(); }, 200);
}, { passive: true });

let known = "";
document.addEventListener("region", ({ detail }) => {
  const bar = detail.name === "bar" && $("#bar .bar");
  const now = bar ? `${bar.dataset.turn} ${bar.dataset.running ?? ""}` : known;
  if (now === known) return;
  known = now;
  if (box?.isConnected && $(".timeline", box) && !box.contains(document.activeElement)) show(box, session).catch(() => {});
});
