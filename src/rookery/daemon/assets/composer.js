// Where a prompt is written: keys, drafts, earlier prompts, files, suggestions, the queue.
import { $, $$, api, command, element, kept, say, toast, told, when } from "./main.js";
import { attachments } from "./attachments.js";
import { facts, onBar, path, readHeader, session } from "./bar.js";
import { isTyping, key } from "./keys.js";
import { again, drop, onOutbox, pending, post } from "./outbox.js";
import { live } from "./session.js";
import { onConnection } from "./stream.js";

const form = $("form.composer");
const field = $("#prompt");
const coarse = matchMedia("(pointer: coarse)");
const DRAFT = `draft.${session}`;
const PAST = `past.${session}`;
const MOST_PAST = 50;
let editing = null;
let edits = 0; // the turn whose prompt is edited
let heldBack = ""; // a letter that was not sent, since it looks like an answer
const mentioned = new Set();
const files = form && attachments(form, field, (file) => (form.dataset.images === "0" && file.type.startsWith("image/") ? `${facts().title} does not accept images.` : ""));

// --- the field -----------------------------------------------------------------------------------

function grow() {
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + 2}px`;
}

let saving = 0;
function changed() {
  grow();
  clearTimeout(saving);
  saving = setTimeout(keepDraft, 250);
}
const keepDraft = () => { if (!editing) kept.set(DRAFT, field.value); };

function put(text) {
  field.value = text;
  changed();
}

/** Into the field, with what is written there. */
function add(text, { before = false } = {}) {
  const own = field.value.trim();
  put(!own ? text : before ? `${text}\n\n${own}` : `${own}\n\n${text}`);
  field.focus();
}

function hint() {
  const { running, steers, title } = facts();
  const words = !running ? "Ask for something" : steers ? "Steer, or queue what comes next" : "Queue what comes next";
  field.placeholder = editing ? "Change the waiting prompt" : words;
  $(".hint", form).textContent = coarse.matches || !running || editing ? "" : steers ? "Enter queues · Ctrl+Enter steers" : `Enter queues: ${title} does not take prompts during a turn`;
  $(".stop", form).hidden = !running;
  if (!running) $(".force", form).hidden = true;
  $("[type=submit]", form).title = running ? "Queue" : "Send";
}

// --- sending -------------------------------------------------------------------------------------

async function send({ steer = false } = {}) {
  const text = field.value;
  if (field.readOnly || (!text.trim() && !files.many)) return;
  const own = !editing && !files.many && /^\/(\S+)\s*([^\n]*)$/.exec(text.trim());
  if (own) {
    const { carryOut, isOurs } = await slash();
    const ours = await isOurs(own[1]);
    if (field.value !== text) return; // pressed twice
    if (ours) {
      put("");
      return carryOut(own[1], own[2].trim());
    }
  }
  const { running, steers, title, below } = facts();
  if (below && !editing && /^[ynard]$/i.test(text.trim()) && heldBack !== text) { // typed as the card came
    heldBack = text;
    toast(`“${text.trim()}” is no answer to the open question from here. Send it again to send it as a prompt.`);
    return;
  }
  heldBack = "";
  remember(text);
  if (editing) return saveEdited(text);
  if (below) toast(below);
  if (steer && running && !steers) toast(`${title} takes no prompt in mid-turn: it waits in the queue.`);
  post(session, { text, blocks: links(text), attachments: files.bodies(), edits, steer: steer && Boolean(running && steers) });
  edits = 0;
  live.toEnd();
  files.clear();
  mentioned.clear();
  put("");
  keepDraft();
}

const links = (text) => {
  const said = new Set(text.split(/\s+/).filter((word) => word.startsWith("@")).map((word) => word.slice(1)));
  return [...mentioned].filter((name) => said.has(name)).map((name) => ({
    type: "resource_link", name, uri: `file://${`${form.dataset.cwd}/${name}`.split("/").map(encodeURIComponent).join("/")}`,
  }));
};

// --- earlier prompts -----------------------------------------------------------------------------

let past = [];
let place = 0;
let present = "";

function remember(text) {
  if (!text.trim()) return;
  const mine = stored().filter((each) => each !== text);
  kept.set(PAST, JSON.stringify([...mine, text.slice(0, 20000)].slice(-MOST_PAST)));
  place = past.length;
}

function stored() {
  try { return JSON.parse(kept.get(PAST) ?? "[]"); } catch { return []; }
}

