// Lists under a field: what fits what is typed, one of which is pointed at.
import { element } from "./main.js";

let number = 0;

/** A row of any list to choose from, as an element of that name: label, more (below or beside it), kind (in a word). */
export const rowOf = (name, attributes, { label, more, kind }) => element(name, attributes, element("span", { dir: "auto" }, label),
  ...(more || kind ? [element("small", { dir: "auto" }, more ?? "")] : []), ...(kind ? [element("small", { class: "kind" }, kind)] : []));

/** Whether each word stands somewhere in a row. */
export function fits(words, { label, more, kind }) {
  const text = `${label} ${more ?? ""} ${kind ?? ""}`.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** Smaller is better, null: no match. All letters in order. */
export function score(query, name) {
  const [wanted, low] = [query.toLowerCase(), name.toLowerCase()];
  if (low.startsWith(wanted)) return name.length;
  if (low.includes(wanted)) return 100 + name.length;
  let at = -1;
  for (const letter of wanted) if ((at = low.indexOf(letter, at + 1)) < 0) return null;
  return 200 + name.length;
}

export function ranked(query, rows, name = (row) => row.label, most = 12) {
  return rows.map((row) => [score(query, name(row)), row]).filter(([value]) => value !== null)
    .sort((one, other) => one[0] - other[0]).slice(0, most).map(([, row]) => row);
}

/** The rows of `list`, while `field` keeps the focus and the keys. A row: label, more (beside it), kind. `choose` gets a row and the event. */
export function listbox(field, list, choose) {
  let rows = [], at = 0;
  function point(place) {
    if (!rows.length) return field.removeAttribute("aria-activedescendant");
    at = (place + rows.length) % rows.length;
    [...list.children].forEach((child, n) => child.setAttribute("aria-selected", String(n === at)));
    list.children[at].scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", list.children[at].id);
  }
  return {
    /** The row that is pointed at. */
    get row() { return rows[at]; },
    draw(given, place = 0) {
      rows = given;
      list.replaceChildren(...rows.map((row, n) => {
        const item = rowOf("li", { role: "option", id: `${list.id}-${n}` }, row);
        item.addEventListener("pointerdown", (event) => event.preventDefault()); // else the field would lose the focus
        item.addEventListener("click", (event) => choose(row, event));
        return item;
      }));
      point(place);
    },
    /** Whether the key moved the pointer. */
    moved({ key }) {
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[key];
      if (step) point(Math.abs(step) > 1 ? Math.max(0, Math.min(rows.length - 1, at + step)) : at + step);
      return Boolean(step);
    },
  };
}

/** `find(before)` gets the text before the caret: null, or {from, rows}, where rows may be promised.
 * A row: label, more, insert (what replaces the text from `from`), run (instead). */
export function complete(field, box, find) {
  const list = element("ul", { class: "offers", role: "listbox", id: `offers-${++number}`, hidden: true, "aria-label": "Suggestions" });
  box.append(list);
  const open = (is) => field.localName === "input" && field.setAttribute("aria-expanded", is); // a textarea may have no such role
  for (const [name, value] of Object.entries({ "aria-autocomplete": "list", "aria-controls": list.id, autocomplete: "off" })) field.setAttribute(name, value);
  if (field.localName === "input") field.setAttribute("role", "combobox");
  open(false);
  const offered = listbox(field, list, choose);
  let [from, asked, wanted] = [0, 0, ""];

  function close() {
    asked += 1;
    list.hidden = true;
    open(false);
    field.removeAttribute("aria-activedescendant");
  }

  async function look() {
    const end = field.selectionStart;
    const found = end === field.selectionEnd ? find(field.value.slice(0, end)) : null;
    if (!found) { wanted = ""; return close(); }
    const mine = (asked += 1);
    let given;
    try { given = await found.rows; } catch { given = []; }
    if (mine !== asked || document.activeElement !== field) return;
    [from, wanted] = [found.from, field.value.slice(found.from, end)];
    if (!given.length) return close();
    list.hidden = false;
    open(true);
    offered.draw(given);
  }

  function choose(row) {
    close();
    field.focus();
    if (row.run) return row.run();
    field.setRangeText(row.insert, from, field.selectionStart, "end");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  field.addEventListener("input", look);
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (list.hidden || event.isComposing) return;
    if (event.key === "Escape") close();
    else if (/^(Enter|Tab)$/.test(event.key) && !event.shiftKey) {
      const { row } = offered;
      if (event.key === "Enter" && row.insert === wanted && !row.run) return close();
      choose(row);
    } else if (!offered.moved(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true }); // before the field's own keys, which were there first
  return { look, close };
}
