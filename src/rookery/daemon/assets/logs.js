// What a session's agent and its worker wrote to stderr, in a window that follows them.
import { api, apiOf, element, told } from "./main.js";
import { show as window } from "./dialogs.js";

const PAUSE = 2000;
const MOST = 400_000; // characters that are kept in sight
const OF = { agent: "The agent", worker: "The worker" };
const COLOURS = /\u001b\[[0-9;?]*[A-Za-z]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;

/** `of`: "agent" or "worker". */
export function show(session, of = "agent") {
  const which = element("select", { "aria-label": "Which log" }, ...Object.entries(OF).map(([value, words]) => element("option", { value, selected: value === of }, words)));
  const { dialog, text } = window("Logs", "", which);
  let place = "", timer = 0, turn = 0;

  async function read() {
    clearTimeout(timer);
    const mine = turn;
    const said = await api("GET", `${apiOf(session)}/logs?${new URLSearchParams({ of: which.value, bytes: 262144, after: place })}`);
    const news = said.text.replace(COLOURS, "");
    if (mine !== turn || !dialog.open) return;
    const follows = text.scrollHeight - text.scrollTop - text.clientHeight < 24;
    const known = place;
    place = said.place;
    if (!known || news) text.textContent = ((known ? text.textContent : "") + news).slice(-MOST) || "The log is empty.";
    if (follows || !known) text.scrollTop = text.scrollHeight;
    timer = setTimeout(() => read().catch(() => {}), PAUSE);
  }
  which.addEventListener("change", () => { turn += 1; place = ""; text.textContent = ""; read().catch(told); });
  dialog.addEventListener("close", () => clearTimeout(timer));
  read().catch(told);
}
