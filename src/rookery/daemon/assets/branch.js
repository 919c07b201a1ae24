// A session's worktree: made for it or for a fork, or merged. What would happen is said before anything is touched.
import { $, api, element, toast } from "./main.js";
import { sure } from "./dialogs.js";
import { work } from "./operations.js";

const WAYS = [["merge", "with a merge commit"], ["rebase", "by rebasing it"], ["squash", "as one commit"], ["apply", "as changes, without a commit"]];
const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

function refusal(words, files, again) {
  const more = files.length > 5 ? ` and ${files.length - 5} more` : "";
  const remedy = "Nothing was changed. Commit or stash them, then merge again.";
  toast(`${words}: ${files.slice(0, 5).join(", ")}${more}.`, { kind: "failed", remedy, action: { label: "Merge again", run: again } });
}

/** What a merge would do; its fingerprint goes with what is agreed to. */
export const planned = (session, how = "merge") => api("GET", `/api/v1/sessions/${encodeURIComponent(session)}/merge-plan?how=${how}`);

/** A field for the message of the commit that a merge makes; it is shown where one is made. `plan()`: what is shown, once it is. */
export function messageField(session, first, how = null) {
  const text = element("textarea", { name: "message", rows: 4 });
  const field = element("label", { class: "message" }, "Commit message ", text);
  let plan, draft = "";
  const show = (next) => {
    plan = next;
    if (text.value === draft) text.value = next.message;
    draft = next.message;
    field.hidden = !draft;
  };
  show(first);
  let shown = Promise.resolve();
  how?.addEventListener("change", () => { shown = planned(session, how.value).then(show); });
  return { field, plan: async () => { await shown; return plan; }, message: () => (field.hidden || text.value === draft ? "" : text.value) };
}

/** The agent may resolve conflicts in its own worktree. */
async function resolve(session, plan) {
  const lines = [`${count(plan.conflicts.length, "file")} in conflict with ${plan.into}: ${plan.conflicts.slice(0, 5).join(", ")}. Nothing was changed.`,
    "The agent can resolve it in its worktree; then merge again."];
  if (!(await sure("The work conflicts", lines, "Have the agent resolve it"))) return;
  await api("POST", `/api/sessions/${encodeURIComponent(session)}/prompt`, { text: plan.resolution });
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

/** `whose`: in the question. `begun`: what was typed. Whether it was merged. */
export async function merge(session, whose = "this session", begun = {}) {
  const first = await planned(session, begun.how);
  if (await hindered(session, first, () => merge(session, whose, begun))) return undefined;
  if (!first.files && !first.commits) return toast("Nothing to merge: the session changed nothing.");
  const how = element("select", { name: "how" }, ...WAYS.map(([value, words]) => element("option", { value, selected: value === first.how }, words)));
  const keep = element("input", { type: "checkbox", name: "keep", checked: begun.keep });
  const { field, plan, message } = messageField(session, first, how);
  if (begun.message) $("textarea", field).value = begun.message;
  const given = await sure(`Merge the work of ${whose}?`, brings(first), "Merge",
    element("label", { class: "pick" }, "How ", how), field,
    element("label", { class: "check" }, keep, "Keep the worktree and its branch"));
  if (!given) return undefined;
  const { fingerprint } = await plan();
  const sent = { how: given.get("how"), message: message(), keep: Boolean(given.get("keep")), fingerprint };
  const done = await work(`/api/v1/sessions/${encodeURIComponent(session)}/merge`, sent, (lines) => sure("Merge?", lines, "Merge"));
  if (done) toast(done.summary);
  return Boolean(done);
}

/** Away from others that work in the same directory. */
export async function move(session, running, begun = {}) {
  const lines = ["It goes on in a git worktree of its own, with copies of the files that it changed. Merge brings its work back."];
  if (running) lines.push("The running turn is cancelled; your next prompt continues there.");
  if (!(await sure("Move this session to a worktree?", lines, running ? "Cancel the turn and move" : "Move"))) return;
  const done = await work(`/api/v1/sessions/${encodeURIComponent(session)}/move`, { ...begun, cancel: Boolean(running) });
  toast(done.summary);
}

/** A new session with the turns up to one; left out: the last. */
export async function fork(session, begun = {}) {
  const { turn = "" } = begun;
  const lines = [`A new session begins with the turns up to ${turn === "" ? "the last" : "this one"}. Both work in the same directory, unless the new one gets a worktree.`];
  const own = element("input", { type: "checkbox", name: "worktree", checked: begun.worktree });
  const agreed = await sure(turn === "" ? "Fork the session?" : `Fork at turn ${turn}?`, lines, "Fork",
    element("label", { class: "check" }, own, "In a git worktree of its own, with the files as they were then"));
  if (!agreed) return;
  const made = await work(`/api/v1/sessions/${encodeURIComponent(session)}/fork`, { ...begun, worktree: Boolean(agreed.get("worktree")) });
  location.assign(`/sessions/${made.id}`);
}
