// The fields of a form, as pieces/forms.py draws them: what is in them, which of them apply, and what is wrong with them.
import { $, $$ } from "./main.js";

const TICKED = ["checkbox", "radio"];
export const controls = (field) => $$("[name]", field);
const fields = (form) => $$("[data-field]", form);

export function isChanged(node) {
  if (TICKED.includes(node.type)) return node.checked !== node.defaultChecked;
  if (node.localName === "select") return !node.options[node.selectedIndex]?.defaultSelected;
  return node.value !== node.defaultValue;
}

/** What is in a field, in its schema's type; null: nothing. */
function valueOf(field) {
  const nodes = controls(field), [{ type, value, validity, checked }] = nodes;
  if (field.dataset.type === "boolean") return checked;
  if (TICKED.includes(type)) {
    const chosen = nodes.filter((each) => each.checked).map((each) => each.value);
    return type === "checkbox" ? chosen : chosen[0] ?? null;
  }
  if (validity.badInput) return "?"; // the daemon says what it must be
  if (value === "") return null;
  if (field.dataset.type === "array") return value.split(",").map((each) => each.trim()).filter(Boolean);
  return ["integer", "number"].includes(field.dataset.type) ? Number(value) : value;
}

/** What is in the fields that apply, or those of them that `wanted` picks; null where one was emptied. */
export const values = (form, wanted = () => true) => Object.fromEntries(fields(form).filter((each) => !each.hidden && wanted(each)).map((each) => [each.dataset.field, valueOf(each)]));

/** The same without what is empty. */
export const given = (form) => Object.fromEntries(Object.entries(values(form)).filter(([, value]) => value !== null));

/** Show only the fields that belong to what is chosen, each with its hint. */
export function fit(form) {
  const now = values(form);
  for (const field of fields(form)) {
    const { when, hints } = field.dataset;
    if (when) field.hidden = !Object.entries(JSON.parse(when)).every(([name, wanted]) => wanted.includes(now[name]));
    for (const [name, words] of Object.entries(JSON.parse(hints ?? "{}"))) {
      if (now[name] in words) $(".about", field).textContent = words[now[name]];
    }
  }
}

/** Say at each field what is wrong with it, and go to the first. */
export function mark(form, wrong) {
  let first = null;
  for (const field of fields(form)) {
    const words = wrong[field.dataset.field] ?? "", [control] = controls(field);
    $(".wrong", field).textContent = words ? `✗ ${words}` : "";
    if (words) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
    if (words) first ??= control;
  }
  first?.focus();
}
