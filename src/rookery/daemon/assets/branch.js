// A session's worktree, merged or dropped. What would happen is said before anything is touched.
import { api, element, toast, uid } from "./main.js";
import { danger, sure } from "./dialogs.js";

const WAYS = [["merge", "with a merge commit"], ["rebase", "by rebasing it"], ["squash", "as one commit"], ["apply", "as changes, without a commit"]];
const place = (session, what) => `/api/sessions/${encodeURIComponent(session)}/${what}`;
const post = (path, body) => api("POST", path, body, { headers: { "Idempotency-Key": uid() } });
const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

function refusal(words, files, again) {
  const more = files.length > 5 ? ` and ${files.length - 5} more` : "";
  const remedy = "Nothing was changed. Commit or stash them, then merge again.";
  toast(`${words}: ${files.slice(0, 5).join(", ")}${more}.`, { kind: "failed", remedy, action: { label: "Merge again", run: again } });
}

/** A field for the message of the commit that a merge makes; it is shown where one is made. */
export function messageField(session, plan, how = null) {
  const text = element("textarea", { name: "message", rows: 4 });
  const field = element("label", { class: "message" }, "Commit message ", text);
  let draft = "";
  const show = (next) => {
    if (text.value === draft) text.value = next.message;
    draft = next.message;
    field.hidden = !draft;
  };
  show(plan);
  how?.addEventListener("change", async () => show(await api("GET", `${place(session, "merge")}?how=${how.value}`)));
  return { field, message: () => (field.hidden || text.value === draft ? "" : text.value) };
}

/** The agent may resolve conflicts in its own worktree. */
async function resolve(session, plan) {
  const lines = [`${count(plan.conflicts.length, "file")} in conflict with ${plan.into}: ${plan.conflicts.slice(0, 5).join(", ")}. Nothing was changed.`,
    "The agent can resolve it in its worktree; then merge again."];
  if (!(await sure("The work conflicts", lines, "Have the agent resolve it"))) return;
  await api("POST", place(session, "prompt"), { text: plan.resolution });
  toast("The agent is resolving the conflict. Merge again when it is done.");
}

/** Whether it cannot be merged as it is; that is said, with what helps. */
export async function hindered(session, plan, again) {
  if (plan.conflicts.length) await resolve(session, plan);
  else if (plan.in_the_way.length) refusal("You have uncommitted changes in", plan.in_the_way, again);
  else return false;
  return true;
}

/** What a merge brings, and where. */
export const brings = (plan) => [`${count(plan.files, "file")}, +${plan.added} −${plan.removed}, into ${plan.into}.`,
  ...(plan.uncommitted ? [`${count(plan.uncommitted, "file")} will be committed first.`] : [])];

/** `whose`: in the question. Whether it was merged. */
export async function merge(session, whose = "this session") {
  const plan = await api("GET", place(session, "merge"));
  if (await hindered(session, plan, () => merge(session, whose))) return undefined;
  if (!plan.files && !plan.commits) return toast("Nothing to merge: the session changed nothing.");
  const how = element("select", { name: "how" }, ...WAYS.map(([value, words]) => element("option", { value }, words)));
  const keep = element("input", { type: "checkbox", name: "keep" });
  const { field, message } = messageField(session, plan, how);
  const given = await sure(`Merge the work of ${whose}?`, brings(plan), "Merge",
    element("label", { class: "pick" }, "How ", how), field,
    element("label", { class: "check" }, keep, "Keep the worktree and its branch"));
  if (!given) return undefined;
  const done = await post(place(session, "merge"), { how: given.get("how"), message: message(), keep: Boolean(given.get("keep")) });
  toast(`Merged into ${done.into}.`);
  return true;
}

/** Away from others that work in the same directory. */
export async function move(session, running) {
  const lines = ["It goes on in a git worktree of its own, with copies of the files that it changed. Merge brings its work back."];
  if (running) lines.push("The running turn is cancelled; your next prompt continues there.");
  if (!(await sure("Move this session to a worktree?", lines, running ? "Cancel the turn and move" : "Move"))) return;
  const done = await post(place(session, "move"), { cancel: Boolean(running) });
  const files = done.files.length;
  toast(`Moved to ${done.branch}${files ? `, with ${count(files, "changed file")}` : ""}.`);
}

/** What would be lost is said first; what came to it meanwhile is asked about again. */
export async function drop(session) {
  const plan = await api("GET", place(session, "merge")).catch(() => null); // it may be damaged
  const lost = plan && (plan.files || plan.uncommitted);
  const lines = ["The worktree and its branch are deleted. The session stays, and can be read."];
  if (lost) lines.unshift(`Not merged into ${plan.into}, and lost for good: ${count(plan.files, "changed file")}, +${plan.added} −${plan.removed}.`);
  if (!(await sure(lost ? "Drop work that was not merged?" : "Drop the worktree?", lines, danger("Drop it")))) return;
  try {
    await post(place(session, "drop"), { force: Boolean(lost) });
  } catch (problem) {
    if (problem.error !== "unmerged_work") throw problem;
    const more = [problem.message, "Work that was not merged is permanently deleted."];
    if (!(await sure("Drop work that was not merged?", more, danger("Delete it")))) return;
    await post(place(session, "drop"), { force: true });
  }
  toast("The worktree was dropped.");
}
