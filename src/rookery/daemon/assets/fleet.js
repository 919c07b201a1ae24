// The list of sessions, kept up to date; what the tab says; what is announced.
import { $, $$, api, element, kept, piece, readOnly, say, toast, when } from "./main.js";
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
const soon = (wait = QUIET) => { due ||= setTimeout(refresh, wait); };

async function refresh() {
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
  const before = states();
  morphInner(host, text);
  filter();
  tick();
  tell(before, states());
  badge();
  read();
  dispatchEvent(new Event("fleet"));
}

const states = () => new Map($$("li[data-id]", host).map((row) => [row.dataset.id, { status: row.dataset.status, unread: "unread" in row.dataset }]));

/** What needs somebody interrupts; an end does not. */
function tell(before, after) {
  for (const [id, { status, unread }] of after) {
    const was = before.get(id)?.status;
    if (!was || was === status) continue;
    const row = document.getElementById(`s-${id}`);
    const title = $(".title", row).textContent.trim();
    const doing = $(".doing", row).textContent.trim();
    let kind = "";
    if (status === "needs-you") kind = "ask";
    else if (status === "failed") kind = "failure";
    else if (was === "running" && (status === "idle" || status === "asleep")) kind = "end";
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
  if (session && news && !readOnly && !document.hidden) api("POST", `/api/sessions/${session}/seen`, { seq: Number(news) }).catch(() => {});
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
  const inbox = $('.links a[href="/inbox"]');
  if (inbox && asks !== "0") inbox.dataset.count = asks;
  else delete inbox?.dataset.count;
  navigator.setAppBadge?.(Number(needs)).catch(() => {});
}

/** `38:20`, `2:05:10` */
export function elapsed(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (number) => String(number).padStart(2, "0");
  const minutes = Math.floor(whole / 60) % 60;
  const hours = Math.floor(whole / 3600);
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

function tick() {
  const now = Date.now() + skew;
  for (const time of $$("time.age[data-since]")) {
    const words = elapsed((now - Number(time.dataset.since)) / 1000);
    if (time.textContent !== words) time.textContent = words;
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
  key(name, words, () => move(by), { where: "Sessions", only: () => here() && rows().length && !$(".menu") });
}
key("Enter", "Open it", () => {}, { where: "Sessions", only: () => false });
key("m", "What can be done with it", () => open($("button", document.activeElement.closest("li[data-id]"))), {
  where: "Sessions", only: () => !readOnly && host.contains(document.activeElement) && document.activeElement.closest("li[data-id]"),
});

// --- filters and groups --------------------------------------------------------------------------

screen?.addEventListener("click", (event) => {
  const link = event.target.closest?.(".filters a, .pages a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if ("group" in link.dataset) kept.set("group", link.dataset.group);
  history.replaceState(null, "", link.getAttribute("href"));
  refresh();
  if (link.closest(".pages")) $("#main").scrollTo(0, 0);
});
if (screen && kept.get("group") === "directory" && !location.search) {
  history.replaceState(null, "", "/?group=directory");
  soon(0);
}

// --- what can be done with a session -------------------------------------------------------------

const close = () => { const menu = $(".menu"); menu?.owner.removeAttribute("aria-expanded"); menu?.remove(); };

function open(button) {
  const was = $(".menu")?.owner;
  close();
  if (was === button) return;
  const row = button.closest("li[data-id]");
  const menu = element("div", { class: "menu", role: "menu" });
  menu.owner = button;
  for (const [words, run, kind] of deeds(row)) {
    const item = element("button", { type: "button", role: "menuitem", class: `quiet ${kind ?? ""}` }, words);
    item.addEventListener("click", () => {
      close();
      button.focus();
      Promise.resolve(run()).catch((error) => toast(error.message, { remedy: error.remedy, kind: "failed" }));
    });
    menu.append(item);
  }
  menu.addEventListener("keydown", (event) => {
    const items = $$("button", menu);
    const at = items.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, Home: 0, End: -1 }[event.key];
    if (to != null) items.at(to % items.length).focus();
    else if (event.key === "Escape" || event.key === "Tab") { close(); button.focus(); }
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  document.body.append(menu);
  button.setAttribute("aria-expanded", "true");
  const { right, bottom, top } = button.getBoundingClientRect();
  const below = bottom + menu.offsetHeight < innerHeight - 8;
  menu.style.left = `${Math.max(8, right - menu.offsetWidth)}px`;
  menu.style.top = `${below ? bottom + 4 : Math.max(8, top - menu.offsetHeight - 4)}px`;
  $("button", menu).focus();
}
when("row", (button) => open(button));
document.addEventListener("pointerdown", (event) => { if (!event.target.closest?.(".menu, [data-do=row]")) close(); });
addEventListener("scroll", close, true);
addEventListener("resize", close);

function deeds(row) {
  const { id, status, hidden } = row.dataset;
  const title = $(".title", row).textContent.trim();
  const change = async (fields) => { await api("PATCH", `/api/sessions/${id}`, fields); soon(0); };
  const away = async (fields, undo, words) => {
    await change(fields);
    toast(words, { action: { label: "Undo", run: () => change(undo) } });
  };
  const pinned = "pinned" in row.dataset;
  const found = [["Rename", () => rename(title, change)], [pinned ? "Unpin" : "Pin", () => change({ pinned: !pinned })]];
  if (hidden === "snoozed") found.push(["Show it again", () => change({ snoozed: 0 })]);
  else if (!hidden) {
    found.push(["Snooze for an hour", () => away({ snoozed: Date.now() + 3600e3 }, { snoozed: 0 }, "Snoozed for an hour.")]);
    found.push(["Snooze until tomorrow", () => away({ snoozed: tomorrow() }, { snoozed: 0 }, "Snoozed until tomorrow, 9:00.")]);
  }
  if (hidden === "archived") found.push(["Take out of the archive", () => change({ archived: false })]);
  else found.push(["Archive", () => away({ archived: true }, { archived: false }, "Archived.")]);
  if (status !== "asleep") found.push(["Stop", async () => { await api("POST", `/api/sessions/${id}/commands`, { do: "stop" }); soon(0); }]);
  found.push(["Delete", () => remove(id, title), "danger"]);
  return found;
}

function tomorrow() {
  const day = new Date();
  day.setDate(day.getDate() + 1);
  return day.setHours(9, 0, 0, 0);
}

/** A small window with a form; what it is answered with. */
function asked(heading, inner, label, kind) {
  return new Promise((resolve) => {
    const cancel = element("button", { type: "button" }, "Cancel");
    const form = element("form", { method: "dialog" }, element("h2", {}, heading), ...inner,
      element("div", { class: "ways" }, element("button", { class: kind, value: "yes" }, label), cancel));
    const dialog = element("dialog", { class: "small", "aria-label": heading }, form);
    cancel.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => { dialog.remove(); resolve(dialog.returnValue === "yes"); });
    document.body.append(dialog);
    dialog.showModal();
    $("input", dialog)?.select();
  });
}

async function rename(title, change) {
  const field = element("input", { value: title, maxlength: 200, required: true, "aria-label": "Title" });
  if (await asked("Rename the session", [field], "Rename", "primary") && field.value.trim()) await change({ title: field.value.trim() });
}

async function remove(id, title) {
  const words = element("p", {}, `“${title}” and everything said in it are deleted for good. Files in its directory stay.`);
  if (!await asked("Delete the session?", [words], "Delete", "danger")) return;
  const { kept: left } = await api("DELETE", `/api/sessions/${id}`);
  toast(left.length ? left.join(" ") : "Deleted.");
  if (document.body.dataset.session === id) location.assign("/");
  soon(0);
}

// --- begin ---------------------------------------------------------------------------------------

if (host) {
  const { now, seq, epoch } = { ...list()?.dataset, ...host.dataset };
  if (now) skew = Number(now) - Date.now();
  subscribe("fleet", { after: seq ? Number(seq) : null, epoch: epoch ?? "", on: () => soon() });
  setInterval(() => { if (!document.hidden) tick(); }, 1000);
  setInterval(() => { if (!document.hidden) soon(); }, 60000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) soon(); });
  badge();
  read();
}
