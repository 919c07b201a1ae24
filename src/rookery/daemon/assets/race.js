// The screen of a race: the table follows its sessions; one is picked or merged, or all are dropped.
import { $, api, piece, say, uid, when } from "./main.js";
import { morph } from "./morph.js";
import "./keys.js";

const box = $(".race");
let due = 0;

async function again() {
  due = 0;
  morph(box, await piece(`/races/${box.dataset.race}?piece=1`));
}
addEventListener("fleet", () => { due ||= setTimeout(() => again().catch(() => {}), 500); });

const post = (path, body) => api("POST", path, body, { headers: { "Idempotency-Key": uid() } });

when("race-pick", async (button) => {
  const { sure } = await import("./dialogs.js");
  const { session, agent } = button.dataset;
  const lines = [`The work of ${agent} is merged into the directory it came from. The other worktrees are deleted with all their changes.`];
  const plan = await api("GET", `/api/sessions/${encodeURIComponent(session)}/merge`);
  const { messageField } = await import("./branch.js");
  const { field, message } = messageField(session, plan);
  if (!(await sure(`Pick ${agent}?`, lines, "Merge it, drop the rest", field))) return;
  const { merged } = await post("/api/races/pick", { session, message: message() });
  say(`Merged into ${merged.into}`);
  await again();
});
when("race-merge", async (button) => {
  const { merge } = await import("./branch.js");
  const { session, agent } = button.dataset;
  if (await merge(session, agent)) await again();
});
when("race-drop", async (button) => {
  const { sure } = await import("./dialogs.js");
  if (!(await sure(`Delete ${button.dataset.label}?`, ["All changes in them are lost. The sessions are archived."], "Delete"))) return;
  await post("/api/races/drop", { race: box.dataset.race });
  await again();
});
