// The session screen: the transcript as it grows, what stands above it, and what its buttons do.
import { $, $$, api, copy, element, html, piece, say, toast, told, uid, when } from "./main.js";
import { Live, seqOf } from "./live.js";
import { key } from "./keys.js";
import { morphInner } from "./morph.js";
import { subscribe } from "./stream.js";

const scroller = $("#scroll"), list = $("#transcript"), pill = $("#below");
const { session, seq, now, at, past, unloaded } = list.dataset;
const ahead = Date.now() - Number(now);
const here = `/sessions/${encodeURIComponent(session)}`;
let loading = false, joins = false;

export const live = new Live(scroller, list, { region, onNew: (is) => { pill.hidden = !is; }, past: Boolean(past) });
live.onPut = () => $(":scope > .empty", scroller)?.remove();
live.onTrim = (before) => {
  $("#older")?.remove();
  if (before > 1) list.prepend(html(
    `<p id="older"><a class="button quiet" data-do="older" data-before="${before}" href="${here}?at=${before - 1}">Earlier</a></p>`));
};

const stream = subscribe(session, {
  form: "page", after: Number(seq),
  on(kind, body) {
    if (kind === "page") live.take(body.ops);
    else if (kind === "snapshot" && (joins || !live.past)) whole(body);
    else if (kind === "ended") over(body.message);
  },
});

if (unloaded && !document.body.dataset.may) { // its agent has the history
  api("POST", `/api/sessions/${session}/commands`, { do: "start", id: uid() }).catch(told);
}

/** It was deleted elsewhere: what is shown stays, and what was typed can be copied. */
function over(words) {
  toast(words, { kind: "failed", action: { label: "All sessions", run: () => location.assign("/") } });
  $("#prompt")?.setAttribute("readonly", "");
  for (const each of $$("#bar .now, .chips, .acts")) each.hidden = true;
}

/** Of any other part of the screen: its HTML anew. Others may listen for `region`. */
function region(name, text) {
  const place = document.getElementById(name);
  if (name === "rewound") { if (place.textContent !== text) location.reload(); return; } // other turns are shown
  if (place) morphInner(place, text);
  document.dispatchEvent(new CustomEvent("region", { detail: { name, text } }));
}

/** The end anew: too much happened meanwhile, or what is shown reaches it. */
function whole({ html: text, first, older, regions }) {
  live.queue = [];
  live.held(() => {
    if (joins) append(html(text));
    else {
      list.replaceChildren(html(text));
      if (older) live.onTrim(first);
    }
  });
  if (joins) $("#newer")?.remove();
  live.past = joins = false;
  live.blocks = Infinity;
  for (const [name, value] of Object.entries(regions)) region(name, value);
}

// --- above -----------------------------------------------------------------------------------------


async function older() {
  const link = $("#older a");
  if (!link || loading) return;
  loading = true;
  link.setAttribute("aria-busy", "true");
  try {
    const found = html(await piece(`${here}/older?before=${link.dataset.before}`));
    live.following = false;
    live.held(() => {
      $("#older")?.remove();
      for (const unit of $$(".block", found)) {
        const known = unit.id && document.getElementById(unit.id);
        // What began up there and goes on was shown before: it stays where it grows.
        if (known) ($(".tail, [data-since]", known) ? unit : known).remove();
      }
      list.prepend(found);
    });
    live.blocks = Infinity;
  } finally {
    link.removeAttribute("aria-busy");
    loading = false;
  }
}
when("older", older);

// --- below, where only a part is shown -------------------------------------------------------------

/** Blocks that were shown before give way to what became of them. */
function append(found) {
  for (const unit of $$(".block", found)) document.getElementById(unit.id)?.remove();
  list.append(found);
}

async function newer() {
  const link = $("#newer [data-after]");
  if (!link || loading) return;
  loading = true;
  try {
    const found = html(await piece(`${here}/newer?after=${link.dataset.after}`)), foot = $("#newer", found);
    if (!foot) { joins = true; stream.again(null); return; }
    link.parentNode.replaceWith(foot);
    live.held(() => append(found));
  } finally {
    loading = false;
  }
}
when("newer", newer);
when("below", () => { live.toEnd(); scroller.focus({ preventScroll: true }); });
scroller.addEventListener("scroll", () => {
  if (!live.following && scroller.scrollTop < 600) older().catch(told);
  if (live.past && live.left() < 600) newer().catch(told);
}, { passive: true });

// --- a place in it ---------------------------------------------------------------------------------

/** Shows a block: what is around it is opened, and it is marked. */
function show(id) {
  const unit = document.getElementById(id);
  if (!unit) return false;
  for (let above = unit.parentElement; above && above !== list; above = above.parentElement) {
    if (above.localName === "details") above.open = true;
  }
  live.following = false;
  $$(".marked", list).forEach((each) => each.classList.remove("marked"));
  unit.classList.add("marked");
  unit.scrollIntoView({ block: "center" });
  live.last = scroller.scrollTop;
  return true;
}

const wanted = location.hash.startsWith("#b") ? decodeURIComponent(location.hash.slice(1)) : at;
if (!wanted || !show(wanted)) {
  const place = wanted && /^b\d+\.(\d+)/.exec(wanted);
  if (place && !location.search) location.replace(`${here}?at=${place[1]}${location.hash}`);
  else if (past) scroller.scrollTop = 0;
  else begin();
}

/** At the end; at the first open ask where that is not whole in sight there: a tall one on a phone. */
function begin() {
  live.toEnd();
  const ask = $(".answers", list)?.closest(".block");
  if (!ask || ask.getBoundingClientRect().top >= scroller.getBoundingClientRect().top) return;
  live.following = false;
  ask.scrollIntoView({ block: "start" });
  live.last = scroller.scrollTop;
}
addEventListener("hashchange", () => show(decodeURIComponent(location.hash.slice(1))));

// --- time ------------------------------------------------------------------------------------------

function tick() {
  for (const own of $$(".own[data-since]", list)) {
    const seconds = Math.max(0, Math.round((Date.now() - ahead - own.dataset.since) / 1000));
    const shown = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
    const place = $(".extras", own);
    if (place) place.dataset.tick = shown;
  }
}
setInterval(() => { if (!document.hidden) tick(); }, 1000);
tick();

// --- copies and links ------------------------------------------------------------------------------

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

function offer(event) {
  const place = event.target.closest?.(".code, .out, .own");
  if (!place || place.contains(tools)) return;
  const block = place.closest(".block");
  if (!block || block.matches(".row") || !list.contains(block)) return;
  const home = place.matches(".code") ? place : place.closest(".own");
  if (home && tools.parentNode !== home) home.append(tools);
}
list.addEventListener("pointerover", offer);
list.addEventListener("focusin", offer);
/** Paths become links after all that is shown has come. */
(window.requestIdleCallback ?? setTimeout)(() => import("./paths.js").then(({ watch }) => watch(scroller, list, session)).catch(told));

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
  await copy(`${location.origin}${here}${number ? `?at=${number}` : ""}#${block.id}`);
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Link"; }, 1500);
});
key("C", "Copy the last answer", async () => {
  const last = $$(".block.answer > .own", list).at(-1);
  if (last) { await copy(words(last)); say("Copied"); }
}, { where: "Session" });
key("G", "Go to the end", () => live.toEnd(), { where: "Session" });

// --- what helps, and what is done at a prompt --------------------------------------------------------

when("action", async (button) => (await import("./actions.js")).act(JSON.parse(button.dataset.action), button));
when("prompt", async (button) => (await import("./prompts.js")).open(button));
