// Forms of the settings: only what was changed is sent; what is wrong is said at its field.
import { $, $$, api, copy, element, html, kept, piece, say, toast, told, when } from "./main.js";
import { danger, sure } from "./dialogs.js";
import { controls, fit, given, isChanged, mark, values } from "./fields.js";
import { perform } from "./operations.js";

const isSet = (field) => controls(field).some(isChanged);

/** The values to send: of a new thing all, else those that were changed. */
function sent(form) {
  const removed = $$("[data-clear]:checked", form).map((node) => [node.dataset.clear, null]);
  return { ...("new" in form.dataset ? given(form) : values(form, isSet)), ...Object.fromEntries(removed) };
}

const changed = (form) => $$("[data-field]", form).filter(isSet).length + $$("[data-clear]:checked", form).length;
let leaving = false;

function settle(form) {
  const count = changed(form), reset = $("[type=reset]", form);
  if (reset) reset.hidden = !count;
  const told = $(".outcome", form);
  if (told.dataset.count !== String(count) && !("new" in form.dataset)) {
    told.className = "outcome";
    told.textContent = count ? `${count} unsaved change${count > 1 ? "s" : ""}` : "";
  }
  told.dataset.count = count;
}

function tell(form, words, kind = "") {
  const told = $(".outcome", form);
  told.className = `outcome ${kind}`;
  told.textContent = words;
}

/** A page to open is a link. */
function linked(place, words) {
  place.className = "outcome";
  const parts = words.split(/(https?:\/\/\S+)/);
  place.replaceChildren(...parts.map((part, n) => n % 2 ? element("a", { href: part, target: "_blank", rel: "noopener noreferrer" }, part) : part));
}

/** What loosens the guard is confirmed first. null: it was not meant. */
const send = (name, body, busy = "") => perform(name, "", body, { title: "This allows more than before", label: danger("Save it"), fields: [], busy });

async function save(form, more = {}) {
  const body = { ...JSON.parse(form.dataset.given), values: sent(form), ...more };
  if (!Object.keys(body.values).length && !("new" in form.dataset)) return tell(form, "Nothing was changed.");
  const tests = $("[data-do=test-form]", form) && !more.untested;
  const { busy } = form.dataset;
  tell(form, tests ? "Testing the model …" : busy ?? "Saving …");
  const outcome = await send("save-settings", body).catch((error) => { tell(form, ""); throw error; });
  if (!outcome) return tell(form, "Not saved.");
  mark(form, outcome.wrong);
  if (!outcome.done) {
    const named = Object.keys(outcome.wrong).length;
    if (busy) linked($(".outcome", form), outcome.summary);
    else tell(form, named ? "" : `✗ ${outcome.summary} Not saved.`, "failed");
    say(Object.values(outcome.wrong)[0] ?? outcome.summary, { now: true });
    if (!named && tests) $(".outcome", form).append(" ", element("button", { type: "button", "data-do": "keep-form" }, "Save untested"));
    return;
  }
  if (form.dataset.back) return away(form.dataset.back, outcome.summary);
  leaving = true;
  try { sessionStorage.setItem("said", outcome.summary); } catch { /* no storage: only unsaid */ }
  location.reload();
}

function away(address, words) {
  leaving = true;
  try { sessionStorage.setItem("said", words); } catch { /* no storage */ }
  location.assign(address);
}

when("save-form", (form) => save(form));
when("keep-form", (button) => save(button.closest("form"), { untested: true }));
when("test-form", async (button) => {
  const form = button.closest("form");
  tell(form, "Testing the model …");
  const outcome = await send("try-settings", { ...JSON.parse(form.dataset.given), values: sent(form) });
  mark(form, outcome.wrong);
  tell(form, outcome.done ? `${outcome.summary} Not saved yet.` : Object.keys(outcome.wrong).length ? "" : `✗ ${outcome.summary}`, outcome.done ? "" : "failed");
});

when("row-deed", async (button) => {
  const { deed, name, given: row } = button.dataset;
  if (deed === "remove" && !(await sure(`Remove ${name}?`, ["This cannot be undone."], danger("Remove")))) return;
  const outcome = await send("change-settings-list", { ...JSON.parse(row), do: deed }, deed === "test" ? `Testing ${name} …` : "");
  if (!outcome) return;
  if (deed === "test" || !outcome.done) toast(outcome.summary, { kind: outcome.done ? "note" : "failed" });
  else away(location.href, outcome.summary);
});

