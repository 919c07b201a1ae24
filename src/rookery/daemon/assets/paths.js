// Paths in what is said and printed, such as src/app.py:42: those of files that are there become links.
import { api, apiOf, element, screenOf } from "./main.js";

const PATH = /(?<![\w@/.:~-])((?:\.{0,2}\/)?\.?[\w@+-][\w@.+-]*(?:\/[\w@.+-]+)*)(?:(:|#L|", line |\()(\d+))?/g;
const LOOKED_AT = ".prose, .out, .said, .diff td:last-child, .card.bare .name";
const LEFT_OUT = "a, summary, button, textarea, .tail, .tools, .language, .target";
const MOST = 30, LONGEST = 250, WAIT = 300, FORGET = 60_000;

const known = new Map(); // by path: whether it is there
const seen = new WeakMap(); // by text node: what it said

/** What may be a path, with its line. */
function* written(text) {
  for (const { index: at, 0: whole, 1: word, 2: sign, 3: line = "" } of text.matchAll(PATH)) {
    const path = line ? word : word.replace(/[.-]+$/, "");
    const named = path.includes("/") || /\.[a-z]\w{0,9}$/i.test(path) || /^[A-Z][a-z]+file$/.test(path);
    if (named && /[a-z]/i.test(path) && path.length <= LONGEST) yield { at, path, line, shown: sign === ":" || sign === "#L" ? whole.length : path.length };
  }
}

/** Texts of blocks that are in sight, and are not done yet. */
function* texts(scroller, list) {
  const { top, bottom } = scroller.getBoundingClientRect();
  for (const block of list.children) {
    const place = block.getBoundingClientRect();
    if (place.bottom < top - 200 || place.top > bottom + 200) continue;
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      if (seen.get(node) === node.data || node.data.length < 3) continue;
      if (node.parentElement.closest(LOOKED_AT) && !node.parentElement.closest(LEFT_OUT)) yield node;
    }
  }
}

function link(node, session, found) {
  for (const { at, path, line, shown } of found.reverse()) {
    if (!known.get(path)) continue;
    const name = node.splitText(at);
    name.splitText(shown);
    const asked = new URLSearchParams({ path, ...(line && { line }) });
    const made = element("a", { class: "file-link", "data-do": "file-view", "data-path": path, "data-line": line, href: `${screenOf(session)}/file?${asked}` });
    name.replaceWith(made);
    made.append(name);
  }
}

/** Looks again whenever the transcript changes or scrolls. */
export function watch(scroller, list, session) {
  let due = 0;
  const soon = () => { due ||= setTimeout(() => { due = 0; look().catch(() => {}); }, WAIT); };
  async function look() {
    if (getSelection()?.type === "Range") return soon(); // what is being selected stays
    const work = [], asked = new Set();
    for (const node of texts(scroller, list)) {
      const found = [...written(node.data)];
      if (!found.length) { seen.set(node, node.data); continue; }
      work.push([node, node.data, found]);
      for (const { path } of found) if (!known.has(path)) asked.add(path);
      if (asked.size >= MOST) break;
    }
    const paths = [...asked].slice(0, MOST);
    if (paths.length) {
      const { files } = await api("GET", `${apiOf(session)}/known-files?${new URLSearchParams({ paths: paths.join("\n") })}`);
      for (const path of paths) known.set(path, files.includes(path));
    }
    observer.disconnect();
    for (const [node, said, found] of work) {
      if (!node.isConnected || node.data !== said || found.some(({ path }) => !known.has(path))) continue;
      link(node, session, found);
      seen.set(node, node.data);
    }
    observer.observe(list, { childList: true, characterData: true, subtree: true });
    if (asked.size > paths.length || asked.size >= MOST) soon();
  }
  const observer = new MutationObserver(soon);
  scroller.addEventListener("scroll", soon, { passive: true });
  setInterval(() => { for (const [path, is] of known) if (!is) known.delete(path); }, FORGET);
  soon();
}
