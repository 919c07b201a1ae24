// The screen of a race: the table follows its sessions; one is picked or merged, or all are dropped.
import { $, $$, api, piece, toast, uid, when } from "./main.js";
import { morph } from "./morph.js";
import "./keys.js";

const box = $(".race");
let due = 0;

async function again() {
  due = 0;
  morph(box, await piece(`/races/${box.dataset.race}?piece=1`));
}
const soon = () => { due ||= setTimeout(() => again().catch(() => {}), 500); };
addEventListener("fleet", soon);
soon(); // news may have come before this script

const post = (path, body) => api("POST", path, body, { headers: { "Idempotency-Key": uid() } });

async function pick(button) {
  const { session, agent } = button.dataset;
  const { brings, hindered, messageField, planned } = await import("./branch.js");
  const plan = await planned(session);
  if (await hindered(session, plan, () => pick(button))) return;
  const others = $$("tr[data-agent]", box).map((row) => row.dataset).filter((row) => row.session !== session).map((row) => row.agent);
  const lines = brings(plan);
  if (others.length) lines.push(`The worktrees of ${new Intl.ListFormat("en-GB").format(others)} are deleted with all their changes.`);
  const { field, message } = messageField(session, plan);
  const { sure } = await import("./dialogs.js");
  if (!(await sure(`Pick ${agent}?`, lines, others.length ? "Merge it, drop the rest" : "Merge it", field))) return;
  const { merged, dropped } = await post("/api/races/pick", { session, message: message() });
  toast(`Merged into ${merged.into}.`, { remedy: dropped.length ? `Dropped: ${others.join(", ")}.` : "" });
  await again();
}
when("race-pick", pick);
when("race-merge", async (button) => {
  const { merge } = await import("./branch.js");
  const { session, agent } = button.dataset;
  if (await merge(session, agent)) await again();
});
when("race-drop", async (button) => {
  const { danger, sure } = await import("./dialogs.js");
  const { label } = button.dataset; // it counts down while they are dropped
  if (!(await sure(`Delete ${label}?`, ["All changes in them are lost. The sessions are archived."], danger("Delete")))) return;
  await post("/api/races/drop", { race: box.dataset.race });
  toast(`Dropped ${label}.`);
  await again();
});
