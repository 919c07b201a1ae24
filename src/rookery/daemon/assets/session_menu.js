// What can be done with a session as a whole, from the list and from the session's own menu.
import { $, api, toast } from "./main.js";
import { danger, menu, sure } from "./dialogs.js";
import { rows as operations } from "./operations.js";

/** Those that are no operations of the catalogue. `about`: id, title, status or running and awake, archived, snoozed, pinned, worktree. */
export function actions(about) {
  const { id, title } = about;
  return {
    logs: async () => (await import("./logs.js")).show(id),
    delete: () => remove(id, title),
  };
}

/** As rows of a menu: those that apply. */
export async function rows(about) {
  const run = actions(about);
  const row = (label, more, does, kind = "") => ({ label, more, run: does, kind });
  return [
    ...(await operations(about)),
    row("Logs", "of its agent and its worker", run.logs),
    row("Delete", "to the trash, for 14 days", run.delete, "bad"),
  ];
}

/** Of a row of the list. */
export async function open(button) {
  const { id, status, hidden = "", worktree = "", ...flags } = button.closest("li[data-id]").dataset;
  const title = $(".title", button.closest("li")).textContent.trim();
  const about = { id, title, worktree, archived: hidden === "archived", snoozed: hidden === "snoozed", pinned: "pinned" in flags, awake: status !== "asleep", running: ["running", "needs-you"].includes(status) };
  menu(button, title, await rows(about));
}

export function leave(id, title) {
  try { sessionStorage.setItem("removed", JSON.stringify({ id, title })); } catch { /* no storage */ }
  location.assign("/");
}

/** To the trash. Where the session is open, the list says so once it is shown. */
async function remove(id, title) {
  const lines = [`“${title}” goes to the trash and can be restored for 14 days. Files in its directory stay.`];
  if (!await sure("Delete the session?", lines, danger("Delete"))) return;
  try {
    await api("POST", `/api/v1/sessions/${id}/remove`, {});
  } catch (error) {
    if (error.error !== "unmerged_work") throw error;
    const more = [error.message, "Its worktree and branch go to the trash with it."];
    if (!await sure("Delete it with unmerged work?", more, danger("Delete"))) return;
    await api("POST", `/api/v1/sessions/${id}/remove`, { force: true });
  }
  if (document.body.dataset.session === id) leave(id, title);
  else removed(id, title);
}

/** Says that it is in the trash, with the button that brings it back. */
export function removed(id, title) {
  const undo = async () => {
    const { missing } = await api("POST", "/api/v1/restore", { name: id });
    toast(missing ? `Restored. ${missing}` : "Restored.");
  };
  toast(`“${title}” is in the trash.`, { remedy: "Settings › Trash keeps it for 14 days.", action: { label: "Undo", run: undo } });
}
