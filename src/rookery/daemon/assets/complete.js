// One list of offers under a field: slash commands, files, directories.
import { element } from "./main.js";

let number = 0;

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

/** `find(before)` gets the text before the caret: null, or {from, rows}, where rows may be promised.
 * A row: label, more, insert (what replaces the text from `from`), run (instead). */
export function complete(field, box, find) {
  const list = element("ul", { class: "offers", role: "listbox", id: `offers-${++number}`, hidden: true, "aria-label": "Suggestions" });
  box.append(list);
  const open = (is) => field.localName === "input" && field.setAttribute("aria-expanded", is); // a textarea may have no such role
  for (const [name, value] of Object.entries({ "aria-autocomplete": "list", "aria-controls": list.id, autocomplete: "off" })) field.setAttribute(name, value);
  if (field.localName === "input") field.setAttribute("role", "combobox");
  open(false);
  let [rows, from, at, asked, wanted] = [[], 0, 0, 0, ""];

  function close() {
    asked += 1;
    list.hidden = true;
    open(false);
    field.removeAttribute("aria-activedescendant");
  }

  function point(place) {
    at = (place + rows.length) % rows.length;
    [...list.children].forEach((child, n) => child.setAttribute("aria-selected", String(n === at)));
    list.children[at].scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", list.children[at].id);
  }

  function draw() {
    list.replaceChildren(...rows.map((row, n) => {
      const item = element("li", { role: "option", id: `${list.id}-${n}` }, element("span", {}, row.label), ...(row.more ? [element("small", {}, row.more)] : []));
      item.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the keys
      item.addEventListener("click", () => choose(n));
      return item;
    }));
    list.hidden = false;
    open(true);
    point(0);
  }

  async function look() {
    const end = field.selectionStart;
    const found = end === field.selectionEnd ? find(field.value.slice(0, end)) : null;
    if (!found) { wanted = ""; return close(); }
    const mine = (asked += 1);
    let given;
    try { given = await found.rows; } catch { given = []; }
    if (mine !== asked || document.activeElement !== field) return;
    [rows, from, wanted] = [given, found.from, field.value.slice(found.from, end)];
    if (rows.length) draw();
    else close();
  }

  function choose(place) {
    const row = rows[place];
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
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) point(at + step);
    else if (event.key === "Escape") close();
    else if ((event.key === "Enter" && !event.shiftKey) || (event.key === "Tab" && !event.shiftKey)) {
      if (event.key === "Enter" && rows[at].insert === wanted && !rows[at].run) return close();
      choose(at);
    } else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true }); // before the field's own keys, which were there first
  return { look, close };
}
