// Find in a session: hits of the search index, each opened at its place.
import { $, $$, api, element, say, screenOf, styled, told } from "./main.js";
import { clear } from "./side.js";
import { blockOf, reveal } from "./timeline.js";

const session = document.body.dataset.session;
let hits = [], at = -1, timer = 0, asking = null, bar = null;

const field = element("input", { type: "search", autocomplete: "off", maxlength: "500", placeholder: "Find in this session", "aria-label": "Find in this session" });
const count = element("span", { class: "soft", role: "status" });
const button = (label, words, run) => {
  const made = element("button", { type: "button", class: "quiet icon", "aria-label": words, title: words }, label);
  made.addEventListener("click", run);
  return made;
};

export async function show(words = "") {
  await styled("changes.css");
  clear();
  if (!bar) {
    bar = element("div", { class: "find-here", role: "search", "aria-label": "This session" }, field, count,
      button("↑", "Previous", () => step(1)), button("↓", "Next", () => step(-1)), button("×", "Close", close));
    $("#talk").append(bar);
  }
  bar.hidden = false;
  if (words) {
    field.value = words;
    await look({ stay: Number(new URLSearchParams(location.search).get("at")) });
  }
  field.focus();
  field.select();
}

function close() {
  bar.hidden = true;
  asking?.abort();
  $("#scroll")?.focus({ preventScroll: true });
}

async function look({ stay = 0 } = {}) {
  asking?.abort();
  asking = new AbortController();
  const q = field.value.trim();
  hits = [];
  at = -1;
  if (!q) { count.textContent = ""; return; }
  const fields = new URLSearchParams({ q, session, limit: "200" });
  const found = await api("GET", `/api/v1/search?${fields}`, undefined, { signal: asking.signal });
  hits = found.hits;
  at = stay ? hits.findIndex((hit) => hit.seq === stay) : -1;
  counted();
  if (!found.whole) timer = setTimeout(() => look({ stay: hits[at]?.seq }).catch(told), 1500);
}

function counted() {
  const words = hits.length ? `${at < 0 ? "" : `${hits.length - at} of `}${hits.length}${hits.length === 200 ? "+" : ""}` : "Nothing";
  count.textContent = words;
}

/** Hits are the newest first: 1 goes up in the transcript. */
function step(by) {
  if (!hits.length) return;
  at = at < 0 ? (by > 0 ? 0 : hits.length - 1) : (at + by + hits.length) % hits.length;
  counted();
  const { seq, text, marks } = hits[at];
  say(text);
  const block = loaded(seq, text.slice(...(marks[0] ?? [0, 0])));
  if (block) reveal(block);
  else location.assign(`${screenOf(session)}?${new URLSearchParams({ at: seq, find: field.value })}`);
}

/** The block that has the word, if the part of the transcript with the event is here. */
function loaded(seq, word) {
  const near = blockOf(seq);
  const has = (block) => block?.textContent.toLowerCase().includes(word.toLowerCase());
  if (near && has(near)) return near;
  const all = $$("#transcript .block[id]");
  const place = all.indexOf(near);
  return place < 0 ? null : all.slice(Math.max(0, place - 20), place + 2).reverse().find(has) ?? null;
}

field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => look().catch(told), 250); });
field.addEventListener("keydown", async (event) => {
  if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); close(); }
  if (event.key !== "Enter") return;
  event.preventDefault();
  clearTimeout(timer);
  if (!hits.length) await look().catch(told);
  step(event.shiftKey ? -1 : 1);
});
