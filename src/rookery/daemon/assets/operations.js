// The operations of Rookery's catalogue: their arguments, and how one is carried out.
import { $, $$, api, apiOf, element, html, piece, Problem, toast, told, uid, UNREACHABLE } from "./main.js";
import { danger, sure } from "./dialogs.js";
import { given as filled } from "./fields.js";

let listed = null;

/** All of them, as the daemon lists them; asked for once. */
export function operations() {
  listed ??= api("GET", "/api/v1/operations").then((said) => said.operations);
  listed.catch(() => { listed = null; });
  return listed;
}

/** `about`: id, title, and the facts that conditions ask for. */
export const holds = (when, about) => Object.entries(when).every(([fact, wanted]) => Boolean(about[fact]) === wanted);

/** Its sentence as part of a list. */
export const words = ({ sentence }) => `${sentence[0].toLowerCase()}${sentence.slice(1).replace(/\.$/, "")}`;

export const named = async (name) => (await operations()).find((each) => each.name === name);

export const address = (row, id) => (row.on === "rookery" ? `/api/v1/${row.name}` : `${apiOf(id)}/${row.name}`);

/**
 * Carry one out, with arguments as they are sent. How far it has come is shown; what it would do is shown and agreed to first, and again if it
 * has changed. null: it was not agreed to. `question`: title, label, more lines, more elements and fields (names of arguments) of that, `busy`: what is said meanwhile; `before` is called with what is sent once it was agreed to.
 */
export async function perform(name, id, given = {}, question = {}) {
  const row = await named(name), path = address(row, id);
  for (let sent = given; ;) {
    const progress = following(question.busy ?? `${row.title} …`);
    try {
      return await post(path, sent, progress.say);
    } catch (error) {
      progress.end();
      if (error.error === "conflict" && /^(merge|pick)$/.test(name)) return resolve(id, error);
      const stale = error.error === "changed" && !error.shown; // it is asked again what would happen
      if (!stale && !error.shown) throw error;
      sent = stale ? { ...sent, fingerprint: "" } : await agreed(row, path, sent, error, question);
      if (!sent) return null;
      if (!stale) await question.before?.(sent);
    } finally {
      progress.end();
    }
  }
}

/** `say` gets each sentence on how far it has come. */
const post = (path, given, say = () => {}) => api("POST", path, given, {
  headers: { Accept: "text/event-stream, application/json", "Idempotency-Key": uid() },
  read: async (answer) => {
    const parts = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; ;) {
      const { value, done } = await parts.read();
      if (done) throw new Problem(0, UNREACHABLE);
      const events = (text + value).split("\n\n");
      text = events.pop();
      for (const event of events) {
        const [, kind, data = "{}"] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [], said = JSON.parse(data);
        if (kind === "progress") say(said.message);
        if (kind === "result") return said;
        if (kind === "refusal") throw new Problem(said.status, said);
      }
    }
  },
});

const SOON = 400; // milliseconds: what is quicker says nothing

/** One line that says how far a work has come. `words`: until it reports anything. */
function following(words) {
  let card = null, late = false;
  const draw = () => {
    if (!late || !words) return;
    card ??= toast(words, { kind: "progress" });
    $("strong", card).textContent = words;
  };
  const timer = setTimeout(() => { late = true; draw(); }, SOON);
  return { say: (text) => { words = text; draw(); }, end: () => { clearTimeout(timer); card?.remove(); } };
}

const OFTEN = 300; // milliseconds without a letter until it is asked what would happen

/** What a work would do, and the arguments that were not given: what is sent once it was agreed to, or null. */
async function agreed(row, path, given, error, { title = `${row.title}?`, label = danger(row.title), lines = [], more = [], fields = Object.keys(row.arguments.properties).filter((each) => !(each in given)) }) {
  const shown = element("p", { class: "shown", tabindex: 0 }, error.message), form = fields.length ? await drawn(row, given, fields) : "";
  let now = error, timer = 0, sent = given;
  const ask = async () => {
    const answers = read(row, filled(shown.closest("form")));
    sent = { ...given, ...answers };
    now = await post(path, { ...sent, fingerprint: "show" }).catch((problem) => problem);
    shown.textContent = now.message;
    $("[value=yes]", shown.closest("form")).disabled = !now.shown;
  };
  const answers = sure(title, lines, label, shown, form, ...more);
  const dialog = shown.closest("form");
  dialog.addEventListener("input", () => {
    $("[value=yes]", dialog).disabled = true;
    clearTimeout(timer);
    timer = setTimeout(() => ask().catch(told), OFTEN);
  });
  return await answers && { ...sent, fingerprint: now.fingerprint };
}

/** The agent may resolve conflicts in its own worktree. */
async function resolve(id, error) {
  const lines = [error.message, "The agent can resolve it in its worktree; then merge again."];
  if (!await sure("The work conflicts", lines, "Have the agent resolve it")) return null;
  const place = apiOf(id), { resolution } = await api("GET", `${place}/merge-plan`);
  await api("POST", `${place}/prompt`, { text: resolution });
  toast("The agent is resolving the conflict. Merge again when it is done.");
  return null;
}

export const field = (row, name) => row.arguments.properties[name] ?? {};

/** The fields for some of its arguments. */
export async function drawn(row, values, names) {
  const form = element("div", { class: "form-fields" }, html(await piece(`/pieces/operations/${encodeURIComponent(row.name)}?${new URLSearchParams(values)}`)));
  for (const node of $$("[data-field]", form)) if (!names.includes(node.dataset.field)) node.remove();
  return form.childElementCount ? form : "";
}

/** What users wrote in a line or a form, as it is sent. */
export function read(row, answers) {
  const sent = {};
  for (const [key, about] of Object.entries(row.arguments.properties)) {
    const value = answers[key];
    if (about.type === "boolean") { if (value != null) sent[key] = !/^(no|off|false)$/i.test(String(value)); }
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
