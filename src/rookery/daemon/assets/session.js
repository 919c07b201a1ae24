// The session screen: the transcript as it grows, what stands above it, and what its buttons do.
import { $, $$, command, html, piece, screenOf, toast, told, when } from "./main.js";
import { Live } from "./live.js";
import { key } from "./keys.js";
import { morphInner } from "./morph.js";
import { arrival, subscribe } from "./stream.js";

const scroller = $("#scroll"), list = $("#transcript"), pill = $("#below");
const { session, seq, now, at, past, unloaded } = list.dataset;
const ahead = Date.now() - Number(now);
const here = screenOf(session);
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
  command(session, { do: "start" }).catch(told);
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

/** Their script comes when a block is pointed at. */
const copies = () => import("./copies.js");
const offer = ({ target }) => copies().then((found) => found.offer(target), () => {}); // without a connection, nothing is offered
list.addEventListener("pointerover", offer);
list.addEventListener("focusin", offer);
key("C", "Copy the last answer", () => copies().then(({ last }) => last()).catch(told), { where: "Session" });
key("G", "Go to the end", () => live.toEnd(), { where: "Session" });

/** Paths become links after all that is shown has come. */
(window.requestIdleCallback ?? setTimeout)(() => arrival(() => import("./paths.js")).then(({ watch }) => watch(scroller, list, session)).catch(told));

// --- what is done to the session, and at a prompt ----------------------------------------------------

for (const name of ["pick", "rename", "force-end", "more", "move"]) when(name, async (button) => (await import("./menus.js")).acts[name](button));
when("prompt", async (button) => (await import("./prompts.js")).open(button));

// --- what opens beside it: its script comes when it is asked for ---------------------------------------

const beside = () => import("./side.js");
const PANELS = { changes: () => import("./changes.js"), timeline: () => import("./timeline.js"), viewer: () => import("./viewer.js") };
for (const [name, letter, title] of [["changes", "d", "Changes"], ["timeline", "t", "Timeline"], ["viewer", "p", "Open a file"]]) {
  const toggle = async () => (await beside()).toggle(name, PANELS[name]);
  when(name, toggle);
  key(letter, title, () => toggle().catch(told), { where: "Session" });
}
const find = async (text) => (await import("./find.js")).show(text);
when("find-here", () => find());
key("f", "Find in this session", () => find().catch(told), { where: "Session" });
when("file-view", async ({ dataset: { path, line } }) => (await beside()).open("viewer", PANELS.viewer, path, line));
const asked = new URLSearchParams(location.search), panel = asked.get("side");
if (Object.hasOwn(PANELS, panel)) beside().then(({ open }) => open(panel, PANELS[panel])).catch(told);
if (asked.get("find")) find(asked.get("find")).catch(told);
