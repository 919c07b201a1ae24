// Reading a diff: files marked as viewed, more lines around a hunk, the list of files.
import { $, $$, element, html, kept, piece, say, when } from "./main.js";
import { key } from "./keys.js";

const STEP = 20;
const NARROW = 640;
let place = null; // of changes.js: root(), session(), linesOf(query), changed()

export function reads(given) { place = given; }

const files = () => $$(".file[data-print]", place.root());
const patch = () => $(".patch", place.root());
const pathOf = (file) => decodeURIComponent(file.dataset.path);

// --- viewed ----------------------------------------------------------------------------------------

const MOST = 8; // of one file: what was compared may change and change back
const store = () => `viewed.${place.session()}`;
function viewed() {
  try { return JSON.parse(kept.get(store()) ?? "{}"); } catch { return {}; }
}
const isViewed = (file, all = viewed()) => (all[pathOf(file)] ?? []).includes(file.dataset.print);

function mark(file, on) {
  const all = viewed(), path = pathOf(file), mine = file.dataset.print;
  const rest = (all[path] ?? []).filter((each) => each !== mine);
  all[path] = on ? [...rest, mine].slice(-MOST) : rest;
  if (!all[path].length) delete all[path];
  kept.set(store(), Object.keys(all).length ? JSON.stringify(all) : "");
  fold(file, on);
  total();
  say(`${path} ${on ? "viewed" : "not viewed"}`);
}

function fold(file, on) {
  file.classList.toggle("folded", on);
  $(".fold", file)?.setAttribute("aria-expanded", String(!on));
  if (on && file.getBoundingClientRect().top < patch().getBoundingClientRect().top) file.scrollIntoView();
}

/** The marks of all files, as they are kept. */
export function drawMarks() {
  const all = viewed();
  for (const file of files()) {
    const acts = $("h3 .acts", file);
    if (!acts || $(".viewed", acts)) continue;
    const box = element("input", { type: "checkbox" });
    box.checked = isViewed(file, all);
    acts.append(element("label", { class: "viewed", title: "Viewed, until it changes (v)" }, box, "Viewed"));
    $("h3", file).prepend(element("button", { type: "button", class: "quiet icon fold", "data-do": "fold", "aria-expanded": "true", "aria-label": `Lines of ${pathOf(file)}` }));
    if (box.checked) fold(file, true);
  }
  total();
}

function total() {
  const all = viewed(), list = files();
  const done = list.filter((file) => isViewed(file, all));
  for (const file of list) {
    const on = done.includes(file);
    const box = $(".viewed input", file);
    if (box) box.checked = on;
    $(`.files a[href="#${file.id}"]`, place.root())?.toggleAttribute("data-viewed", on);
  }
  const button = $(".files > button", place.root());
  if (button) button.textContent = `${list.length} files${done.length ? ` · ${done.length} viewed` : ""}`;
}

document.addEventListener("change", ({ target }) => {
  const file = target.closest?.(".viewed") && target.closest(".file");
  if (file) mark(file, target.checked);
});
when("fold", (button) => fold(button.closest(".file"), button.getAttribute("aria-expanded") === "true"));

/** The file with the focus, else the one at the top. */
function current() {
  const focused = document.activeElement?.closest?.(".file[data-print]");
  if (focused) return focused;
  const top = patch()?.getBoundingClientRect().top + 8;
  return files().findLast((file) => file.getBoundingClientRect().top <= top) ?? files()[0];
}

function go(file) {
  if (!file) return;
  file.scrollIntoView();
  const next = $(file.classList.contains("folded") ? ".fold" : "tr[tabindex]", file) ?? $(".fold", file);
  next?.focus({ preventScroll: true });
}
const here = () => Boolean(place?.root()?.isConnected);
key("v", "Mark the file as viewed", () => {
  const file = current();
  if (!file) return;
  const on = !isViewed(file);
  mark(file, on);
  const list = files();
  go(on ? list.slice(list.indexOf(file) + 1).find((each) => !isViewed(each)) ?? file : file);
}, { where: "Changes", only: here });
const step = (by) => () => { const list = files(); go(list[Math.min(list.length - 1, Math.max(0, list.indexOf(current()) + by))]); };
key("]", "Next file", step(1), { where: "Changes", only: here });
key("[", "Previous file", step(-1), { where: "Changes", only: here });

// --- the list of files -----------------------------------------------------------------------------

