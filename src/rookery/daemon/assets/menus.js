// The menus of a session's bar, the questions before something is done, and what is done to the
// session as a whole.
import { $, $$, api, copy, element, toast, told } from "./main.js";
import { cancel, command, facts, path, readHeader, session } from "./bar.js";

const USUAL = { mode: "mode", model: "model", thought_level: "effort" };
export const acts = {};

const looks = element("link", { rel: "stylesheet", href: new URL("./menus.css", import.meta.url).pathname });
const ready = new Promise((settle) => { looks.onload = looks.onerror = settle; });
document.head.append(looks);
await ready; // before it a menu has no place

// --- menus ---------------------------------------------------------------------------------------

/** A list to choose from, under its button; a sheet on a phone. A row: label, more, current, run. */
export function menu(anchor, title, rows) {
  const list = element("div", { class: "rows" });
  const dialog = element("dialog", { class: "menu", "aria-label": title }, element("h2", {}, title), list);
  const draw = (words = "") => {
    const wanted = words.toLowerCase().split(/\s+/);
    const fits = (row) => wanted.every((word) => `${row.label} ${row.more ?? ""}`.toLowerCase().includes(word));
    list.replaceChildren(...rows.filter((row) => row.heading ? !words : fits(row)).map((row) => row.heading
      ? element("h3", {}, row.heading)
      : drawn(row, dialog)));
    if (!list.childElementCount) list.append(element("p", { class: "soft" }, "No matches."));
  };
  if (rows.filter((row) => !row.href).length > 14) {
    const filter = element("input", { type: "search", placeholder: "Filter", "aria-label": "Filter" });
    filter.addEventListener("input", () => draw(filter.value));
    list.before(filter);
  }
  draw();
  dialog.addEventListener("keydown", (event) => walk(event, dialog));
  open(dialog, anchor);
  ($("[aria-current]", dialog) ?? $("input, button", dialog))?.focus();
  return dialog;
}

function drawn(row, dialog) {
  const words = [element("span", { dir: "auto" }, row.label), ...(row.more ? [element("small", { dir: "auto" }, row.more)] : [])];
  if (row.href) return element("a", { class: "row", href: row.href, download: true }, ...words);
  const button = element("button", { type: "button", class: `row ${row.kind ?? ""}`, "data-do": row.does, "aria-current": row.current ? "true" : null }, ...words);
  button.addEventListener("click", () => {
    dialog.close();
    if (row.run) Promise.resolve(row.run()).catch(told);
  });
  return button;
}

function walk(event, dialog) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const rows = $$("input, .row", dialog);
  rows[(rows.indexOf(document.activeElement) + step + rows.length) % rows.length]?.focus();
}

function open(dialog, anchor) {
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => { dialog.remove(); if (anchor?.isConnected) anchor.focus(); });
  document.body.append(dialog);
  dialog.showModal();
  if (!anchor || innerWidth < 700 || !dialog.classList.contains("menu")) return;
  const place = (anchor.offsetWidth ? anchor : $("#bar [data-do=more]") ?? anchor).getBoundingClientRect();
  const top = Math.min(place.bottom + 4, Math.max(8, innerHeight - dialog.offsetHeight - 8));
  Object.assign(dialog.style, {
    margin: "0", top: `${top}px`, left: `${Math.max(8, Math.min(place.left, innerWidth - dialog.offsetWidth - 8))}px`,
  });
}

/** Asks before something is done; resolves to the form's fields, or null. */
export function sure(title, lines, label, ...fields) {
  return new Promise((settle) => {
    const yes = element("button", { class: "primary", value: "yes" }, label);
    const no = element("button", { type: "button" }, "Cancel");
    const form = element("form", { method: "dialog" }, element("h2", {}, title),
      ...lines.map((line) => element("p", {}, line)), ...fields, element("div", { class: "buttons" }, no, yes));
    const dialog = element("dialog", { class: "sure", "aria-label": title }, form);
    no.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => settle(dialog.returnValue === "yes" ? new FormData(form) : null));
    open(dialog, document.activeElement);
    yes.focus();
  });
}

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
  const { kind, update } = await command({ do: "set", option, value });
  if (kind === "_session" && update.confirmed !== true && option !== "confirm") {
    toast(`${option} will be ${value} when the agent starts.`);
  }
}

const named = (agents, name) => agents.find((each) => each.name === name)?.title ?? name;

