// A worktree of its own for a session, away from others that work in the same directory, or for a fork of it.
import { element, screenOf, toast } from "./main.js";
import { sure } from "./dialogs.js";
import { perform } from "./operations.js";

export async function move(session, running, begun = {}) {
  const lines = ["It goes on in a git worktree of its own, with copies of the files that it changed. Merge brings its work back."];
  if (running) lines.push("The running turn is cancelled; your next prompt continues there.");
  if (!(await sure("Move this session to a worktree?", lines, running ? "Cancel the turn and move" : "Move"))) return;
  const { summary } = await perform("move", session, { ...begun, cancel: Boolean(running) });
  toast(summary);
}

/** A new session with the turns up to one; left out: the last. */
export async function fork(session, begun = {}) {
  const { turn = "" } = begun;
  const lines = [`A new session begins with the turns up to ${turn === "" ? "the last" : "this one"}. Both work in the same directory, unless the new one gets a worktree.`];
  const own = element("input", { type: "checkbox", name: "worktree", checked: begun.worktree });
  const agreed = await sure(turn === "" ? "Fork the session?" : `Fork at turn ${turn}?`, lines, "Fork",
    element("label", { class: "check" }, own, "In a git worktree of its own, with the files as they were then"));
  if (!agreed) return;
  const made = await perform("fork", session, { ...begun, worktree: Boolean(agreed.get("worktree")) });
  location.assign(screenOf(made.id));
}
