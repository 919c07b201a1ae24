// One WebSocket for all topics of this page. After a break it comes back by itself and goes on from
// the seq that each topic has.
import { own, protocols, signature } from "./device.js";
import { $, api, element, role, when } from "./main.js";

const topics = new Map();
const listeners = new Set();
const WAITS = [250, 500, 1000, 2000, 4000, 8000];
const PATIENCE = 15000; // for a connection: a browser alone waits minutes for a network that swallows all
let socket = null;
let tries = 0;
let timer = 0;
let turns = 0;
let state = "trying";

/** `on(kind, body)`: snapshot, ops, page, events, ended, error. The seq is kept here. */
export function subscribe(topic, { form = "ops", after = null, epoch = "", on }) {
  const entry = { form, seq: after, epoch, on };
  topics.set(topic, entry);
  if (socket?.readyState === 1) ask(topic, entry);
  else open();
  return {
    get seq() { return entry.seq; },
    set seq(seq) { entry.seq = seq; },
    again(seq = entry.seq) { entry.seq = seq; if (socket?.readyState === 1) ask(topic, entry); },
    close() {
      if (topics.get(topic) !== entry) return;
      topics.delete(topic);
      send({ unsubscribe: { topic } });
    },
  };
}

/** Called now and at each change with "live", "trying" or "lost". */
export function onConnection(run) {
  listeners.add(run);
  run(state);
  return () => listeners.delete(run);
}

/** Load a script that nobody clicked for; without a connection, once there is one. */
export const arrival = (load) => load().catch(() => connected().then(() => arrival(load)));

/** Resolves at the next connection, or after a while: it may be there already. */
const connected = () => new Promise((resolve) => {
  const on = (now) => { if (now === "live" && listeners.delete(on)) resolve(); };
  listeners.add(on);
  setTimeout(on, WAITS.at(-1), "live");
});

function become(next) {
  if (next === state) return;
  state = next;
  for (const run of listeners) run(state);
}

function send(frame) {
  if (socket?.readyState === 1) socket.send(JSON.stringify(frame));
}

function ask(topic, { form, seq, epoch }) {
  send({ subscribe: { topic, ...(topic === "fleet" ? {} : { form }), ...(seq == null ? {} : { after: seq }), ...(epoch ? { epoch } : {}) } });
}

/** After a break the tab proves itself again, and who is logged out is led to the login. */
async function open() {
  clearTimeout(timer);
  if (socket && socket.readyState < 2) return;
  const turn = ++turns;
  if (turn > 1) {
    let about;
    try { about = await api("GET", "/api/about", undefined, { signal: AbortSignal.timeout(PATIENCE) }); } catch { if (turn === turns) later(); return; }
    if (turn !== turns) return;
    if ((about.role ?? "all") !== role) { location.reload(); return; } // it may do more now, or less
  }
  connect();
}

function later() {
  become(tries > 0 || !navigator.onLine ? "lost" : "trying");
  const wait = WAITS[Math.min(tries++, WAITS.length - 1)];
  timer = setTimeout(open, wait * (0.75 + Math.random() / 2));
}

function connect() {
  const made = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/stream`, protocols());
  socket = made;
  const late = setTimeout(() => made.close(), PATIENCE);
  made.onopen = () => {
    clearTimeout(late);
    tries = 0;
    become("live");
    for (const [topic, entry] of topics) ask(topic, entry);
  };
  made.onmessage = ({ data }) => take(JSON.parse(data));
  made.onclose = () => {
    clearTimeout(late);
    if (socket !== made) return;
    socket = null;
    later();
  };
}

/** The key is still here. */
async function prove({ challenge }) {
  send({ proof: { signature: await signature(challenge, await own()) } });
}

function take(frame) {
  for (const [kind, body] of Object.entries(frame)) {
    if (kind === "prove") { prove(body).catch(() => socket?.close()); continue; }
    const entry = topics.get(body.topic);
    if (kind === "lagged") { if (entry) ask(body.topic, entry); continue; }
    if (!entry) continue;
    entry.on(kind, body);
    if (body.seq != null && topics.get(body.topic) === entry) Object.assign(entry, { seq: body.seq, epoch: body.epoch ?? entry.epoch });
  }
}

/** At once, not when the wait is over. */
function hurry() {
  if (!topics.size || socket?.readyState === 1) return;
  tries = Math.min(tries, 1);
  open();
}
when("reconnect", hurry);
/** A socket from before the break may look open and be dead. */
addEventListener("online", () => {
  const old = socket;
  socket = null;
  old?.close();
  hurry();
});
addEventListener("offline", () => { if (socket) become("lost"); });
addEventListener("pageshow", hurry);
document.addEventListener("visibilitychange", () => { if (!document.hidden) hurry(); });

onConnection((now) => {
  const line = $("#connection");
  if (!line) return;
  line.hidden = now !== "lost";
  document.body.toggleAttribute("data-lost", now === "lost");
  line.textContent = now === "lost" ? "No connection to Rookery. What you type is kept; trying again. " : "";
  if (now === "lost") line.append(element("button", { type: "button", class: "quiet", "data-do": "reconnect" }, "Try now"));
});