async function pickAgent(button) {
  const { agents } = await api("GET", "/api/agents");
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
      label: each.title, more: each.install, kind: "off",
      run: () => copy(each.install).then(() => toast(`Copied: ${each.install}`)),
    })),
  ]);
}

/** Another agent takes over; the recap goes into the prompt field, where it can be changed. */
export async function switchTo(name, agents = []) {
  const before = facts().title || facts().agent;
  const after = named(agents, name);
  const lines = [`The conversation stays here, but ${after} has no memory of it.`];
  lines.push(facts().running ? `The running turn is cancelled, and ${before} is stopped.` : `${before} is stopped; its modes and limits are lost.`);
  if (facts().queue) lines.push("Waiting prompts are kept.");
  const recap = Number(facts().turn) > 0;
  const box = element("input", { type: "checkbox", name: "recap", checked: true });
  const words = `Give ${after} a recap: it goes into the prompt field, and you send it`;
  const given = await sure(`Switch from ${before} to ${after}?`, lines, "Switch", ...(recap ? [element("label", { class: "check" }, box, words)] : []));
  if (!given) return;
  await command({ do: "switch", agent: name });
  if (given.get("recap")) await putRecap();
}

export async function putRecap() {
  const text = await api("GET", `${path}/recap`);
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
    command({ do: "rename", title }).catch((error) => { $("span", button).textContent = before; told(error); });
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
  cancel,
  restart: () => command({ do: "restart" }).then(() => toast("The agent was restarted.")),
  stop: () => command({ do: "stop" }).then(() => toast("The session is asleep; your next prompt wakes it.")),
  pin: () => command({ do: facts().pinned ? "unpin" : "pin" }),
  archive: async () => {
    const back = facts().archived ? "archive" : "unarchive";
    await command({ do: facts().archived ? "unarchive" : "archive" });
    toast(back === "archive" ? "Unarchived." : "Archived: hidden from lists.", { action: { label: "Undo", run: () => command({ do: back }) } });
  },
  clear: async () => {
    const lines = ["The agent forgets this conversation. Earlier turns stay readable here, folded."];
    if (await sure("Start over?", lines, "Start over")) await command({ do: "clear" });
  },
  force_end: async () => {
    const lines = ["The agent's process is ended. What it wrote is kept."];
    if (await sure("End the turn by force?", lines, "Force end")) await command({ do: "force_end" });
  },
  rename: () => $("#bar [data-do=rename]")?.click(),
  remove: async () => {
    const { remove, leave } = await import("./row_menu.js");
    const title = $("#bar [data-do=rename]")?.textContent.trim() || "The session";
    await remove(session, title, () => leave(session, title));
  },
  merge: async () => (await import("./branch.js")).merge(session),
  drop: async () => (await import("./branch.js")).drop(session),
  move: async () => (await import("./branch.js")).move(session, facts().running),
};

acts["force-end"] = deeds.force_end;
acts.move = deeds.move;
acts.more = (button) => {
  const now = facts();
  const row = (label, more, run, kind = "") => ({ label, more, run, kind });
  menu(button, "This session", [
    ...(now.running ? [row("Stop the turn", "Ctrl+.", deeds.cancel), row("Force end", "if Stop does not help", deeds.force_end, "bad")] : []),
    ...(now.worktree ? [row("Merge the worktree", now.worktree, deeds.merge), row("Drop the worktree", "", deeds.drop, "bad")] : [row("Move to a worktree", "away from others in this directory", deeds.move)]),
    row("Rename", "", deeds.rename),
    row(now.pinned ? "Unpin" : "Pin", "", deeds.pin),
    row("Restart the agent", "", deeds.restart),
    row("Start over", "the agent forgets the conversation", deeds.clear),
    row("Put to sleep", "the next prompt wakes it", deeds.stop),
    row(now.archived ? "Unarchive" : "Archive", "", deeds.archive),
    row("Delete", "to the trash, for 14 days", deeds.remove, "bad"),
    { label: "Timeline", does: "timeline" },
    ...$$("#bar .other[data-do=pick]").map((chip) => row(chip.dataset.label, chip.lastChild.textContent.replace(chip.dataset.label, ""), () => chip.click())),
    { heading: "Download the transcript" },
    ...[["html", "Web page"], ["md", "Markdown"], ["jsonl", "JSON lines"]].map(([form, label]) => ({ label, more: `.${form}`, href: `${path}/export?format=${form}` })),
  ]);
};

