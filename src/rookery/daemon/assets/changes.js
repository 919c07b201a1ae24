// Changes: undo a hunk or a file, comments that go to the agent as one prompt, commit.
import { $, $$, api, apiOf, element, html, kept, piece, say, screenOf, toast, told, uid, when } from "./main.js";
import { isTyping, key } from "./keys.js";
import { drawList, drawMarks, offersComments, reads } from "./review.js";

const SPLIT_FROM = 900;
let box = null; // what holds the changes
let session = "";
let asked = { scope: "", view: "" }; // scope: what is compared, as a query
let undone = [];

const root = () => $(".changes", box ?? document);
const pathOf = (node) => decodeURIComponent(node.closest(".file").dataset.path);
const here = () => `${screenOf(session)}/changes`;
const post = (what, body) => api("POST", `${apiOf(session)}/changes/${what}`, body);

const viewNow = () => ((asked.view || kept.get("diff-view")) === "split" && innerWidth >= SPLIT_FROM ? "split" : "unified");
function address(more = {}) {
  const compared = Object.fromEntries(new URLSearchParams(asked.scope));
  const fields = { piece: 1, view: viewNow(), ...compared, ...(box?.id === "side" && { side: 1 }), ...more };
  return `${here()}?${new URLSearchParams(fields)}`;
}
reads({
  root, session: () => session,
  linesOf: (query) => `${here()}/lines?${new URLSearchParams({ view: root().dataset.view, ...Object.fromEntries(new URLSearchParams(asked.scope)), ...query })}`,
  changed: ({ drawn = false } = {}) => (drawn ? placed() : reload()),
});

/** Into `node`, which is empty. */
export async function show(node, id, scope = "") {
  box = node;
  session = id;
  asked = { scope, view: "" };
  await reload();
}

/** What is there now; nothing moves where it is the same. */
async function reload({ quiet = false } = {}) {
  const now = root();
  const known = quiet && now ? { known: now.dataset.known } : {};
  const text = await piece(address(known));
  if (!text || !box?.isConnected) return;
  const { scrollTop } = scroller();
  const open = $(".commit:not([hidden]) textarea", now ?? undefined)?.value;
  const seen = document.activeElement?.closest?.(".changes") ? focusPath() : "";
  const fresh = html(text);
  keepRead(now, fresh);
  box.replaceChildren(fresh);
  drawList();
  placed();
  if (open !== undefined) commitForm(open);
  scroller().scrollTop = scrollTop;
  if (seen) document.getElementById(seen)?.querySelector("tr[tabindex]")?.focus({ preventScroll: true });
}
/** What did not change stays as it is: with the lines that were added, and folded or not. */
function keepRead(old, fresh) {
  if (!old || old.dataset.view !== fresh.firstElementChild.dataset.view) return;
  for (const file of $$(".file[data-print]", fresh)) {
    const same = old.querySelector(`#${file.id}[data-print="${file.dataset.print}"]`);
    if (same) file.replaceWith(same);
  }
}
const scroller = () => $(".patch", box) ?? box;
const focusPath = () => document.activeElement.closest(".file")?.id ?? "";

when("view", async (link) => {
  asked.view = link.dataset.view;
  kept.set("diff-view", asked.view);
  await reload();
});
document.addEventListener("change", ({ target }) => {
  if (!target.matches?.(".changes .scope")) return;
  asked.scope = target.value;
  if (box?.id !== "side") history.replaceState(null, "", asked.scope ? `?${asked.scope}` : location.pathname);
  reload().catch(told);
});
when("file", async (link) => {
  const place = link.closest(".file");
  const whole = new URLSearchParams(link.getAttribute("href")).get("whole");
  place.replaceWith(html(await piece(address({ file: pathOf(place), view: root().dataset.view, ...(whole && { whole }) }))));
  placed();
});

// --- undo ------------------------------------------------------------------------------------------

