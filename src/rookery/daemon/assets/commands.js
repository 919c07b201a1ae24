// Rookery's own slash commands, and the agent's as they are offered.
import { $, toast, told } from "./main.js";
import { path, readHeader, session } from "./bar.js";
import { operate } from "./choices.js";
import { ranked } from "./complete.js";
import { help } from "./help.js";
import { deeds, putRecap, set, shown, switchTo } from "./menus.js";
import { holds, operations, words } from "./operations.js";

const OURS = [
  ["agent", "switch to another agent", "name"],
  ["attach", "attach a file or an image"],
  ["changes", "show what changed in the directory"],
  ["confirm", "approvals", "ask always, ask when risky, approve all or plan"],
  ["delete", "move the session to the trash"],
  ["effort", "set how hard the model thinks", "value"],
  ["export", "download the transcript", "md, html or jsonl"],
  ["help", "list every key"],
  ["mode", "set the agent's mode", "value"],
  ["model", "choose the model", "name"],
  ["new", "start a new session"],
  ["recap", "put a recap of the session into this field"],
  ["settings", "open the settings"],
].map(([name, words, hint = ""]) => ({ name, words, hint, when: {} }));
const LOOKS = { rewind: "turn or undo" }; // operations with dialogs of their own: what follows them

const isTyped = (row) => row.typed && (row.listed || row.on !== "rookery") && !OURS.some((each) => each.name === row.name);

/** Those above and the operations of the catalogue. */
export async function ours() {
  const more = (await operations()).filter(isTyped).map((row) => ({ name: row.name, words: words(row), hint: LOOKS[row.name] ?? row.arguments.required.join(" "), when: row.when }));
  return [...OURS, ...more].sort((one, other) => one.name.localeCompare(other.name));
}
/** Those of them that do something to the session as it is. */
export async function possible() {
  const about = shown();
  return (await ours()).filter((each) => holds(each.when, about));
}
export const isOurs = async (name) => (await ours()).some((each) => each.name === name);

/** Those that match and do something to the session as it is; without a query all: the agent's, then ours. `clear` empties the field. */
export async function rows(found, query, clear) {
  const all = await ours(), own = (await possible()).map((each) => ({
    label: `/${each.name}${each.hint ? ` ${each.hint}` : ""}`, more: each.words, insert: `/${each.name} `, name: each.name,
    run: each.hint ? undefined : () => { clear(); carry(each.name); },
  }));
  const names = new Set(all.map((each) => each.name));
  const rest = found.map((each) => ({ ...each, name: String(each.name).replace(/^\//, "") }))
    .filter((each) => each.name && !/\s/.test(each.name) && !names.has(each.name))
    .map((each) => ({ label: `/${each.name}${each.input?.hint ? ` ${each.input.hint}` : ""}`, more: each.description ?? "", insert: `/${each.name} `, name: each.name }));
  return query ? ranked(query, [...rest, ...own], (row) => row.name) : [...rest, ...own];
}

const carry = (name, value = "") => Promise.resolve(carryOut(name, value)).catch(told);

const operates = async (name) => (await operations()).find((each) => isTyped(each) && each.name === name && !LOOKS[name]);

/** What follows a slash command, by argument: in their order, the last one takes all that is left. */
function given(row, text) {
  const names = Object.entries(row.arguments.properties).filter(([, about]) => about.typed !== false).map(([name]) => name), parts = text.split(/\s+/).filter(Boolean), found = {};
  names.forEach((name, n) => {
    const part = n < names.length - 1 ? parts[n] : parts.slice(n).join(" ");
    if (part) found[name] = part;
  });
  return found;
}

/** One of Rookery's own commands. */
export async function carryOut(name, value) {
  if (await operates(name)) return operate(name, shown(), given(await operates(name), value));
  const pick = (option) => { const chip = $(`#bar [data-do=pick][data-option="${CSS.escape(option)}"]`); return chip ? chip.click() : toast("The agent has not listed its options yet."); };
  switch (name) {
    case "agent": return value ? switchTo(value) : pick("agent");
    case "confirm": return value ? set("confirm", value) : pick("confirm");
    case "model": case "mode": case "effort": return value ? set(name, value) : pickUsual(name);
    case "attach": return void $("#picker").click();
    case "changes": return void $("#bar [data-do=changes]")?.click();
    case "export": return (await import("./save.js")).download(`${path}/export?format=${encodeURIComponent(value || "md")}`);
    case "help": return void help();
    case "new": return void location.assign("/new");
    case "recap": return putRecap();
    case "rewind": return goBack(value);
    case "settings": return void location.assign("/settings");
    default: return deeds[name]?.();
  }
}

/** To a turn, by its number. */
async function goBack(value) {
  if (!value) return deeds.rewind();
  if (!/^\d+$/.test(value) && value !== "undo") return toast("Give the number of a turn: /rewind 3");
  return (await import("./rewind.js")).rewind(session, value === "undo" ? null : Number(value));
}

async function pickUsual(name) {
  const category = name === "effort" ? "thought_level" : name;
  const found = (await readHeader()).options.find((each) => each.category === category || each.id === name);
  const chip = found && $(`#bar [data-do=pick][data-option="${CSS.escape(found.id)}"]`);
  if (chip) chip.click();
  else toast("The agent has not listed its options yet.");
}

