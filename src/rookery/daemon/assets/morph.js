// Changes a node into what the daemon rendered anew, in place: what did not change stays the same
// node, so focus, selection, scrolling and what the reader opened are kept.
import { html } from "./main.js";

/** `next`: a node, or HTML of one node. Nodes are matched by id, else by place and name. */
export function morph(node, next) {
  const wanted = typeof next === "string" ? html(next).firstElementChild : next;
  if (!wanted) return node;
  if (node.nodeName !== wanted.nodeName) { node.replaceWith(wanted); return wanted; }
  change(node, wanted);
  return node;
}

/** The children of a node become those of the HTML. */
export function morphInner(node, text) {
  inside(node, typeof text === "string" ? html(text) : text);
}

function change(old, next) {
  if (old.nodeType !== 1) {
    if (old.nodeValue !== next.nodeValue) old.nodeValue = next.nodeValue;
    return;
  }
  if (old.hasAttribute("data-keep") || old.isEqualNode(next)) return;
  attributes(old, next);
  inside(old, next);
}

function attributes(old, next) {
  const details = old.localName === "details" && !(old.classList.contains("live") && !old.dataset.touched); // one that opened itself closes itself
  const field = old.localName === "input" || old.localName === "textarea" || old.localName === "select";
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name) && !(details && name === "open") && name !== "aria-busy" && !(name === "src" && old.dataset.src)) old.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    if (details && name === "open" && old.dataset.touched) continue;
    if (old.getAttribute(name) === value) continue;
    old.setAttribute(name, value);
    if (field && name === "value" && old !== document.activeElement) old.value = value;
  }
}

function inside(old, next) {
  const named = new Map();
  for (const child of old.children) if (child.id) named.set(child.id, child);
  let at = old.firstChild;
  for (const wanted of [...next.childNodes]) {
    const known = wanted.nodeType === 1 && wanted.id ? named.get(wanted.id) : null;
    if (known) {
      if (known === at) at = at.nextSibling;
      else old.insertBefore(known, at);
      change(known, wanted);
    } else if (at && at.nodeName === wanted.nodeName && !(at.nodeType === 1 && at.id)) {
      const same = at;
      at = at.nextSibling;
      change(same, wanted);
    } else {
      old.insertBefore(wanted, at);
    }
  }
  while (at) { const gone = at; at = at.nextSibling; gone.remove(); }
}

// What the reader opened or closed stays so.
document.addEventListener("click", (event) => {
  const details = event.target.closest?.("summary")?.parentElement;
  if (details) details.dataset.touched = "1";
});
