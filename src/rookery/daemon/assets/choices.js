// What users choose by name: the menu of a session, and operations with the questions that belong to them.
import { $, api, toast } from "./main.js";
import { danger, menu, show, sure } from "./dialogs.js";
import { given as filled } from "./fields.js";
import { address, drawn, field, holds, named, operations, perform, read } from "./operations.js";
import { remove } from "./trash.js";

/** As rows of a menu: those that apply. `about`: id, title, status or running and awake, archived, snoozed, pinned, worktree. */
export async function rows(about) {
  return [...(await offered(about)), { label: "Delete", more: "to the trash, for 14 days", run: () => remove(about.id, about.title), look: "bad" }];
}

/** Of a row of the list. */
export async function open(button) {
  const { id, status, hidden = "", worktree = "", ...flags } = button.closest("li[data-id]").dataset;
  const title = $(".title", button.closest("li")).textContent.trim();
  const about = { id, title, worktree, archived: hidden === "archived", snoozed: hidden === "snoozed", pinned: "pinned" in flags, awake: status !== "asleep", running: ["running", "needs-you"].includes(status) };
  menu(button, title, await rows(about));
}

/** As rows of a menu: what can be done with a session as it is. */
async function offered(about) {
  const found = (await operations()).filter((row) => row.listed && row.on !== "rookery" && holds(row.when, about));
  return found.flatMap((row) => [
    ...row.presets.map(({ title, more, given }) => ({ label: title, more, run: () => choose(row.name, about, given) })),
    { label: row.arguments.required.length ? `${row.title}…` : row.title, more: row.more, run: () => choose(row.name, about) },
  ]);
}

/** Carry out what was chosen in a menu: where it costs something, ask first. */
export async function choose(name, about, given = {}) {
  const row = await named(name);
  const costs = row.warns && holds(row.warns_when, about);
  if (!costs || await sure(`${row.title}?`, [row.warns], danger(row.title))) await operate(name, about, given);
}

/** Those that the page has a place or a question of its own for. */
const OWN = {
  asks: () => location.assign("/inbox"),
  fork: async (about, given) => (await import("./branch.js")).fork(about.id, given),
  logs: async (about, { of }) => (await import("./logs.js")).show(about.id, of),
  move: async (about, given) => (await import("./branch.js")).move(about.id, about.running, given),
  remove: (about) => remove(about.id, about.title),
  search: (_about, given) => location.assign(`/search?${new URLSearchParams(given)}`),
  usage: () => location.assign("/usage"),
};

const HARMLESS = { merge: "Merge" }; // the labels of those that take nothing away

const heading = (row, about) => (row.on === "rookery" ? row.title : `${row.title}: ${about.title ? `“${about.title}”` : about.id}`);

/** Carry one out. `given`: arguments as users write them; what is missing is asked in a form. */
export async function operate(name, about, given = {}) {
  const row = await named(name);
  if (OWN[name]) return void await OWN[name](about, read(row, given));
  const missing = row.arguments.required.some((each) => given[each] == null);
  const answers = missing ? await asked(row, about, given) : given;
  if (!answers) return;
  const sent = read(row, answers);
  if (row.kind === "read") return show(heading(row, about), await api("GET", `${address(row, about.id)}?${new URLSearchParams(sent)}`, undefined, { headers: { Accept: "text/plain" } }));
  const question = { title: `${heading(row, about)}?`, label: HARMLESS[name], ...(missing && { fields: [] }) };
  const result = await perform(name, about.id, sent, question);
  if (!result) return;
  document.dispatchEvent(new CustomEvent("operated", { detail: { name, id: about.id } }));
  if (row.kind === "work") toast(result.summary);
  if (!row.done) return;
  const shown = { "": about.title ? `“${about.title}”` : about.id };
  for (const [key, value] of Object.entries(sent)) shown[key] = field(row, key).how === "moment" ? clock(value) : value;
  const undo = { label: "Undo", run: () => perform(row.undo, about.id) };
  toast(row.done.replace(/\{(\w*)\}/g, (_, key) => shown[key]), row.undo ? { action: undo } : {});
}

async function asked(row, about, given) {
  const values = { ...(field(row, "title").type && { title: about.title ?? "" }), ...given };
  const form = await drawn(row, values, Object.keys(row.arguments.properties));
  const answers = await sure(heading(row, about), [row.sentence], row.title, form);
  return answers && filled(form);
}

const clock = (value) => new Date(value).toLocaleString([], { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