/** Those that are shown, and those that were sent from here. */
function earlier() {
  const shown = $$("#transcript .prompt .said").map((node) => node.textContent);
  const mine = stored();
  return [...new Set([...mine.filter((each) => !shown.includes(each)), ...shown].reverse())].reverse();
}

function walk(step) {
  if (place >= past.length || !past.length) { past = earlier(); place = past.length; present = field.value; }
  const to = place + step;
  if (to < 0 || to > past.length) return;
  place = to;
  put(to === past.length ? present : past[to]);
  field.setSelectionRange(field.value.length, field.value.length);
}

/** In an empty field, or while one of them is shown unchanged. */
function mayWalk(step) {
  if (editing) return false;
  if (step < 0 && !field.value) return true;
  return place < past.length && field.value === past[place];
}

// --- slash commands and mentions -----------------------------------------------------------------

/** Rookery's own commands; their script comes with the first key. */
const slash = () => import("./commands.js");
let agents = null; // the agent's commands, until the bar says that they changed

const commands = async (query) => {
  agents ??= readHeader().then((header) => header.commands ?? [], () => []);
  return (await slash()).rows(await agents, query, () => put(""));
};

let list = null; // of what is offered: its script comes with the first sign
const look = async () => {
  list ??= import("./complete.js")
    .then(({ complete }) => complete(field, form, offers), (error) => { list = null; throw error; });
  (await list).look();
};
const OFFERED = /^\/[^\s/]*$|(?:^|\s)@[^\s@]*$/;

function offers(before) {
  const own = /^\/([^\s/]*)$/.exec(before);
  if (own) return { from: 0, rows: commands(own[1]) };
  const at = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (!at) return null;
  const query = new URLSearchParams({ query: at[1].slice(0, 200) });
  const rows = api("GET", `${path}/files?${query}`)
    .then(({ files: found }) => found.map((name) => { mentioned.add(name); return { label: name, insert: `@${name} ` }; }));
  return { from: before.length - at[1].length - 1, rows };
}

// --- the queue -----------------------------------------------------------------------------------

const act = (op, item, more = {}) => command(session, { do: "queue", op, item, ...more });
const rowOf = (node) => node.closest("li[data-item]");

when("queue", async (button) => {
  const row = rowOf(button);
  const { item, at } = row.dataset;
  const { op } = button.dataset;
  if (op === "edit") return edit(item);
  if (op === "up" || op === "down") {
    await act("move", item, { to: Number(at) + (op === "up" ? -1 : 1) });
    return;
  }
  await act(op, item);
  const { running, steers, title } = facts();
  if (op === "send" && running && !steers) toast(`Sent next: ${title} does not take prompts during a turn.`);
});

async function edit(item) {
  if (field.value.trim() && !editing) return void toast("Send or clear the text in the field first.");
  const found = (await readHeader()).queue.find((each) => each.id === item);
  if (!found) return void toast("It was already sent.");
  editing = { item, rest: found.prompt.filter((block) => block.type !== "text") };
  $(".editing", form).hidden = false;
  put(found.prompt.filter((block) => block.type === "text").map((block) => block.text).join("\n"));
  field.focus();
  hint();
}

async function saveEdited(text) {
  const { item, rest } = editing;
  const prompt = [...(text.trim() ? [{ type: "text", text }] : []), ...rest];
  try {
    await act("edit", item, { prompt });
  } catch (problem) {
    if (problem.error !== "not_queued") throw problem;
    editing = null;
    $(".editing", form).hidden = true;
    keepDraft();
    hint();
    return void toast("The prompt was already sent. Your text is still here: send it as a new prompt.");
  }
  stopEditing();
}

function stopEditing() {
  editing = null;
  $(".editing", form).hidden = true;
  put(kept.get(DRAFT) ?? "");
  hint();
}
when("stop-editing", stopEditing);

let dragged = null;
document.addEventListener("dragstart", (event) => {
  dragged = event.target.closest?.("#queue li[data-item]");
  if (dragged) { event.dataTransfer.effectAllowed = "move"; event.dataTransfer.setData("text/plain", dragged.textContent); }
});
document.addEventListener("dragend", () => { dragged = null; });

// --- what is not sent yet ------------------------------------------------------------------------

let connection = "trying";

