// What every screen uses: what buttons do, requests, messages.
import { ask } from "./device.js";

export const $ = (selector, root = document) => root.querySelector(selector);
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
export const readOnly = document.body.dataset.readOnly === "1";

/** What this device may do: "look", "answer", or all. */
export const role = document.body.dataset.role ?? "all";
const BEYOND = {
  look: ".answers, .wider, [data-do=action], [data-do=prompt], [data-do=more], [data-do=move], [data-do=force-end], [data-do=cancel]",
  answer: ".answers .wider, .answers [data-always], [data-do=action], [data-do=prompt], [data-do=more], [data-do=move], [data-do=force-end], [data-do=cancel]",
};

/** The stream is the same for all devices: what this one may not do is taken out. */
function limit(root) {
  if (!BEYOND[role]) return;
  for (const node of $$(BEYOND[role], root)) node.remove();
  for (const node of $$("[data-do=pick], [data-do=rename]", root)) Object.assign(node, { disabled: true, title: document.body.dataset.may });
}

/** A fragment of HTML that the daemon rendered; never of anything else. */
export function html(text) {
  const template = document.createElement("template");
  template.innerHTML = text;
  limit(template.content);
  if (text.includes("picture")) fill(template.content);
  return template.content;
}

/** Announces pictures: a plain address would not say who asks, so a script has to fetch them. */
export function fill(root) {
  if ($("img[data-src], [data-do=picture-save]", root)) dispatchEvent(new Event("pictures"));
}

const sheets = new Map();
/** Load a stylesheet once; resolves when it is in force, or cannot be had. */
export function styled(name) {
  if (!sheets.has(name)) sheets.set(name, new Promise((settle) => {
    const link = element("link", { rel: "stylesheet", href: new URL(`./${name}`, import.meta.url).pathname });
    link.onload = link.onerror = settle;
    document.head.append(link);
  }));
  return sheets.get(name);
}

export function element(name, attributes = {}, ...inner) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  made.append(...inner);
  return made;
}

/** 128 random bits; crypto.randomUUID is missing on plain http. */
export function uid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Problem extends Error {
  constructor(status, { error = "failed", message = "", remedy = "", ...question } = {}) {
    super(message || `The daemon answered ${status}.`);
    Object.assign(this, { status, error, remedy, ...question });
  }
}

export const UNREACHABLE = { error: "unreachable", message: "Rookery cannot be reached.", remedy: "Is it still running?" };