when("copy-line", async (button) => { await copy(button.dataset.text); button.textContent = "Copied"; });
when("confirm-held", async (button) => {
  const outcome = await send("confirm-settings", { held: button.dataset.held });
  away(location.href, outcome.summary);
});
when("revoke", async (button) => {
  if (!(await sure(`Revoke ${button.dataset.name}?`, [button.dataset.words], danger("Revoke")))) return;
  await api("DELETE", `/api/v1/devices/${encodeURIComponent(button.dataset.device)}`);
  away(location.href, "The device is logged out.");
});
/** A device's name, and whose it is. */
when("name-device", async (button) => {
  const { device, name, person } = button.dataset;
  const field = (label, key, value) => element("label", {}, `${label} `, element("input", { name: key, value, maxlength: 60, required: key === "name" }));
  const answers = await sure("Rename this device", [], "Save", field("Name", "name", name), field("Person", "person", person));
  if (answers) await changeDevice(device, Object.fromEntries(answers));
});
async function changeDevice(device, fields) {
  try {
    await api("PATCH", `/api/v1/devices/${encodeURIComponent(device)}`, fields);
    away(location.href, "Saved.");
  } catch (error) {
    told(error);
    for (const node of $$("[data-role-of]")) node.value = [...node.options].find((each) => each.defaultSelected).value;
  }
}
document.addEventListener("change", ({ target }) => {
  if (target.dataset.roleOf) changeDevice(target.dataset.roleOf, { role: target.value });
});
when("restore", async (button) => {
  const { missing } = await perform("restore", "", { name: button.dataset.id });
  away(location.href, missing ? `Restored. ${missing}` : "Restored.");
});
when("erase", async (button) => {
  const said = await perform("delete-trashed", "", { name: button.dataset.id }, { title: "Delete it permanently?", label: danger("Delete") });
  if (said) away(location.href, said.kept.join(" ") || "Deleted permanently.");
});
when("empty-trash", async () => {
  const said = await perform("empty-trash", "", {}, { label: danger("Empty") });
  if (said) away(location.href, said.kept.join(" ") || "The trash is empty.");
});
for (const day of $$("time[data-day]")) {
  const at = new Date(Number(day.dataset.day));
  day.dateTime = at.toISOString();
  day.textContent = at.toLocaleDateString(undefined, { day: "numeric", month: "short" });
}
when("new-link", async () => {
  const text = await api("POST", "/settings/devices/link", { role: $("#grant").value }, { headers: { Accept: "text/html" } });
  $("#link").replaceChildren(html(text));
});

// --- what is unsaved -----------------------------------------------------------------------------

for (const form of $$("form.setup")) {
  fit(form);
  for (const kind of ["input", "change"]) form.addEventListener(kind, () => { fit(form); settle(form); });
  form.addEventListener("reset", () => setTimeout(() => { fit(form); mark(form, {}); settle(form); }));
}
addEventListener("beforeunload", (event) => {
  if (!leaving && $$("form.setup").some(changed)) event.preventDefault();
});
document.addEventListener("change", (event) => {
  if (event.target.name !== "theme") return;
  kept.set("theme", event.target.value);
  dispatchEvent(new Event("theme"));
});
const theme = kept.get("theme") ?? "";
$(".sections [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
for (const node of $$("[name=theme]")) node.checked = node.value === theme;

try {
  const said = sessionStorage.getItem("said");
  sessionStorage.removeItem("said");
  if (said) toast(said);
} catch { /* no storage */ }
if (location.hash.startsWith("#f-")) {
  const field = $$("[data-field]").find((each) => each.dataset.field === decodeURIComponent(location.hash.slice(3)));
  field?.scrollIntoView({ block: "center" });
  if (field) controls(field)[0].focus({ preventScroll: true });
}

// --- the search over all sections ------------------------------------------------------------------

const search = $(".around input");
let timer = 0, section = null;
search?.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(() => find(search.value.trim()).catch(told), 150);
});
async function find(query) {
  const shown = $(".section");
  section ??= shown;
  if (!query) return shown.replaceWith(section);
  const matches = html(await piece(`/pieces/settings?${new URLSearchParams({ q: query })}`));
  if (search.value.trim() === query) shown.replaceWith(element("div", { class: "section" }, matches));
}
