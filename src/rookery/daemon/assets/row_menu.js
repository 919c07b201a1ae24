// What can be done with a session of the list: a menu beside its row.
import { $, $$, api, element, toast } from "./main.js";

const close = () => { const menu = $(".menu"); menu?.owner.removeAttribute("aria-expanded"); menu?.remove(); };

let soon = () => {};

/** `changed`: called when the list is another. */
export function open(button, changed) {
  soon = changed;
  const was = $(".menu")?.owner;
  close();
  if (was === button) return;
  const row = button.closest("li[data-id]");
  const menu = element("div", { class: "menu", role: "menu" });
  menu.owner = button;
  for (const [words, run, kind] of deeds(row)) {
    const item = element("button", { type: "button", role: "menuitem", class: `quiet ${kind ?? ""}` }, words);
    item.addEventListener("click", () => {
      close();
      button.focus();
      Promise.resolve(run()).catch((error) => toast(error.message, { remedy: error.remedy, kind: "failed" }));
    });
    menu.append(item);
  }
  menu.addEventListener("keydown", (event) => {
    const items = $$("button", menu);
    const at = items.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, Home: 0, End: -1 }[event.key];
    if (to != null) items.at(to % items.length).focus();
    else if (event.key === "Escape" || event.key === "Tab") { close(); button.focus(); }
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  document.body.append(menu);
  button.setAttribute("aria-expanded", "true");
  const { right, bottom, top } = button.getBoundingClientRect();
  const below = bottom + menu.offsetHeight < innerHeight - 8;
  menu.style.left = `${Math.max(8, right - menu.offsetWidth)}px`;
  menu.style.top = `${below ? bottom + 4 : Math.max(8, top - menu.offsetHeight - 4)}px`;
  $("button", menu).focus();
}
document.addEventListener("pointerdown", (event) => { if (!event.target.closest?.(".menu, [data-do=row]")) close(); });
addEventListener("scroll", close, true);
addEventListener("resize", close);

function deeds(row) {
  const { id, status, hidden } = row.dataset;
  const title = $(".title", row).textContent.trim();
  const change = async (fields) => { await api("PATCH", `/api/sessions/${id}`, fields); soon(0); };
  const away = async (fields, undo, words) => {
    await change(fields);
    toast(words, { action: { label: "Undo", run: () => change(undo) } });
  };
  const pinned = "pinned" in row.dataset;
  const found = [["Rename", () => rename(title, change)], [pinned ? "Unpin" : "Pin", () => change({ pinned: !pinned })]];
  if (hidden === "snoozed") found.push(["Unsnooze", () => change({ snoozed: 0 })]);
  else if (!hidden) {
    found.push(["Snooze for an hour", () => away({ snoozed: Date.now() + 3600e3 }, { snoozed: 0 }, "Snoozed for an hour.")]);
    found.push(["Snooze until tomorrow", () => away({ snoozed: tomorrow() }, { snoozed: 0 }, "Snoozed until tomorrow, 9:00.")]);
  }
  if (hidden === "archived") found.push(["Unarchive", () => change({ archived: false })]);
  else found.push(["Archive", () => away({ archived: true }, { archived: false }, "Archived.")]);
  if (status !== "asleep") found.push(["Stop", async () => { await api("POST", `/api/sessions/${id}/commands`, { do: "stop" }); soon(0); }]);
  found.push(["Delete", () => remove(id, title, () => gone(id, title)), "danger"]);
  return found;
}

/** Where the deleted session is open, the list says so once it is shown. */
function gone(id, title) {
  if (document.body.dataset.session === id) return leave(id, title);
  removed(id, title, () => soon(0));
  soon(0);
}

export function leave(id, title) {
  try { sessionStorage.setItem("removed", JSON.stringify({ id, title })); } catch { /* no storage */ }
  location.assign("/");
}

function tomorrow() {
  const day = new Date();
  day.setDate(day.getDate() + 1);
  return day.setHours(9, 0, 0, 0);
}

/** A small window with a form; what it is answered with. */
function asked(heading, inner, label, kind) {
  return new Promise((resolve) => {
    const cancel = element("button", { type: "button" }, "Cancel");
    const form = element("form", { method: "dialog" }, element("h2", {}, heading), ...inner,
      element("div", { class: "ways" }, element("button", { class: kind, value: "yes" }, label), cancel));
    const dialog = element("dialog", { class: "small", "aria-label": heading }, form);
    cancel.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => { dialog.remove(); resolve(dialog.returnValue === "yes"); });
    document.body.append(dialog);
    dialog.showModal();
    $("input", dialog)?.select();
  });
}

async function rename(title, change) {
  const field = element("input", { value: title, maxlength: 200, required: true, "aria-label": "Title" });
  if (await asked("Rename the session", [field], "Rename", "primary") && field.value.trim()) await change({ title: field.value.trim() });
}

/** To the trash; `after` follows, with the words to say and how to undo it. */
export async function remove(id, title, after) {
  const words = element("p", {}, `“${title}” goes to the trash and can be restored for 14 days. Files in its directory stay.`);
  if (!await asked("Delete the session?", [words], "Delete", "danger")) return;
  try {
    await api("DELETE", `/api/sessions/${id}`);
  } catch (error) {
    if (error.error !== "unmerged_work") throw error;
    const lines = [element("p", {}, error.message), element("p", {}, "Its worktree and branch go to the trash with it.")];
    if (!await asked("Delete it with unmerged work?", lines, "Delete", "danger")) return;
    await api("DELETE", `/api/sessions/${id}?force=true`);
  }
  after();
}

/** Says that it is in the trash, with the button that brings it back. */
export function removed(id, title, back) {
  const undo = async () => {
    const { missing } = await api("POST", `/api/trash/${id}/restore`);
    toast(missing ? `Restored. ${missing}` : "Restored.");
    back();
  };
  toast(`“${title}” is in the trash.`, { remedy: "Settings › Trash keeps it for 14 days.", action: { label: "Undo", run: undo } });
}