/** The daemon's answer, or what `more.read` makes of a stream; throws a Problem, whose status is 0 where it cannot be reached. */
export async function api(method, path, body, more = {}) {
  const sent = body === undefined ? {} : {
    body: JSON.stringify(body), headers: { "Content-Type": "application/json" },
  };
  let answer;
  try {
    answer = await ask(path, { method, ...sent, ...more, headers: { ...sent.headers, ...more.headers } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, UNREACHABLE);
  }
  const type = answer.headers.get("Content-Type") ?? "", json = type.includes("json");
  if (type.includes("event-stream")) return more.read(answer);
  const text = await answer.text();
  if (answer.ok) return json ? JSON.parse(text) : text;
  if (answer.status === 401) location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search + location.hash)}`);
  const of = /^\/api\/(?:v1\/)?sessions\/([^/?]+)/.exec(path)?.[1]; // the session that it is about
  throw new Problem(answer.status, { ...(json ? JSON.parse(text) : {}), of });
}

/** The screen of a session, and its place in the API. */
export const screenOf = (id) => `/sessions/${encodeURIComponent(id)}`;
export const apiOf = (id) => `/api/v1${screenOf(id)}`;
/** Send a session a command: it is done once, however often it arrives. */
export const command = (session, body) => api("POST", `${apiOf(session)}/commands`, { id: uid(), ...body });

/** A piece of HTML from the daemon. */
export const piece = (path, more) => api("GET", path, undefined, { headers: { Accept: "text/html" }, ...more });

// --- what buttons and forms do -------------------------------------------------------------------

const deeds = new Map();

/** `<button data-do="name">` or `<form data-do="name">`: run is called with it and the event. */
export const when = (name, run) => deeds.set(name, run);

async function act(node, event) {
  const run = deeds.get(node.dataset.do);
  if (!run || node.getAttribute("aria-busy") === "true") return;
  if (node.target !== "_blank") event.preventDefault(); // what opens a tab does that as well
  try {
    const work = run(node, event);
    if (!(work instanceof Promise)) return;
    node.setAttribute("aria-busy", "true");
    await work;
  } catch (error) {
    told(error, () => act(node, event));
  } finally {
    node.removeAttribute("aria-busy");
  }
}

/** Shows an error as a message, with what helps. `again`: does the same once more. */
export function told(error, again = null) {
  if (error.name === "AbortError") return;
  if (error instanceof TypeError && error.message.includes("module")) error = new Problem(0, UNREACHABLE); // a script that did not come
  if (!(error instanceof Problem)) console.error(error);
  const { message, remedy = "", actions = [], status } = error;
  const passes = again && ([0, 503].includes(status) || error.error === "dirty_target") ? [{ label: "Try again", run: again }] : [];
  const here = error.of && error.of === document.body.dataset.session;
  const helps = actions.filter((each) => here || !/^(undefined|log|kill)$/.test(each.window)).map((help) => ({ label: help.label, help }));
  toast(message, { remedy: remedy.includes("/api/") ? "" : remedy, kind: "failed", actions: [...passes, ...helps] });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[download]");
  if (link) {
    event.preventDefault();
    import("./save.js").then(({ download }) => download(link.getAttribute("href"))).catch(told);
    return;
  }
  const node = event.target.closest?.("[data-do]");
  if (!node || node.localName === "form" || node.disabled) return;
  if (node.localName === "a" && (event.ctrlKey || event.metaKey || event.shiftKey)) return; // a tab of its own
  act(node, event);
});
document.addEventListener("submit", (event) => {
  if (event.target.dataset.do) act(event.target, event);
});

// --- messages ------------------------------------------------------------------------------------

/** To those who hear the page. `now` interrupts. */
export function say(text, { now = false } = {}) {
  const region = $(now ? "#assertive" : "#polite");
  region?.append(element("p", {}, text)); // several at once are all heard
  if (region?.childElementCount > 4) region.firstElementChild.remove();
}

export function toast(message, { remedy = "", kind = "note", action = null, actions = action ? [action] : [] } = {}) {
  const box = $("#toasts");
  const close = () => card.remove();
  const card = element("div", { class: kind === "failed" ? "toast failed" : "toast", role: kind === "failed" ? "alert" : "status" },
    element("div", { class: "words" }, element("strong", {}, message), ...(remedy ? [element("p", {}, remedy)] : [])));
  for (const { label, run, help } of actions) { // `help`: an action of the daemon's, which frame.js carries out
    const button = element("button", { type: "button", ...(help && { "data-do": "action", "data-action": JSON.stringify(help) }) }, label);
    button.addEventListener("click", () => { close(); Promise.resolve(run?.()).catch(told); });
    card.append(button);
  }
  const shut = element("button", { type: "button", class: "quiet", "aria-label": "Close" }, "×");
  shut.addEventListener("click", close);
  card.append(shut);
  box.append(card);
  while (box.childElementCount > 3) box.firstElementChild.remove();
  if (kind === "note") setTimeout(close, actions.length ? 12000 : 5000);
  return card;
}

/** Into the clipboard; by the old way on plain http. */
export async function copy(text) {
  if (navigator.clipboard?.writeText) return navigator.clipboard.writeText(text);
  const field = element("textarea", { class: "unseen", readonly: true });
  field.value = text;
  document.body.append(field);
  const before = document.activeElement;
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  before?.focus?.();
  if (!done) throw new Problem(0, { message: "The browser did not allow copying." });
}

/** A value kept on this device; nothing where there is no storage. */
export const kept = {
  get(key) { try { return localStorage.getItem(key); } catch { return null; } },
  set(key, value) {
    try { value == null || value === "" ? localStorage.removeItem(key) : localStorage.setItem(key, value); } catch { /* full, or forbidden */ }
  },
};

limit(document.body);
