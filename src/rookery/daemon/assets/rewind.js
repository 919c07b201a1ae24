// A rewind, or its undoing: what it would do is shown before anything is touched, and asked again if files changed meanwhile.
import { api, element, toast, uid } from "./main.js";
import { sure } from "./dialogs.js";

const SIGNS = { created: "+", changed: "~", removed: "−" };
const SHOWN = 50;
const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

/** `turn`: null undoes the last rewind. Resolves to what was rewound: "both", "files", "conversation", or nothing.
 * `title`: of the question; `begins` and `fails` are called before it is done, and where it was not. */
export async function rewind(session, turn, { title = "", begins = () => {}, fails = () => {} } = {}) {
  const place = `/api/v1/sessions/${encodeURIComponent(session)}`, asked = turn === null ? "" : `?turn=${turn}`;
  let again = "";
  for (;;) {
    const plan = await api("GET", `${place}/rewind-preview${asked}`);
    if (!(plan.undo || plan.total || plan.hides || plan.shows)) return void toast(`Nothing would change: this is how it was after ${where(plan)}.`);
    const running = (await header(place)).state !== "idle";
    const given = await ask(plan, again, title, running);
    if (!given) return undefined;
    const parts = given.get("parts") ?? (plan.target ? "both" : "conversation");
    const body = { id: uid(), do: "rewind", files: parts !== "conversation", conversation: parts !== "files" };
    Object.assign(body, plan.undo ? { undo: true } : { turn });
    if (body.files) body.fingerprint = given.get("all") ? plan.fingerprint : plan.own_fingerprint;
    try {
      if (running) await cancelled(place);
      begins();
      await api("POST", `${place}/commands`, body);
      toast(plan.undo ? "The rewind was undone." : `Rewound to ${where(plan)}.`);
      return parts;
    } catch (problem) {
      if (problem.status) fails(); // without an answer it may have been done: the page is loaded anew then
      if (problem.error !== "changed") throw problem;
      again = problem.message;
    }
  }
}

const header = async (place) => (await api("GET", `${place}/header`)).header;

/** The running turn is ended first. */
async function cancelled(place) {
  await api("POST", `${place}/commands`, { id: uid(), do: "cancel" });
  for (let tries = 0; tries < 120; tries++) {
    if ((await header(place)).state === "idle") return;
    await new Promise((settle) => setTimeout(settle, 500));
  }
  throw new Error("The turn did not end: nothing was rewound.");
}

const where = (plan) => (plan.turn ? `turn ${plan.turn}` : "the beginning");

function ask(plan, again, asked, running) {
  const others = plan.total - (plan.totals.own ?? 0);
  const all = element("input", { type: "checkbox", name: "all" });
  const parts = element("select", { name: "parts" },
    element("option", { value: "both" }, "files and conversation"),
    element("option", { value: "files" }, "only the files"),
    element("option", { value: "conversation" }, "only the conversation"));
  const files = element("div", { class: "rewind-files" }, ...Object.entries(plan.words.groups).map(([by, title]) => group(plan, by, title)));
  if (plan.words.left.length) {
    files.append(element("section", { class: "soft" }, element("h3", {}, "Never touched"),
      ...plan.words.left.map((line) => element("p", { dir: "auto" }, line))));
  }
  const sum = element("p", {}, plan.words.files);
  const fields = [sum];
  if (plan.target) fields.push(element("label", { class: "pick" }, plan.undo ? "Bring back " : "Rewind ", parts));
  if (files.childElementCount) fields.push(files);
  if (others) fields.push(element("label", { class: "check" }, all, `Also the ${count(others, "file")} that this session did not change alone`));
  const talk = element("p", {}, plan.words.conversation);
  fields.push(talk);
  const title = asked || (plan.undo ? "Undo the rewind?" : `Rewind to ${where(plan)}?`);
  const lines = [...(again ? [again] : []), ...(asked ? [`The session is rewound to ${where(plan)}; then the prompt is in the field.`] : []),
    ...(running ? ["The running turn is cancelled first."] : []), ...plan.notes];
  const label = () => {
    const number = all.checked ? plan.total : plan.totals.own ?? 0;
    const named = [...(plan.target && parts.value !== "conversation" ? [count(number, "file")] : []),
      ...(parts.value === "files" ? [] : ["the conversation"])];
    return `${plan.undo ? "Bring back" : "Rewind"} ${named.join(" and ")}`;
  };
  const answer = sure(title, lines, label(), ...fields);
  const form = talk.closest("form");
  const draw = () => {
    form.querySelector("[value=yes]").textContent = label();
    sum.textContent = all.checked ? `${count(plan.total, "file")} would change.` : plan.words.files;
    files.classList.toggle("all", all.checked);
    for (const node of [sum, files, all.parentElement]) if (node) node.hidden = parts.value === "conversation";
    talk.hidden = parts.value === "files";
  };
  form.addEventListener("change", draw);
  draw();
  return answer;
}

function group(plan, by, title) {
  const found = plan.changes.filter((each) => each.by === by);
  const rest = (plan.totals[by] ?? 0) - Math.min(found.length, SHOWN);
  return element("section", { class: `by-${by}` },
    element("h3", {}, title, ...(by === "own" ? [] : [element("small", {}, " left alone")])),
    element("ul", {}, ...found.slice(0, SHOWN).map((each) => element("li", { class: each.kind },
      element("span", { "aria-label": each.kind }, SIGNS[each.kind] ?? "~"), element("code", { dir: "auto" }, each.path))),
      ...(rest > 0 ? [element("li", {}, `… and ${count(rest, "more file")}`)] : [])));
}
