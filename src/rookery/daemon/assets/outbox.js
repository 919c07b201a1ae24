// Prompts on their way: kept on this device until Rookery has them, then sent once, in order. Each
// has an id of its own, so one that is sent again after a break is done once.
import { api, apiOf, uid } from "./main.js";
import { onConnection } from "./stream.js";

const PREFIX = "outbox.";
const WAITS = [1000, 2000, 4000, 8000, 15000, 30000];
const waiting = new Map(); // by key, which sorts by time
const busy = new Set();
const underway = new Set(); // an AbortController of each request
const listeners = new Set();
const tab = ownName();
let tries = 0;
let timer = 0;
let number = 0;

function ownName() {
  try { return sessionStorage.tab || (sessionStorage.tab = uid()); } catch { return uid(); }
}

/** Called with (what, item, more): "changed", "sent" with the outcome, "refused" or "stuck" with the problem. */
export const onOutbox = (run) => listeners.add(run);
const tell = (what, item, more) => { for (const run of listeners) run(what, item, more); };

/** A session's, oldest first. */
export const pending = (session) => [...waiting.values()].filter((item) => item.session === session)
  .sort((one, other) => (one.key < other.key ? -1 : 1));

function save(item) {
  waiting.set(item.key, item);
  const { sending, ...kept } = item;
  try {
    localStorage.setItem(item.key, JSON.stringify(kept));
  } catch { // too large: the words at least
    try { localStorage.setItem(item.key, JSON.stringify({ ...kept, attachments: [], lost: item.attachments.length })); } catch { item.unkept = true; /* this window still has it */ }
  }
}

export function drop(item) {
  waiting.delete(item.key);
  try { localStorage.removeItem(item.key); } catch { /* there is no storage */ }
  tell("changed", item);
}

/** `command`: text, blocks besides it, attachments, the turn whose prompt it edits, steer. */
export function post(session, { text, blocks = [], attachments = [], edits = 0, steer = false }) {
  const key = `${PREFIX}${String(Date.now()).padStart(15, "0")}.${String(++number).padStart(4, "0")}.${uid()}`;
  save({ key, id: key.slice(-32), session, text, blocks, attachments, edits, steer, tab, at: Date.now() });
  tell("changed");
  flush(session);
}

/** Once more, after a refusal. */
export function again(item) {
  delete item.problem;
  save(item);
  flush(item.session);
}

function load() {
  let names = [];
  try { names = Object.keys(localStorage).filter((name) => name.startsWith(PREFIX)); } catch { return; }
  for (const key of [...waiting.keys()]) if (!names.includes(key) && !waiting.get(key).unkept && !waiting.get(key).sending) waiting.delete(key);
  for (const key of names) if (!waiting.has(key)) read(key);
  tell("changed");
}

function read(key) {
  let item;
  try { item = JSON.parse(localStorage.getItem(key)); } catch { return; }
  if (!item?.session || !item.id) return;
  if (item.lost && item.tab !== tab) return; // another window may still have its files
  if (item.lost) item.problem = { message: "Its files were too large to be kept.", remedy: "Attach them again." };
  waiting.set(key, { ...item, key });
}

async function flush(session) {
  if (busy.has(session)) return;
  busy.add(session);
  try {
    for (let item; (item = pending(session).find((each) => !each.problem)); ) {
      if (!(await deliver(item))) { later(); break; }
    }
  } finally {
    busy.delete(session);
    tell("changed");
  }
}

/** Whether the next one may go. */
async function deliver(item) {
  item.sending = true;
  tell("changed", item);
  const prompt = [...(item.text.trim() ? [{ type: "text", text: item.text }] : []), ...item.blocks];
  const body = { do: "prompt", id: item.id, prompt, attachments: item.attachments, edits: item.edits ?? 0, steer: item.steer };
  const request = new AbortController();
  underway.add(request);
  try {
    const outcome = await api("POST", `${apiOf(item.session)}/commands`, body, { signal: request.signal });
    tries = 0;
    drop(item);
    tell("sent", item, outcome);
    return true;
  } catch (problem) {
    item.sending = false;
    if (problem.error === "no_answer") tell("stuck", item, problem); // its worker hangs
    if (isPassing(problem)) return false;
    item.problem = { message: problem.message, remedy: problem.remedy ?? "" };
    save(item);
    tell("refused", item, problem);
    return true;
  } finally {
    underway.delete(request);
  }
}

/** Whether it helps to send the same again: nobody answered, or not now. */
function isPassing({ status = 0, error }) {
  return [0, 401, 408, 429, 503, 504].includes(status) || (status === 502 && error === "failed");
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(flushAll, WAITS[Math.min(tries++, WAITS.length - 1)]);
}

function flushAll() {
  for (const session of new Set([...waiting.values()].map((item) => item.session))) flush(session);
}

addEventListener("storage", ({ key }) => { if (!key || key.startsWith(PREFIX)) load(); });
/** A request from before the break may wait for minutes for an answer that does not come. */
addEventListener("online", () => {
  tries = 0;
  for (const request of underway) request.abort();
  flushAll();
});
load();
onConnection((state) => { if (state === "live") { tries = 0; flushAll(); } });