export function drawList() {
  const list = $(".files", place.root());
  if (!list) return;
  const wanted = kept.get("diff-files");
  unfold(list, wanted ? wanted === "open" : place.root().clientWidth >= NARROW);
  patch().addEventListener("scroll", spy, { passive: true });
  spy();
}
function unfold(list, open) {
  list.toggleAttribute("data-closed", !open);
  $("button", list).setAttribute("aria-expanded", String(open));
}
when("files", (button) => {
  const open = button.getAttribute("aria-expanded") !== "true";
  unfold(button.parentElement, open);
  if (place.root().clientWidth >= NARROW) kept.set("diff-files", open ? "open" : "closed");
});
when("to-file", (link) => {
  const file = document.getElementById(link.getAttribute("href").slice(1));
  if (place.root().clientWidth < NARROW) unfold($(".files", place.root()), false);
  go(file);
});

let due = 0;
function spy() {
  due ||= setTimeout(() => {
    due = 0;
    if (!patch()) return;
    const top = patch().getBoundingClientRect().top + 8;
    const now = files().findLast((file) => file.getBoundingClientRect().top <= top) ?? files()[0];
    for (const link of $$(".files a", place.root())) {
      if (link.getAttribute("href") === `#${now?.id}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }, 100);
}

// --- lines around a hunk ---------------------------------------------------------------------------

when("lines", async (link) => {
  const head = link.closest(".hunk-head"), file = head.closest(".file"), { way } = link.dataset;
  const first = Number(head.dataset.first), last = Number(head.dataset.last);
  const from = way === "up" ? Math.max(first, last - STEP + 1) : first;
  const to = way !== "down" ? last : last ? Math.min(last, first + STEP - 1) : first + STEP - 1;
  const query = { file: pathOf(file), digest: file.dataset.digest, first: from, last: to, shift: head.dataset.shift };
  let table;
  try {
    table = html(await piece(place.linesOf(query))).firstElementChild;
  } catch (problem) {
    if (problem.error === "changed_since") await place.changed();
    throw problem;
  }
  const own = head.closest(".hunk");
  const rows = [...table.rows];
  for (const row of rows) row.removeAttribute("tabindex");
  const above = own ? own.previousElementSibling : head.previousElementSibling;
  if (own && way !== "down") $("tbody, table", own).prepend(...rows);
  else $("tbody, table", above).append(...rows);
  head.dataset[way === "up" ? "last" : "first"] = way === "up" ? from - 1 : Number(table.dataset.last) + 1;
  rest(head, last ? way === "all" : Boolean(table.dataset.end));
  if (!link.isConnected && rows.length) {
    rows[0].tabIndex = -1;
    rows[0].focus({ preventScroll: true });
  }
  place.changed({ drawn: true });
});

/** The buttons for what is still left out. */
function rest(head, all) {
  const left = Number(head.dataset.last) - Number(head.dataset.first) + 1;
  if (all || (Number(head.dataset.last) && left <= 0)) {
    if (head.closest(".hunk")) $(".ways", head)?.remove();
    else head.remove();
    return;
  }
  if (!Number(head.dataset.last)) return;
  const every = $("[data-way=all]", head);
  every.textContent = left > STEP ? `All ${left}` : `+${left}`;
  every.title = `Show ${left} unchanged line${left > 1 ? "s" : ""}`;
  every.setAttribute("aria-label", every.title);
  if (left <= STEP) for (const each of $$("[data-way=up], [data-way=down]", head)) each.remove();
}

// --- a `+` at a line -------------------------------------------------------------------------------

const ROW = ".changes tr[data-new], .changes tr[data-old]";
const plus = element("button", { type: "button", class: "plus", "data-do": "plus", tabindex: "-1", title: "Comment (c)" });
let start = null; // where a choice of several lines began

/** `compose(rows)` writes a comment, `choose(rows)` shows which lines it is about. */
export function offersComments({ may, choose, compose, between }) {
  const put = (row) => {
    if (!may() || plus.parentElement?.parentElement === row) return;
    const two = row.closest(".two");
    row.cells[two && !row.dataset.new ? 0 : 2]?.append(plus);
    plus.setAttribute("aria-label", `Comment on line ${row.dataset.new ?? row.dataset.old}`);
  };
  document.addEventListener("pointerover", ({ target }) => {
    const row = target.closest?.(ROW);
    if (!row) return;
    put(row);
    if (start && row.parentElement === start.parentElement) choose(between(start, row));
  });
  document.addEventListener("focusin", ({ target }) => { if (target.matches?.(ROW)) put(target); });
  plus.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button) return;
    event.preventDefault(); // else a drag would select text
    start = plus.closest("tr");
    choose([start]);
  });
  document.addEventListener("pointerup", () => {
    const rows = start ? between(start, plus.closest("tr") ?? start) : [];
    start = null;
    if (rows.length > 1) compose(rows);
  });
  when("plus", (button, event) => {
    const row = button.closest("tr");
    if (event.detail && $(".composing", place.root())?.previousElementSibling === row) return; // by the drag that ended here
    choose([row]);
    compose([row]);
  });
}

