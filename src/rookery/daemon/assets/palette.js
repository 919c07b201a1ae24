// Ctrl+K: sessions, what can be done here, places, settings and the session's files, found by a few letters.
import { $, $$, api, element, readOnly, role, screenOf, styled, told } from "./main.js";
import { fits, listbox, score } from "./complete.js";
import { open as show } from "./dialogs.js";
import { actable, label as keyLabel } from "./help.js";

const MOST = 50; // rows
const WAIT = 120; // milliseconds without a letter until the daemon is asked
const ANSWERS_WITHIN = 300; // milliseconds for the daemon's answers, so that no row moves away under a thumb
let dialog = null;

// --- what there is -------------------------------------------------------------------------------

/** A row: label, more (beside it), kind, run or href. */
const places = () => $$("#column .brand, #column .top-line .button, #column .links a").map((link) => ({
  label: link.matches(".brand") ? "Sessions" : link.matches(".button") ? "New session" : link.textContent.trim(), more: "", kind: "Place", href: link.getAttribute("href"),
}));

const keys = () => actable().map((each) => ({ label: each.words, more: keyLabel(each.combination), kind: "Action", run: () => each.run() }));

/** Slash commands are the actions of a session: ours by what they do, the agent's by their names. */
async function commands() {
  if (!document.body.dataset.session || readOnly || role !== "all" || !$("form.composer")) return [];
  const [{ carryOut, isOurs, possible }, { readHeader }] = await Promise.all([import("./commands.js"), import("./bar.js")]);
  const own = await possible();
  const header = await readHeader().catch(() => ({}));
  const known = (header.commands ?? []).filter((each) => each.name), ours = await Promise.all(known.map((each) => isOurs(each.name)));
  const theirs = known.filter((_, n) => !ours[n]);
  return [
    ...own.map((each) => ({ label: each.words, more: `/${each.name}`, kind: "This session", run: () => carryOut(each.name, "") })),
    ...theirs.map((each) => ({ label: `/${each.name}`, more: each.description ?? "", kind: "Command", run: () => write(`/${each.name} `) })),
  ];
}

/** Of this session. */
async function files(words, signal) {
  const { session } = document.body.dataset;
  if (!session || !words) return [];
  const here = screenOf(session);
  const found = await api("GET", `/api/v1${here}/files?${new URLSearchParams({ query: words, limit: 8 })}`, undefined, { signal });
  return found.files.map((path) => ({ label: path, more: "", kind: "File", href: `${here}/file?${new URLSearchParams({ path })}` }));
}

const write = (text) => document.dispatchEvent(new CustomEvent("put-prompt", { detail: { text } }));

/** Smaller is better, null: no match. The label counts most; each word may stand anywhere. */
function rank(words, row) {
  const whole = score(words, row.label);
  if (whole != null) return whole;
  return fits(words, row) ? 302 + `${row.label}${row.more}${row.kind}`.length : null;
}

function ranked(words, rows) {
  const seen = new Set();
  const found = rows.filter(({ label, href }) => { // a key may lead to a place, too
    const name = href?.startsWith("/sessions/") ? href : label.toLowerCase();
    return !seen.has(name) && seen.add(name);
  });
  if (!words) return found.slice(0, MOST);
  return found.map((row) => [rank(words, row), row]).filter(([value]) => value !== null)
    .sort((one, other) => one[0] - other[0]).slice(0, MOST).map(([, row]) => row);
}

// --- the window ----------------------------------------------------------------------------------

export async function open() {
  if (dialog) return dialog.close();
  const before = document.activeElement;
  const field = element("input", { type: "text", role: "combobox", "aria-expanded": "true", "aria-controls": "palette-rows", "aria-autocomplete": "list", autocomplete: "off",
    autocapitalize: "off", spellcheck: "false", enterkeyhint: "go", maxlength: 200, placeholder: "Search sessions, actions and settings", "aria-label": "Search sessions, actions and settings" });
  const list = element("ul", { id: "palette-rows", role: "listbox", "aria-label": "Matches", "aria-busy": "true" });
  const none = element("p", { class: "soft", role: "status", hidden: true }, "No matches.");
  dialog = element("dialog", { class: "palette", "aria-label": "Search" }, field, list, none);
  const matches = listbox(field, list, choose);
  let [own, theirs, timer, asking, moved] = [[...keys(), ...places()], [], 0, null, false];

  function draw() {
    if (!dialog) return;
    const words = field.value.trim(), kept = moved ? matches.row : null;
    const rows = ranked(words, words ? [...theirs, ...own] : [...theirs.slice(0, 8), ...own]);
    none.hidden = rows.length > 0;
    matches.draw(rows, kept ? Math.max(0, rows.findIndex((row) => row.label === kept.label && row.more === kept.more && row.kind === kept.kind)) : 0);
  }

  /** Sessions, settings and files: the daemon has them all. */
  async function look() {
    asking?.abort();
    const mine = (asking = new AbortController());
    const words = field.value.trim(), { signal } = mine;
    const named = files(words, signal).catch(() => []); // its directory may be gone
    const found = await api("GET", `/pieces/palette?${new URLSearchParams({ words })}`, undefined, { signal });
    const more = await named;
    if (mine === asking) theirs = [...found, ...more];
  }

  function choose(row, { ctrlKey, metaKey }) {
    if (!row) return;
    dialog.close();
    if (row.href && (ctrlKey || metaKey)) window.open(row.href, "_blank", "noopener");
    else if (row.href) location.assign(row.href);
    else Promise.resolve(row.run()).catch(told);
  }

  field.addEventListener("input", () => {
    moved = false;
    draw();
    clearTimeout(timer);
    timer = setTimeout(() => look().then(draw, told), WAIT);
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (matches.moved(event)) moved = true;
    else if (event.key === "Enter") choose(matches.row, event);
    else if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) dialog.close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  dialog.addEventListener("close", () => {
    dialog = null;
    asking?.abort();
    clearTimeout(timer);
  });
  await styled("palette.css");
  show(dialog, before);
  field.focus();
  const late = setTimeout(draw, ANSWERS_WITHIN);
  await Promise.all([look().catch(told), commands().then((more) => { own = [...more, ...own]; }, told)]);
  clearTimeout(late);
  list.setAttribute("aria-busy", "false");
  draw();
}