const working = () => ($("#bar .bar") ? ($("#bar .bar").dataset.running ? $("#bar .bar").dataset.title || "The agent" : "") : root()?.dataset.working ?? "");

async function agreed(words, label) {
  const { danger, sure } = await import("./dialogs.js");
  return sure(`${label}?`, [words], danger(label));
}

when("undo", async (button) => {
  const file = button.closest(".file"), hunk = button.closest(".hunk");
  const path = pathOf(button), words = hunk ? "Undo hunk" : "Undo file";
  const agent = working();
  if (agent && !(await agreed(`${agent} is still working in this directory.`, words))) return;
  try {
    const body = { base: root().dataset.base, path, digest: file.dataset.digest, ...(hunk && { hunk: hunk.dataset.hunk }) };
    const { id } = await post("undo", body);
    undone = [...undone, { id, words: hunk ? `Undid a hunk of ${path}` : `Undid the changes of ${path}` }];
    say(undone.at(-1).words);
  } finally {
    await reload();
  }
});

/** What was undone last can be put back for as long as the page is open. */
function undoneLine() {
  const last = undone.at(-1);
  if (!last) return;
  const button = element("button", { type: "button", class: "small", "data-do": "put-back" }, "Put it back");
  $(".side-head", box)?.after(element("p", { class: "undone" }, element("span", {}, last.words), button));
}
when("put-back", async () => {
  const { id } = undone.at(-1);
  undone = undone.slice(0, -1);
  try {
    await post("put-back", { id });
    say("Put back");
  } finally {
    await reload();
  }
});

// --- commit ----------------------------------------------------------------------------------------

function commitForm(text = "") {
  const form = $(".commit", box ?? document);
  if (!form) return; // there is nothing left to commit
  form.hidden = false;
  form.message.value = text;
  form.message.focus();
}
when("commit-form", () => {
  const form = $(".commit", box ?? document);
  if (form.hidden) commitForm(form.message.value);
  else form.hidden = true;
});
/** Undefined: the user did not agree to new hooks. They may change again while they are read. */
async function committed(wanted, hooks = "") {
  try {
    return await post("commit", { ...wanted, hooks });
  } catch (problem) {
    if (problem.error !== "new_hooks") throw problem;
    const { sure } = await import("./dialogs.js");
    const lines = [problem.message, "A hook runs as you, outside of any sandbox."];
    const agreed = await sure("Run these hooks?", lines, "Run them and commit", element("pre", { class: "said" }, problem.shown));
    return agreed ? committed(wanted, problem.fingerprint) : undefined;
  }
}
when("commit", async (form) => {
  const files = $$("input[name=file]:checked", form).map((each) => ({ path: decodeURIComponent(each.value), digest: each.dataset.digest }));
  const said = $(".said", form);
  said.hidden = true;
  try {
    const made = await committed({ message: form.message.value, files });
    if (!made) return;
    form.hidden = true;
    form.message.value = "";
    undone = [];
    toast(`Committed ${made.id.slice(0, 8)}: ${made.summary}`, { remedy: made.said });
    await reload();
  } catch (error) {
    if (!error.error) throw error;
    said.textContent = [error.message, error.remedy].filter(Boolean).join("\n");
    said.hidden = false;
    say(error.message, { now: true });
    if (error.error === "changed_since") await reload();
  }
});

// --- comments --------------------------------------------------------------------------------------

const store = () => `comments.${session}`;
function comments() {
  try { return JSON.parse(kept.get(store()) ?? "[]"); } catch { return []; }
}
function keep(list) {
  kept.set(store(), list.length ? JSON.stringify(list) : "");
  placed();
}
const textOf = (row) => (row.lastElementChild?.textContent ?? "");
const lineOf = (row) => Number(row?.dataset.new ?? row?.dataset.old);
const sideOf = (row) => (row.dataset.new ? "new" : "old");
const rowsOf = (file) => $$("tr[data-new], tr[data-old]", file);

