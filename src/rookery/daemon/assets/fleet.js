// The list of sessions, kept up to date; what the tab says; what is announced.
import { $, $$, api, apiOf, piece, readOnly, role, say } from "./main.js";
import { morphInner } from "./morph.js";
import { subscribe } from "./stream.js";
import { key } from "./keys.js";
import "./notify.js";

const QUIET = 300; // milliseconds in which changes are gathered
const screen = $("#list");
const host = screen ?? $("#fleet");
const find = $("#find");
const rows = () => $$("li[data-id]:not([hidden])", host);
const list = () => $(".list", host);
let skew = 0;

// --- kept up to date -----------------------------------------------------------------------------

function address() {
  const given = new URLSearchParams(screen ? location.search : { session: document.body.dataset.session ?? "" });
  given.set("form", screen ? "screen" : "column");
  const words = find?.value.trim();
  if (words) given.set("words", words);
  for (const [name, value] of [...given]) if (!value) given.delete(name);
  return `/pieces/fleet?${given}`;
}

let due = 0;
let busy = false;
let again = false;
export const soon = (wait = QUIET) => { due ||= setTimeout(refresh, document.hidden ? 1000 : wait); };

export async function refresh() {
  due = 0;
  if (busy) { again = true; return; }
  busy = true;
  try {
    const asked = address();
    const text = await piece(asked);
    if (asked === address()) apply(text);
    else again = true;
  } catch (error) {
    if (error.status) console.warn(error.message); // without a connection the stream says so
  } finally {
    busy = false;
    if (again) { again = false; soon(); }
  }
}

function apply(text) {
  const before = states(), wasShown = isShown();
  morphInner(host, text);
  if (wasShown) showCurrent(); // it may be in another group now
  filter();
  tick();
  tell(before, states());
  badge();
  read();
  dispatchEvent(new Event("fleet"));
}

const states = () => new Map($$("li[data-id]", host).map((row) => [row.dataset.id, {
  status: row.dataset.status, unread: "unread" in row.dataset, asks: row.dataset.status === "needs-you" && $(".doing", row).textContent }]));

/** What needs somebody interrupts; an end does not. */
function tell(before, after) {
  for (const [id, { status, unread, asks }] of after) {
    const old = before.get(id), was = old?.status;
    if (!was || (was === status && old.asks === asks)) continue;
    const row = document.getElementById(`s-${id}`);
    const title = $(".title", row).textContent.trim();
    const label = $(".doing b", row)?.textContent ?? "";
    const doing = $(".doing", row).textContent.trim().slice(label ? label.length + 2 : 0);
    let kind = "";
    if (status === "needs-you") kind = "ask";
    else if (status === "failed") kind = "failure";
    else if (/running|needs-you/.test(was) && /idle|asleep/.test(status)) kind = "end";
    if (!kind) continue;
    const heading = kind === "ask" ? `${title} needs you` : kind === "failure" ? `${title} failed` : `${title} is done`;
    say(`${heading}${kind === "end" ? "" : `: ${doing}`}`, { now: kind === "ask" });
    dispatchEvent(new CustomEvent("news", { detail: { kind, session: id, heading, text: doing, unread } }));
  }
}

/** The session that is looked at is not unread. */
function read() {
  const { session } = document.body.dataset;
  const { news } = document.getElementById(`s-${session}`)?.dataset ?? {};
  if (session && news && (role === "answer" || !readOnly) && !document.hidden) api("POST", `${apiOf(session)}/seen`, { seq: Number(news) }).catch(() => {});
}

// --- the tab -------------------------------------------------------------------------------------

const OWN = /^● \d+ needs? you · /;

function badge() {
  const { needs = "0", asks = "0", running = "0" } = list()?.dataset ?? {};
  const base = document.title.replace(OWN, "");
  const title = needs === "0" ? base : `● ${needs} need${needs === "1" ? "s" : ""} you · ${base}`;
  if (document.title !== title) document.title = title;
  const name = needs !== "0" ? "favicon-needs.svg" : running !== "0" ? "favicon-running.svg" : "favicon.svg";
  const href = new URL(`./${name}`, import.meta.url).pathname;
  const icon = $("link[rel=icon]");
  if (icon && icon.getAttribute("href") !== href) icon.setAttribute("href", href);
  for (const { dataset } of $$('.links a[href="/inbox"]')) {
    if (asks !== "0") dataset.count = asks;
    else delete dataset.count;
  }
  navigator.setAppBadge?.(Number(needs)).catch(() => {});
}

