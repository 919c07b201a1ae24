// The screen of a race: the table follows its sessions; one is picked or merged, or all are dropped.
import { $, $$, piece, toast, when } from "./main.js";
import { morph } from "./morph.js";
import { perform } from "./operations.js";

const box = $(".race");
let due = 0;

async function again() {
  due = 0;
  morph(box, await piece(`/races/${box.dataset.race}?piece=1`));
}
const soon = () => { due ||= setTimeout(() => again().catch(() => {}), 500); };
addEventListener("fleet", soon);
soon(); // news may have come before this script

/** `question`: what is asked before it is carried out. */
async function decide(name, session, given, question) {
  const done = await perform(name, session, given, question);
  if (!done) return;
  toast(done.summary);
  await again();
}

when("race-pick", async ({ dataset: { session, agent } }) => {
  const others = $$("tr[data-agent]", box).some((row) => row.dataset.session !== session);
  await decide("pick", session, {}, { title: `Pick ${agent}?`, label: others ? "Merge it, drop the rest" : "Merge it" });
});
when("race-merge", ({ dataset: { session, agent } }) => decide("merge", session, {}, { title: `Merge the work of ${agent}?`, label: "Merge" }));
when("race-drop", async (button) => {
  const { danger } = await import("./dialogs.js");
  const { label } = button.dataset; // it counts down while they are dropped
  await decide("drop-race", "", { race: box.dataset.race }, { title: `Delete ${label}?`, label: danger("Delete"), lines: ["The sessions are archived."] });
});