/** Where a comment stands now: its line, or one near it that reads the same. */
function rowFor(file, { side, to, quote }) {
  const last = quote.split("\n").at(-1);
  const near = rowsOf(file).filter((row) => sideOf(row) === side && textOf(row) === last);
  return near.sort((a, b) => Math.abs(lineOf(a) - to) - Math.abs(lineOf(b) - to))[0];
}

/** Draws all comments where they belong, and the bar that sends them. */
function placed() {
  for (const old of $$(".comment, .stray, .undone", box)) old.remove();
  undoneLine();
  drawMarks();
  const list = comments();
  list.forEach((each, at) => {
    const file = $$(".file", box).find((node) => decodeURIComponent(node.dataset.path) === each.path);
    if (!file) return;
    const row = rowFor(file, each);
    const words = element("p", { dir: "auto" }, each.text);
    const act = (name, label) => {
      const button = element("button", { type: "button", class: "quiet small", "data-do": name, "data-comment": each.id }, label);
      return button;
    };
    const note = element("div", { class: "said-on" }, words, element("p", { class: "soft" },
      `Comment ${at + 1} of ${list.length}${row ? "" : ` on line ${each.to}, which changed`} `, act("edit-comment", "Edit"), act("drop-comment", "Remove")));
    if (row) row.after(element("tr", { class: "comment" }, element("td", { colspan: "4" }, note)));
    else $("h3", file).after(element("div", { class: "stray" }, note));
  });
  const bar = $(".comments", box);
  if (!bar) return;
  bar.hidden = !list.length;
  bar.replaceChildren(...(list.length ? [
    element("button", { type: "button", class: "primary", "data-do": "send-comments" }, `Send ${list.length} comment${list.length > 1 ? "s" : ""}`),
    element("span", { class: "soft" }, "as one prompt"),
  ] : []));
}

/** A small form below the last of the rows. */
function compose(rows, known = null) {
  $(".composing", box)?.remove();
  const last = rows.at(-1);
  const area = element("textarea", { name: "text", rows: "3", required: true, maxlength: "10000", "aria-label": "Comment" });
  area.value = known?.text ?? "";
  const form = element("form", { "data-do": "comment" }, area, element("p", {},
    element("button", { class: "primary small" }, "Comment"),
    element("button", { type: "button", class: "quiet small", "data-do": "no-comment" }, "Cancel")));
  form.about = known ?? {
    id: uid(), path: pathOf(last), side: sideOf(last),
    from: Math.min(...rows.map(lineOf)), to: Math.max(...rows.map(lineOf)), quote: rows.map(textOf).join("\n"),
  };
  last.after(element("tr", { class: "composing" }, element("td", { colspan: "4" }, form)));
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    if (event.key === "Escape") { event.stopPropagation(); leave(); }
  });
  area.focus();
}
function leave() {
  const row = $(".composing", box), before = row?.previousElementSibling;
  row?.remove();
  before?.focus();
}
when("no-comment", leave);
when("comment", (form) => {
  const list = comments().filter((each) => each.id !== form.about.id);
  const text = form.elements.text.value.trim();
  leave();
  keep(text ? [...list, { ...form.about, text }] : list);
});
when("drop-comment", (button) => keep(comments().filter((each) => each.id !== button.dataset.comment)));
when("edit-comment", (button) => {
  const known = comments().find((each) => each.id === button.dataset.comment);
  const row = button.closest("tr")?.previousElementSibling ?? $("tr", button.closest(".file"));
  if (known && row) compose([row], known);
});
when("send-comments", async () => {
  const list = comments();
  const text = ["Comments on the changes:", ...list.map(({ path, side, from, to, quote, text: words }) => [
    `${path}:${from === to ? to : `${from}-${to}`}${side === "old" ? " (removed)" : ""}`,
    ...quote.split("\n").map((line) => `> ${line.trimEnd()}`), words,
  ].join("\n"))].join("\n\n");
  // The same comments have the same id: sent twice, they arrive once.
  const sum = [...text].reduce((so, letter) => (so * 31 + letter.codePointAt(0)) >>> 0, list.length);
  const id = `comments.${list.map((each) => each.id.slice(0, 8)).join(".").slice(0, 150)}.${sum.toString(16)}`;
  await api("POST", `${apiOf(session)}/prompt`, { text }, { headers: { "Idempotency-Key": id } });
  keep([]);
  const words = list.length > 1 ? `${list.length} comments sent` : "Comment sent";
  toast(words, $("#side") ? {} : { action: { label: "Open the session", run: () => location.assign(screenOf(session)) } });
});

