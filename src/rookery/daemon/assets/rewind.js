// A rewind, or its undoing: what it would do is shown before anything is touched, and again if files changed meanwhile.
import { api, apiOf, command, toast } from "./main.js";
import { perform } from "./operations.js";

/** `turn`: null undoes the last rewind. Resolves to what was rewound: "both", "files", "conversation", or nothing.
 * `title`: of the question; `begins` and `fails` are called before it is done, and where it was not. */
export async function rewind(session, turn, { title = "", begins = () => {}, fails = () => {} } = {}) {
  const undo = turn === null;
  const running = (await header(session)).state !== "idle", to = turn ? `turn ${turn}` : "the beginning";
  const lines = [...(title ? [`The session is rewound to ${to}; then the prompt is in the field.`] : []), ...(running ? ["The running turn is cancelled first."] : [])];
  let parts = "both";
  const before = async ({ files, conversation }) => {
    parts = Boolean(files) === Boolean(conversation) ? "both" : files ? "files" : "conversation";
    if (running) await cancelled(session);
    begins();
  };
  const question = { title: title || (undo ? "Undo the rewind?" : `Rewind to ${to}?`), label: undo ? "Undo the rewind" : "Rewind", lines, fields: ["files", "conversation", "all"], before };
  try {
    const done = await perform("rewind", session, undo ? { undo } : { turn }, question);
    if (!done) return void fails();
  } catch (problem) {
    if (problem.status) fails(); // without an answer it may have been done: the page is loaded anew then
    throw problem;
  }
  toast(undo ? "The rewind was undone." : `Rewound to ${to}.`);
  return parts;
}

const header = async (session) => (await api("GET", `${apiOf(session)}/header`)).header;

/** The running turn is ended first. */
async function cancelled(session) {
  await command(session, { do: "cancel" });
  for (let tries = 0; tries < 120; tries++) {
    if ((await header(session)).state === "idle") return;
    await new Promise((settle) => setTimeout(settle, 500));
  }
  throw new Error("The turn did not end: nothing was rewound.");
}