function showPending() {
  const now = Date.now();
  const late = pending(session).filter((item) => item.problem || now - item.at > 350 || connection === "lost");
  $("#outbox").replaceChildren(...late.map((item) => element("li", { class: item.problem ? "refused" : "", "data-key": item.key },
    element("span", { class: "said", dir: "auto" }, item.text || `${item.attachments.length} files`),
    element("span", { class: "why" }, item.problem ? `${item.problem.message} ${item.problem.remedy}`.trim() : connection === "lost" || !item.sending ? "waiting for the connection" : "sending"),
    element("span", { class: "acts" },
      ...(item.problem ? [element("button", { type: "button", class: "quiet", "data-do": "outbox-again" }, "Send again")] : []),
      ...(item.problem || !item.sending ? [element("button", { type: "button", class: "quiet", "data-do": "outbox-edit" }, "Edit"), element("button", { type: "button", class: "quiet", "data-do": "outbox-drop" }, "Discard")] : [])))));
}

const pendingOf = (node) => pending(session).find((item) => item.key === node.closest("li").dataset.key);
when("outbox-again", (button) => again(pendingOf(button)));
when("outbox-drop", (button) => drop(pendingOf(button)));
when("outbox-edit", (button) => giveBack(pendingOf(button)));

function giveBack(item) {
  drop(item);
  files.add(item.attachments);
  for (const block of item.blocks) if (block.name) mentioned.add(block.name);
  add(item.text, { before: true });
}

// --- putting it together -------------------------------------------------------------------------

function keydown(event) {
  if (event.isComposing || event.keyCode === 229) return;
  const held = event.ctrlKey || event.metaKey;
  if (event.key === "Enter" && !event.altKey) {
    const sends = held || event.shiftKey === coarse.matches;
    if (!sends) return;
    event.preventDefault();
    send({ steer: held }).catch(told);
  } else if ((event.key === "ArrowUp" || event.key === "ArrowDown") && !held && !event.shiftKey) {
    const step = event.key === "ArrowUp" ? -1 : 1;
    if (!mayWalk(step)) return;
    event.preventDefault();
    walk(step);
  } else if (event.key === "Escape") {
    if (editing) stopEditing();
    else field.blur();
  }
}

function begin() {
  field.autocomplete = "off";
  field.addEventListener("keydown", keydown);
  field.addEventListener("input", () => {
    changed();
    if (!list && OFFERED.test(field.value.slice(0, field.selectionStart))) look().catch(told);
  });
  document.addEventListener("dragover", (event) => { if (dragged && rowOf(event.target)) event.preventDefault(); });
  document.addEventListener("drop", (event) => {
    const onto = dragged && rowOf(event.target);
    if (onto) event.preventDefault();
    if (onto && onto !== dragged) act("move", dragged.dataset.item, { to: Number(onto.dataset.at) }).catch(told);
  });
  document.addEventListener("put-prompt", ({ detail }) => {
    edits = detail.edits ?? 0;
    for (const name of detail.mentions ?? []) mentioned.add(name);
    add(detail.text, detail);
    if (detail.files?.length) files.attach(detail.files);
  });
  when("send", () => send());
  when("mention", () => { insert(/\s$|^$/.test(field.value) ? "@" : " @"); return look(); });
  when("slash", () => { if (!field.value) insert("/"); field.focus(); return look(); });
  onBar(() => { agents = null; hint(); });
  onConnection((state) => { connection = state; showPending(); });
  onOutbox(news);
  key("i", "Write a prompt", () => field.focus(), { where: "Session" });
  coarse.addEventListener("change", hint);
  addEventListener("pagehide", keepDraft);
  if (field.value) changed(); // written before this script was there
  else put(kept.get(DRAFT) ?? "");
  showPending();
  try { if (sessionStorage[`edit.${session}`]) import("./prompts.js").then(({ restore }) => restore()).catch(told); } catch { /* no storage */ }
  if (!coarse.matches && !isTyping() && !location.hash) field.focus({ preventScroll: true });
  keyboard();
}

function insert(text) {
  field.focus();
  field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
  changed();
}

function news(what, item, more) {
  if (what === "changed") {
    showPending();
    setTimeout(showPending, 400);
  } else if (item.session === session && what === "stuck") told(more);
  else if (item.session === session && what === "refused") {
    say(more.message, { now: true });
    if (field.value.trim() || files.many) return;
    giveBack(item);
    told(more);
  }
}

/** Above the keyboard of a phone that lays it over the page. */
function keyboard() {
  const shown = window.visualViewport;
  if (!shown) return;
  const fit = () => document.documentElement.style.setProperty("--keyboard", `${Math.max(0, Math.round(innerHeight - shown.height - shown.offsetTop))}px`);
  shown.addEventListener("resize", fit);
  shown.addEventListener("scroll", fit);
}

if (form) begin();
