// What can be done at a prompt: it is edited and sent again, the session is rewound to before it, or forked there.
import { $, api, apiOf, copy, toast } from "./main.js";
import { ask } from "./device.js";
import { menu } from "./dialogs.js";
import { choose } from "./choices.js";
import { rewind } from "./rewind.js";

const session = document.body.dataset.session;
const path = apiOf(session);
const KEPT = `edit.${session}`;

/** The menu of a prompt in the transcript. */
export async function open(button) {
  const block = button.closest(".block");
  const [, turn, seq] = /^b(\d+)\.(\d+)/.exec(block.id).map(Number);
  const { events: [event] } = await api("GET", `${path}/events?seqs=${seq}`);
  if (!event) return toast("This prompt is no longer in the log.");
  const { steered } = event.update, text = $(".said", block)?.textContent ?? "";
  const before = turn > 1 ? `to the end of turn ${turn - 1}` : "to the beginning";
  menu(button, `Prompt of turn ${turn}`, [
    steered ? { label: "Edit and send as a new prompt", run: () => put({ turn, ...given(event) }) }
      : { label: "Edit and send again", more: "the session is rewound to before it", run: () => edit(turn, event, text) },
    { label: "Rewind to before this prompt", more: before, run: () => rewind(session, turn - 1) },
    { label: "Fork here", more: `a new session with the turns up to ${turn}`, run: () => choose("fork", { id: session }, { turn }) },
    { label: "Copy the text", run: () => copy(text) },
  ]);
}

/** The session's menu: to which turn. */
export async function chooseTurn(anchor) {
  const [{ turns }, { header }] = await Promise.all([api("GET", `${path}/rewinds`), api("GET", `${path}/header`)]);
  const seen = turns.filter((each) => !each.hidden).reverse();
  if (!seen.length) return toast("Nothing to rewind yet.");
  menu(anchor, "Rewind to the end of", [
    ...(header.rewound ? [{ label: "Undo the last rewind", run: () => rewind(session, null) }] : []),
    ...seen.map(({ turn, prompt, at, files, passed }) => ({
      label: turn ? `${turn}  ${(prompt ?? "").slice(0, 80)}` : "The beginning",
      more: [at ? new Date(at).toLocaleString() : "", ...(files ? [] : [`conversation only${passed ? ", passed over" : ""}`])].filter(Boolean).join(", "),
      run: () => rewind(session, turn),
    })),
  ]);
}

// --- edited and sent again -----------------------------------------------------------------------

async function promptOf(turn) {
  const { first } = await api("GET", `${path}/turns?turn=${turn}`);
  const { events } = await api("GET", `${path}/events?seqs=${first}`);
  return events.find((each) => each.update.sessionUpdate === "_prompt");
}

export async function editLast() {
  const { header } = await api("GET", `${path}/header`);
  const event = header.turn ? await promptOf(header.turn) : null;
  return event ? edit(header.turn, event) : toast("There is no prompt to edit yet.");
}

/** What the field gets of a prompt: its text, its files, and what it names. `shown`: of one that an agent told again. */
function given({ update }, shown = "") {
  const blocks = update.prompt ?? [{ type: "text", text: shown }];
  return {
    text: blocks.filter((each) => each.type === "text").map((each) => each.text).join("\n"),
    mentions: blocks.filter((each) => each.type === "resource_link" && each.name).map((each) => each.name),
    files: blocks.flatMap((each) => {
      const kept = each.type === "image" ? each.blob : each.resource?.kept;
      const name = each.name ?? each.resource?.uri?.split("/").pop() ?? "image.png";
      return kept ? [{ name: decodeURIComponent(name), blob: kept, type: each.mimeType ?? each.resource?.mimeType ?? "" }] : [];
    }),
  };
}

/** A rewind of the conversation loads the page anew: what is edited waits for that. */
async function edit(turn, event, shown = "") {
  const prompt = { turn, ...given(event, shown) };
  const keep = () => { try { sessionStorage.setItem(KEPT, JSON.stringify(prompt)); } catch { /* no storage */ } };
  const parts = await rewind(session, turn - 1, { title: "Edit and send again?", begins: keep, fails: forget });
  if (parts === "files") { forget(); await put(prompt); }
}
const forget = () => { try { sessionStorage.removeItem(KEPT); } catch { /* no storage */ } };

export async function restore() {
  const prompt = JSON.parse(sessionStorage.getItem(KEPT));
  forget();
  await put(prompt);
}

/** Without a rewind: of a turn that left nothing to take back. */
export async function putTurn(turn) {
  const event = await promptOf(turn);
  return event ? put({ turn, ...given(event) }) : toast("This prompt is no longer in the log.");
}

async function put({ turn, text, mentions, files }) {
  const found = await Promise.all(files.map(async ({ name, blob, type }) => {
    const answer = await ask(`${path}/blobs/${blob}`);
    return answer.ok ? new File([await answer.blob()], name, { type }) : null;
  }));
  const detail = { text, mentions, files: found.filter(Boolean), edits: turn, before: true };
  document.dispatchEvent(new CustomEvent("put-prompt", { detail }));
}
