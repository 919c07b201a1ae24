// A file, read a part at a time: beside the transcript, or as a screen of its own.
import { $, api, copy, html, kept, piece, say, screenOf, told, when } from "./main.js";
import { complete } from "./complete.js";
import { key } from "./keys.js";

const PLACE = /^(.+?)(?::|#L)(\d+)(?:[:-].*)?$/;
let box = null, session = "";

const root = () => $(".viewer", box ?? document);
const scroller = () => $(".patch", root());
const here = () => screenOf(session);
const address = (fields) => `${here()}/file?${new URLSearchParams(fields)}`;

/** A path as it is written, with its line: `src/app.py:42`. */
const parted = (text) => { const found = PLACE.exec(text); return found ? [found[1], found[2]] : [text, ""]; };

/** Into `node`. Without a path: files to choose from. */
export async function show(node, id, path = "", line = "") {
  box = node;
  session = id;
  const side = node.id === "side";
  const text = await piece(address({ form: side ? "side" : "piece", path, ...(line && { line }) }));
  if (!box.isConnected) return;
  box.replaceChildren(html(text));
  if (!side) history.replaceState(null, "", address({ path, ...(line && { line }) }));
  ready();
  focus();
}

function ready() {
  wrap(kept.get("wrap-lines") === "1");
  const field = $(".go input", root());
  complete(field, field.form, (before) => {
    const [query] = parted(before.trim());
    const rows = query ? api("GET", `/api/v1${here()}/files?${new URLSearchParams({ query, limit: 12 })}`) : null;
    return rows && { from: 0, rows: rows.then(({ files }) => files.map((path) => ({ label: path, run: () => go(path, parted(before.trim())[1]) }))) };
  });
  const lines = scroller(), wanted = $("tr.here", lines);
  if (wanted) lines.scrollTop = wanted.offsetTop - lines.clientHeight / 3;
  lines.addEventListener("scroll", near, { passive: true });
}
function focus() { (root().dataset.path ? scroller() : $(".go input", root())).focus({ preventScroll: true }); }
const go = (path, line) => show(box, session, path, line).catch(told);
when("go-file", (form) => { const [path, line] = parted(form.path.value.trim()); if (path) return show(box, session, path, line); });

// --- parts -----------------------------------------------------------------------------------------

/** What is read stays where it is on the screen. */
when("file-part", async (link) => {
  const row = link.closest("tr"), lines = scroller(), after = row.nextElementSibling;
  const found = html(await piece(`${link.getAttribute("href")}&form=rows`));
  const parts = found.querySelectorAll(".part");
  // Of the new rows, the link towards those that are there already goes.
  if (after) { if (parts.length && !parts[parts.length - 1].nextElementSibling) parts[parts.length - 1].remove(); }
  else if (parts.length && !parts[0].previousElementSibling) parts[0].remove();
  const top = after?.getBoundingClientRect().top;
  row.replaceWith(found);
  if (after) lines.scrollTop += after.getBoundingClientRect().top - top;
});
function near() {
  const lines = scroller();
  if (!lines) return;
  const edge = lines.getBoundingClientRect();
  for (const link of lines.querySelectorAll('[data-do="file-part"]:not([aria-busy])')) {
    const { top, bottom } = link.getBoundingClientRect();
    if (bottom > edge.top - 300 && top < edge.bottom + 300) link.click();
  }
}

// --- what its buttons do ---------------------------------------------------------------------------

function wrap(is) {
  root().classList.toggle("wraps", is);
  $('[data-do="wrap-lines"]', root())?.setAttribute("aria-pressed", String(is));
}
const turn = () => { const is = !root().classList.contains("wraps"); kept.set("wrap-lines", is ? "1" : ""); wrap(is); };
when("wrap-lines", turn);
when("copy-path", async () => {
  const { path, line } = root().dataset;
  await copy(line ? `${path}:${line}` : path);
  say("Copied");
  const button = $('[data-do="copy-path"]', root());
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy path"; }, 1500);
});
document.addEventListener("click", (event) => {
  const row = event.target.closest?.(".viewer tr[id] > td:first-child")?.parentElement;
  if (!row) return;
  $("tr.here", root())?.classList.remove("here");
  row.classList.add("here");
  root().dataset.line = row.id.slice(1);
  if (box?.id !== "side") history.replaceState(null, "", address({ path: root().dataset.path, line: row.id.slice(1) }));
});
key("w", "Wrap long lines", turn, { where: "File", only: () => Boolean(root()?.contains(document.activeElement)) });

const alone = $(".review .viewer")?.parentElement;
if (alone) {
  box = alone;
  session = document.body.dataset.session;
  when("file-view", (link) => go(link.dataset.path, link.dataset.line ?? ""));
  ready();
}