const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

/** `12 s`, `4 min`, `3 h`, `2 d`, as render/local_time says it; "" after a week: then the day stands there. */
function age(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole >= 7 * 86400) return "";
  const [size, unit] = UNITS.find(([each]) => whole >= each) ?? [1, "s"];
  return `${Math.floor(whole / size)} ${unit}`;
}

function tick() {
  const now = Date.now() + skew;
  for (const time of $$("time.age[data-since]")) {
    const words = age((now - Number(time.dataset.since)) / 1000);
    if (words && time.textContent !== words) time.textContent = words;
  }
}

// --- find ----------------------------------------------------------------------------------------

function filter() {
  const words = (find?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of $$("li[data-id]", host)) {
    const place = $(".place", row)?.title ?? "";
    const text = words.length ? `${$(".title", row).textContent} ${$(".about", row).textContent} ${place}`.toLowerCase() : "";
    row.hidden = !words.every((word) => text.includes(word));
  }
  for (const group of $$("section", host)) group.hidden = !$("li:not([hidden])", group);
}

find?.addEventListener("input", () => { filter(); soon(120); });
find?.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { find.value = ""; filter(); soon(0); find.blur(); }
  else if (event.key === "ArrowDown") { event.preventDefault(); move(1); }
});

// --- keys ----------------------------------------------------------------------------------------

function move(by) {
  const links = rows().map((row) => $("a", row));
  const at = links.indexOf(document.activeElement?.closest?.("li[data-id]")?.querySelector("a"));
  links[Math.max(0, Math.min(links.length - 1, at < 0 ? 0 : at + by))]?.focus();
}
const here = () => screen || host.contains(document.activeElement);
for (const [name, by] of [["j", 1], ["k", -1], ["ArrowDown", 1], ["ArrowUp", -1]]) {
  const words = name === "j" ? "Next session" : name === "k" ? "Previous session" : "";
  key(name, words, () => move(by), { where: "Sessions", only: () => here() && rows().length });
}
key("Enter", "Open it", () => {}, { where: "Sessions", only: () => false });
key("m", "Actions", () => $("button", document.activeElement.closest("li[data-id]")).click(), {
  where: "Sessions", only: () => !readOnly && host.contains(document.activeElement) && document.activeElement.closest("li[data-id]"),
});

try {
  const gone = JSON.parse(sessionStorage.getItem("removed"));
  sessionStorage.removeItem("removed");
  if (gone) import("./trash.js").then((trash) => trash.removed(gone.id, gone.title));
} catch { /* no storage */ }

// --- begin ---------------------------------------------------------------------------------------

/** Where the session that is open stands in the column. */
function place() {
  const box = $("#fleet"), row = box && $("a[aria-current]", box);
  if (!row) return null;
  const [outer, inner] = [box.getBoundingClientRect(), row.getBoundingClientRect()];
  return { box, outer, inner, inside: inner.top >= outer.top && inner.bottom <= outer.bottom };
}
const isShown = () => place()?.inside;
function showCurrent() {
  const { box, outer, inner, inside } = place() ?? { inside: true };
  if (!inside) box.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 3;
}
new MutationObserver(showCurrent).observe(document.body, { attributes: true, attributeFilter: ["data-column"] }); // it is opened

if (host) {
  showCurrent();
  const { now, seq, epoch } = { ...list()?.dataset, ...host.dataset };
  if (now) skew = Number(now) - Date.now();
  subscribe("fleet", { after: seq ? Number(seq) : null, epoch: epoch ?? "", on: () => soon() });
  setInterval(() => { if (!document.hidden) tick(); }, 1000);
  setInterval(() => { if (!document.hidden) soon(); }, 60000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) soon(); });
  badge();
  read();
}
