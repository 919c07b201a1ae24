// Menus and questions, the same on every screen.
import { $, $$, copy, element, styled, told } from "./main.js";
import { fits, rowOf } from "./complete.js";

await styled("dialogs.css"); // before it a menu has no place

/** A list to choose from, under its button; a sheet on a phone. A row: label, more, current, look (a class), and run, href or does. */
export function menu(anchor, title, rows) {
  const list = element("div", { class: "rows" });
  const dialog = element("dialog", { class: "menu", "aria-label": title }, element("h2", {}, title), list);
  const draw = (words = "") => {
    list.replaceChildren(...rows.filter((row) => row.heading ? !words : fits(words, row)).map((row) => row.heading
      ? element("h3", {}, row.heading)
      : entry(row, dialog)));
    if (!list.childElementCount) list.append(element("p", { class: "soft" }, "No matches."));
  };
  if (rows.filter((row) => !row.href).length > 20) {
    const filter = element("input", { type: "search", placeholder: "Filter", "aria-label": "Filter" });
    filter.addEventListener("input", () => draw(filter.value));
    list.before(filter);
  }
  draw();
  dialog.addEventListener("keydown", (event) => walk(event, dialog));
  open(dialog, anchor);
  const first = matchMedia("(pointer: coarse)").matches ? ".row" : "input, .row"; // a field would bring the keyboard
  ($("[aria-current]", dialog) ?? $(first, dialog))?.focus();
  return dialog;
}

function entry(row, dialog) {
  if (row.href) return rowOf("a", { class: "row", href: row.href, download: true }, row);
  const button = rowOf("button", { type: "button", class: `row ${row.look ?? ""}`, "data-do": row.does, "aria-current": row.current ? "true" : null }, row);
  button.addEventListener("click", () => {
    dialog.close();
    const act = () => Promise.resolve(row.run()).catch((error) => told(error, act));
    if (row.run) act();
  });
  return button;
}

function walk(event, dialog) {
  const rows = $$("input, .row", dialog);
  const typing = document.activeElement?.localName === "input";
  const at = rows.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, ...(typing ? {} : { j: at + 1, k: at - 1, Home: 0, End: -1 }) }[event.key];
  if (to == null) return;
  event.preventDefault();
  rows.at(to % rows.length)?.focus();
}

/** Opens it; `anchor` has the focus again when it is closed. */
export function open(dialog, anchor) {
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  const isMenu = dialog.classList.contains("menu");
  if (isMenu) anchor?.setAttribute("aria-expanded", "true");
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (isMenu) anchor?.removeAttribute("aria-expanded");
    if (anchor?.isConnected) anchor.focus({ preventScroll: true });
  });
  document.body.append(dialog);
  dialog.showModal();
  if (!anchor || innerWidth < 700 || !isMenu) return;
  const place = (anchor.offsetWidth ? anchor : $("#bar [data-do=more]") ?? anchor).getBoundingClientRect();
  const top = Math.min(place.bottom + 4, Math.max(8, innerHeight - dialog.offsetHeight - 8));
  Object.assign(dialog.style, {
    margin: "0", top: `${top}px`, left: `${Math.max(8, Math.min(place.left, innerWidth - dialog.offsetWidth - 8))}px`,
  });
}

/** A window with a text. `head`: what stands beside its title. */
export function show(title, words, ...head) {
  const text = element("pre", { class: "out", tabindex: 0, "aria-label": title }, words);
  const button = (label, run) => {
    const made = element("button", { type: "button" }, label);
    made.addEventListener("click", () => Promise.resolve(run()).catch(told));
    return made;
  };
  const dialog = element("dialog", { class: head.length ? "text tall" : "text", "aria-label": title }, element("div", { class: "head" }, element("h2", { dir: "auto" }, title), ...head), text,
    element("div", { class: "buttons" }, button("Copy", () => copy(text.textContent)), button("Close", () => dialog.close())));
  open(dialog, document.activeElement);
  text.focus();
  return { dialog, text };
}

/** The label of what takes something away. */
export const danger = (words) => ({ words, kind: "danger" });

/** Asks before something is done; resolves to the form's fields, or null. `label`: words, or `danger` of them. */
export function sure(title, lines, label, ...fields) {
  return new Promise((settle) => {
    const { words = label, kind = "primary" } = label;
    const yes = element("button", { class: kind, value: "yes" }, words);
    const no = element("button", { type: "button" }, "Cancel");
    const form = element("form", { method: "dialog" }, element("h2", {}, title),
      ...lines.map((line) => element("p", {}, line)), ...fields, element("div", { class: "buttons" }, no, yes));
    const dialog = element("dialog", { class: "sure", "aria-label": title }, form);
    no.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => settle(dialog.returnValue === "yes" ? new FormData(form) : null));
    open(dialog, document.activeElement);
    const field = $("input:not([type=checkbox])", dialog);
    if (kind === "danger") return no.focus();
    (field ?? yes).focus();
    return field?.select();
  });
}