let chosen = []; // rows that Shift and an arrow took together
function choose(rows) {
  for (const row of chosen) row.classList.remove("chosen");
  chosen = rows;
  if (rows.length > 1) for (const row of rows) row.classList.add("chosen");
}
const mayWrite = () => Boolean($(".comments", box));

document.addEventListener("click", (event) => {
  const cell = event.target.closest?.(".changes td:first-child, .changes td:nth-child(2), .changes .two td:nth-child(3)");
  const row = cell?.closest("tr[data-new], tr[data-old]");
  if (!row || !mayWrite() || !/^\d+$/.test(cell.textContent) || event.target.closest(".plus")) return;
  choose(event.shiftKey && chosen[0]?.parentElement === row.parentElement ? between(chosen[0], row) : [row]);
  compose(chosen);
});
/** The lines of a table from one to another. */
function between(one, other) {
  const all = [...one.parentElement.children].filter((each) => each.dataset.new || each.dataset.old);
  const [a, b] = [all.indexOf(one), all.indexOf(other)].sort((x, y) => x - y);
  return all.slice(Math.max(0, a), b + 1);
}
offersComments({ may: mayWrite, choose, compose, between });
document.addEventListener("keydown", (event) => {
  const row = event.target.closest?.(".changes tr[data-new], .changes tr[data-old]");
  if (!row || event.target !== row || event.ctrlKey || event.altKey || event.metaKey) return;
  const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key];
  if (step) {
    const all = $$("tr[data-new], tr[data-old]", root());
    const next = all[all.indexOf(row) + step];
    event.preventDefault();
    event.stopPropagation();
    if (!next) return;
    const together = event.shiftKey && next.parentElement === row.parentElement;
    const begin = chosen.includes(row) ? chosen : [row];
    choose(together ? (begin.includes(next) ? begin.filter((each) => each !== row) : step > 0 ? [...begin, next] : [next, ...begin]) : [next]);
    next.tabIndex = -1;
    next.focus();
  } else if ((event.key === "c" || event.key === "Enter") && mayWrite()) {
    event.preventDefault();
    event.stopPropagation();
    compose(chosen.includes(row) ? chosen : [row]);
  }
}, true);
key("c", "Comment on the line", () => {}, { where: "Changes", only: () => false });
key("Shift+ArrowDown", "Choose more lines", () => {}, { where: "Changes", only: () => false });

// --- news ------------------------------------------------------------------------------------------

const idle = () => !isTyping() && !$(".composing, .commit:not([hidden])", box) && !$("dialog[open]");
async function look() {
  if (box?.isConnected && root() && !document.hidden && idle()) await reload({ quiet: true }).catch(() => {});
}
document.addEventListener("visibilitychange", look);
document.addEventListener("region", ({ detail }) => { if (detail.name === "bar" && !working()) look(); });
setInterval(() => { if (working()) look(); }, 8000);

const alone = $(".review");
if (alone) {
  box = alone;
  session = document.body.dataset.session;
  asked.scope = root().dataset.scope;
  if (kept.get("diff-view") === "split" && root().dataset.view !== "split" && innerWidth >= SPLIT_FROM && !location.search.includes("view=")) reload().catch(told);
  else {
    drawList();
    placed();
  }
}
