// A session goes to the trash, and comes back.
import { toast } from "./main.js";
import { danger, sure } from "./dialogs.js";
import { perform } from "./operations.js";

export function leave(id, title) {
  try { sessionStorage.setItem("removed", JSON.stringify({ id, title })); } catch { /* no storage */ }
  location.assign("/");
}

/** To the trash. Where the session is open, the list says so once it is shown. */
export async function remove(id, title) {
  const lines = [`“${title}” goes to the trash and can be restored for 14 days. Files in its directory stay.`];
  if (!await sure("Delete the session?", lines, danger("Delete"))) return;
  try {
    await perform("remove", id);
  } catch (error) {
    if (error.error !== "unmerged_work") throw error;
    const more = [error.message, "Its worktree and branch go to the trash with it."];
    if (!await sure("Delete it with unmerged work?", more, danger("Delete"))) return;
    await perform("remove", id, { force: true });
  }
  if (document.body.dataset.session === id) leave(id, title);
  else removed(id, title);
}

/** Says that it is in the trash, with the button that brings it back. */
export function removed(id, title) {
  const undo = async () => {
    const { missing } = await perform("restore", "", { name: id });
    toast(missing ? `Restored. ${missing}` : "Restored.");
  };
  toast(`“${title}” is in the trash.`, { remedy: "Settings › Trash keeps it for 14 days.", action: { label: "Undo", run: undo } });
}
