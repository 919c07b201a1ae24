// The operations of Rookery's catalogue: which a session is offered, the forms that ask for their arguments, and what is said afterwards.
import { api, element, html, piece, toast, uid } from "./main.js";
import { danger, sure } from "./dialogs.js";

let listed = null;

/** All of them, as the daemon lists them; asked for once. */
export function operations() {
  listed ??= api("GET", "/api/v1/operations").then((said) => said.operations);
  listed.catch(() => { listed = null; });
  return listed;
}

/** `about`: id, title, and the facts that conditions ask for. */
export const holds = (when, about) => Object.entries(when).every(([fact, wanted]) => Boolean(about[fact]) === wanted);

/** As rows of a menu: what can be done with a session as it is. */
export async function rows(about) {
  const found = (await operations()).filter((row) => row.listed && row.kind !== "read" && row.on !== "rookery" && holds(row.when, about));
  return found.flatMap((row) => [
    ...row.presets.map(({ title, more, given }) => ({ label: title, more, run: () => choose(row.name, about, given) })),
    { label: row.arguments.required.length ? `${row.title}…` : row.title, more: row.more, run: () => choose(row.name, about) },
  ]);
}

/** Its sentence as part of a list. */
export const words = ({ sentence }) => `${sentence[0].toLowerCase()}${sentence.slice(1).replace(/\.$/, "")}`;

/** Carry out what was chosen in a menu: where it costs something, ask first. */
export async function choose(name, about, given = {}) {
  const row = (await operations()).find((each) => each.name === name);
  const costs = row.warns && holds(row.warns_when, about);
  if (!costs || await sure(`${row.title}?`, [row.warns], danger(row.title))) await operate(name, about, given);
}

/** Those with a question of their own. */
const ASKS = {
  fork: async (about, given) => (await import("./branch.js")).fork(about.id, given),
  merge: async (about, given) => (await import("./branch.js")).merge(about.id, "this session", given),
  remove: async (about) => (await import("./session_menu.js")).actions(about).delete(),
  move: async (about, given) => (await import("./branch.js")).move(about.id, about.running, given),
};

/** Carry one out. `given`: arguments as users write them; what is missing is asked in a form. */
export async function operate(name, about, given = {}) {
  const row = (await operations()).find((each) => each.name === name);
  const missing = row.arguments.required.some((each) => given[each] == null);
  const answers = missing ? await asked(row, about, given) : given;
  if (!answers) return;
  const place = `/api/v1/sessions/${encodeURIComponent(about.id)}`;
  const sent = read(row, answers);
  if (ASKS[name]) return void await ASKS[name](about, sent);
  const result = await work(`${place}/${row.name}`, sent, (lines) => sure(`${row.title}?`, lines, danger(row.title)));
  if (!result) return;
  document.dispatchEvent(new CustomEvent("operated", { detail: { name, id: about.id } }));
  if (row.kind === "work") toast(result.summary);
  if (!row.done) return;
  const shown = { "": about.title ? `“${about.title}”` : about.id };
  for (const [key, value] of Object.entries(sent)) shown[key] = field(row, key).how === "moment" ? clock(value) : value;
  const undo = { label: "Undo", run: () => api("POST", `${place}/${row.undo}`, {}) };
  toast(row.done.replace(/\{(\w*)\}/g, (_, key) => shown[key]), row.undo ? { action: undo } : {});
}

/** Carry out an operation. What it would do for good is asked first, and again if it has changed; null: it was not agreed to. `ask`: gets the lines that are shown. */
export async function work(path, given, ask) {
  try {
    return await api("POST", path, given, { headers: { "Idempotency-Key": uid() } });
  } catch (error) {
    if (!error.shown) throw error;
    return await ask(error.message.split("\n")) ? work(path, { ...given, fingerprint: error.fingerprint }, ask) : null;
  }
}

const field = (row, name) => row.arguments.properties[name] ?? {};

async function asked(row, about, given) {
  const values = new URLSearchParams({ ...(field(row, "title").type && { title: about.title ?? "" }), ...given });
  const form = element("div", { class: "form-fields" }, html(await piece(`/pieces/operations/${encodeURIComponent(row.name)}?${values}`)));
  const answers = await sure(`${row.title}: ${about.title || about.id}`, [row.sentence], row.title, form);
  return answers && Object.fromEntries([...answers.keys()].map((key) => [key, answers.getAll(key).join(",")]));
}

/** What users wrote, as it is sent. */
function read(row, answers) {
  const sent = {};
  for (const [key, about] of Object.entries(row.arguments.properties)) {
    const value = answers[key];
    if (about.type === "boolean") { if (value != null) sent[key] = !/^(no|off|false)$/i.test(value); }
    else if (value == null || value === "") continue;
    else if (about.how === "moment") sent[key] = moment(String(value), about.title);
    else if (about.type === "integer" || about.type === "number") sent[key] = number(value, about.title);
    else sent[key] = about.type === "array" ? String(value).split(",").map((each) => each.trim()).filter(Boolean) : value;
  }
  return sent;
}

function number(text, title) {
  if (Number.isNaN(Number(text))) throw new Error(`${title}: give a number.`);
  return Number(text);
}

const SECONDS = { s: 1, m: 60, h: 3600, d: 86400, w: 604800 };

/** 2h, 09:00, tomorrow 09:00 or 2030-01-31, by the browser's clock; milliseconds. */
function moment(text, title) {
  const span = /^(\d+(?:\.\d+)?)\s*([smhdw])$/i.exec(text.trim());
  if (span) return Date.now() + Math.round(Number(span[1]) * SECONDS[span[2].toLowerCase()] * 1000);
  const at = /^(tomorrow\s+)?(\d{1,2}):(\d\d)$/.exec(text.trim());
  const day = at ? new Date() : new Date(text.trim().replace(/^(\d{4}-\d\d-\d\d)$/, "$1T00:00").replace(/ (?=\d\d:)/, "T"));
  if (at) {
    day.setHours(Number(at[2]), Number(at[3]), 0, 0);
    if (at[1] || day <= Date.now()) day.setDate(day.getDate() + 1);
  }
  if (!(day > Date.now())) throw new Error(`${title}: give a time to come, like 2h, 09:00 or 2030-01-31.`);
  return day.getTime();
}

const clock = (value) => new Date(value).toLocaleString([], { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
