// The screen of a race: the table follows its sessions; one is picked or merged, or all are dropped.
import { $, $$, api, piece, toast, when } from "./main.js";
import { morph } from "./morph.js";
import { work } from "./operations.js";
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

/** What it would do, as lines, with the fingerprint to agree to it. */
const shown = (path, given) => api("POST", path, { ...given, fingerprint: "show" }).catch((question) => {
  if (!question.shown) throw question;
  return question;
});

async function pick(button) {
  const { session, agent } = button.dataset;
  const { hindered, messageField, planned } = await import("./branch.js");
  const plan = await planned(session);
  if (await hindered(session, plan, () => pick(button))) return;
  const path = `/api/v1/sessions/${encodeURIComponent(session)}/pick`, question = await shown(path, {});
  const others = $$("tr[data-agent]", box).some((row) => row.dataset.session !== session);
  const { field, message } = messageField(session, plan);
  const label = others ? "Merge it, drop the rest" : "Merge it";
  const { sure } = await import("./dialogs.js");
  if (!(await sure(`Pick ${agent}?`, question.shown.split("\n"), label, field))) return;
  const given = { message: message(), fingerprint: question.fingerprint };
  const done = await work(path, given, (lines) => sure(`Pick ${agent}?`, lines, label));
  if (!done) return;
  toast(done.summary);
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
  const more = "The sessions are archived.";
  const done = await work("/api/v1/drop-race", { race: box.dataset.race }, (lines) => sure(`Delete ${label}?`, [...lines, more], danger("Delete")));
  if (!done) return;
  toast(done.summary);
  await again();
});
