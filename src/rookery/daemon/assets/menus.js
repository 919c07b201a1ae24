// The menus of a session's bar.
import { $, $$, api, command, copy, element, toast, told } from "./main.js";
import { facts, isStuck, path, readHeader, session } from "./bar.js";
import { danger, menu, sure } from "./dialogs.js";
import { rows } from "./choices.js";
import { perform } from "./operations.js";
import { remove } from "./trash.js";

const USUAL = { mode: "mode", model: "model", thought_level: "effort" };
export const acts = {};

// --- what it runs with ---------------------------------------------------------------------------

acts.pick = (button) => {
  const { option, label } = button.dataset;
  if (option === "agent") return pickAgent(button);
  if (option === "confirm") {
    return void menu(button, label, JSON.parse(button.dataset.choices).map(([value, name, more]) => ({
      label: name, more, current: value === button.dataset.value, run: () => set("confirm", value),
    })));
  }
  return pickOption(button, option, label);
};

async function pickOption(button, id, label) {
  const option = (await readHeader()).options.find((each) => each.id === id);
  if (!option) return toast("The agent no longer offers this.");
  const name = USUAL[option.category] ?? id;
  const flag = typeof option.value === "boolean" && !option.choices.length;
  const choices = flag ? [{ value: true, name: "on" }, { value: false, name: "off" }] : option.choices;
  menu(button, label, choices.map((each) => ({
    label: each.name, more: each.description, current: each.value === option.value,
    run: () => set(name, typeof option.value === "boolean" ? String(each.value) === "true" : each.value),
  })));
}

/** `name`: mode, model, effort, confirm, or an option's own id. */
export async function set(option, value) {
  const { kind, update } = await command(session, { do: "set", option, value });
  if (kind === "_session" && update.confirmed !== true && option !== "confirm") {
    toast(`${option} will be ${value} when the agent starts.`);
  }
}

const named = (agents, name) => agents.find((each) => each.name === name)?.title ?? name;

async function pickAgent(button) {
  const { agents } = await api("GET", "/api/v1/agents");
  const current = facts().agent;
  const ready = agents.filter((each) => each.installed);
  const rest = agents.filter((each) => !each.installed && each.install);
  menu(button, "Switch agent", [
    ...ready.map((each) => ({
      label: each.title, current: each.name === current,
      more: each.name === current ? "this session's agent" : each.needs ? `needs: ${each.needs}` : "",
      run: () => (each.name === current ? null : switchTo(each.name, agents)),
    })),
    ...(rest.length ? [{ heading: "Not installed: choose one to copy its install command" }] : []),
    ...rest.map((each) => ({
      label: each.title, more: each.install, look: "off",
      run: () => copy(each.install).then(() => toast(`Copied: ${each.install}`)),
    })),
  ]);
}

/** Another agent takes over; the recap goes into the prompt field, where it can be changed. */
export async function switchTo(name, agents = []) {
  const before = facts().title || facts().agent;
  const after = named(agents, name);
  const recap = Number(facts().turn) > 0;
  const box = element("input", { type: "checkbox", name: "recap", checked: true });
  const words = `Give ${after} a recap: it goes into the prompt field, and you send it`;
  const more = recap ? [element("label", { class: "check" }, box, words)] : [];
  const done = await perform("switch", session, { agent: name }, { title: `Switch from ${before} to ${after}?`, label: "Switch", fields: [], more });
  if (done && recap && box.checked) await putRecap();
}

export async function putRecap() {
  const { text } = await api("GET", `${path}/recap`);
  if (!text) return void toast("Nothing to recap yet.");
  document.dispatchEvent(new CustomEvent("put-prompt", { detail: { text, before: true } }));
}

// --- the session as a whole ----------------------------------------------------------------------

acts.rename = (button) => {
  const heading = button.closest("h1");
  const before = button.textContent;
  const field = element("input", { value: before, maxlength: 200, "aria-label": "Title of this session" });
  heading.setAttribute("data-keep", "");
  button.hidden = true;
  heading.append(field);
  field.select();
  let over = false;
  const end = (save) => {
    if (over) return;
    over = true;
    const title = field.value.trim();
    field.remove();
    button.hidden = false;
    heading.removeAttribute("data-keep");
    button.focus();
    if (!save || !title || title === before) return;
    $("span", button).textContent = title;
    perform("rename", session, { title }).catch((error) => { $("span", button).textContent = before; told(error); });
  };
  field.addEventListener("keydown", (event) => {
    if (event.isComposing || !/^(Enter|Escape)$/.test(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    end(event.key === "Enter");
  });
  field.addEventListener("blur", () => end(true));
};

export const deeds = {
  force_end: async () => {
    const lines = ["The agent's process is ended. What it wrote is kept."];
    if (await sure("End the turn by force?", lines, danger("Force end"))) await perform("cancel", session, { force: true });
  },
  rename: () => $("#bar [data-do=rename]")?.click(),
  rewind: async () => (await prompts()).chooseTurn($("#bar [data-do=more]")),
  edit: async () => (await prompts()).editLast(),
  delete: () => remove(session, shown().title),
  move: async () => (await import("./branch.js")).move(session, facts().running),
};

const prompts = () => import("./prompts.js");

/** This session, as the menu of the list has it. */
export const shown = () => ({ ...facts(), id: session, title: $("#bar h1").textContent.trim() });

acts["force-end"] = deeds.force_end;
acts.move = deeds.move;
acts.more = async (button) => {
  const now = facts(), more = await rows(shown());
  const row = (label, more, run, look = "") => ({ label, more, run, look });
  menu(button, "This session", [
    ...(now.running && isStuck() ? [row("Force end", isStuck(), deeds.force_end, "bad")] : []),
    ...(Number(now.turn) ? [
      row("Edit the last prompt", "and send it again", deeds.edit),
      row("Rewind", "to an earlier turn: files, conversation or both", deeds.rewind),
    ] : []),
    { label: "Timeline", does: "timeline" },
    { label: "Files", does: "viewer" },
    ...$$("#bar .other[data-do=pick]").map((chip) => row(chip.dataset.label, chip.lastChild.textContent.replace(chip.dataset.label, ""), () => chip.click())),
    ...more,
    { heading: "Download the transcript" },
    ...[["html", "Web page"], ["md", "Markdown"], ["jsonl", "JSON lines"]].map(([form, label]) => ({ label, more: `.${form}`, href: `${path}/export?format=${form}` })),
  ]);
};
