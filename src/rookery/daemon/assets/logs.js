// What a session's agent and its worker wrote to stderr, in a window that follows them.
import { api, copy, element, told } from "./main.js";
import "./dialogs.js"; // its looks

const PAUSE = 2000;
const MOST = 400_000; // characters that are kept in sight
const OF = { agent: "The agent", worker: "The worker" };
const COLOURS = /\u001b\[[0-9;?]*[A-Za-z]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;

/** `of`: "agent" or "worker". */
export function show(session, of = "agent") {
  const text = element("pre", { class: "out", tabindex: 0, "aria-label": "Log" });
  const which = element("select", { "aria-label": "Which log" }, ...Object.entries(OF).map(([value, words]) => element("option", { value, selected: value === of }, words)));
  const button = (words, run) => {
    const made = element("button", { type: "button" }, words);
    made.addEventListener("click", () => Promise.resolve(run()).catch(told));
    return made;
  };
  const dialog = element("dialog", { class: "logs", "aria-label": "Logs" },
    element("div", { class: "head" }, element("h2", {}, "Logs"), which), text,
    element("div", { class: "buttons" }, button("Copy", () => copy(text.textContent)), button("Close", () => dialog.close())));
  let place = "", timer = 0, turn = 0;

  async function read() {
    clearTimeout(timer);
    const mine = turn;
    const said = await api("GET", `/api/v1/sessions/${encodeURIComponent(session)}/logs?${new URLSearchParams({ of: which.value, bytes: 262144, after: place })}`);
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
  dialog.addEventListener("close", () => { clearTimeout(timer); dialog.remove(); });
  document.body.append(dialog);
  dialog.showModal();
  text.focus();
  read().catch(told);
}
