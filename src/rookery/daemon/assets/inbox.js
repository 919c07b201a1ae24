// The inbox: when an ask is answered, here or elsewhere, the next one slides in.
import { $, html, piece, when } from "./main.js";
import { morphInner } from "./morph.js";
import { subscribe } from "./stream.js";
import { key } from "./keys.js";
import { draw } from "./notify_form.js";
import { reach } from "./answers.js";

const host = $("#inbox");
let watched = null;
let busy = false;
let again = null;

const shown = () => $(".asking", host)?.dataset.at ?? "";

/** `at`: the ask to show; by default the one that is shown, as long as it is open. */
async function refresh(at = shown()) {
  if (busy) { again = at; return; }
  busy = true;
  try {
    const next = html(await piece(`/pieces/inbox?${new URLSearchParams(at ? { at } : {})}`));
    const before = shown();
    const after = $(".asking", next)?.dataset.at ?? "";
    if (before === after && before) {
      morphInner(host, next);
    } else {
      host.replaceChildren(next);
      if (after) {
        $(".asking", host).classList.add("comes");
        const card = $(".answers", host);
        if (card) reach(card);
      }
    }
    draw();
    watch();
  } catch (error) {
    if (error.status) console.warn(error.message);
  } finally {
    busy = false;
    if (again !== null) { const to = again; again = null; refresh(to); }
  }
}

/** The session of the ask that is shown: an answer from elsewhere is seen at once. */
function watch() {
  const { session, seq } = $(".asking", host)?.dataset ?? {};
  if (watched?.session === session) return;
  watched?.stream.close();
  watched = session ? {
    session,
    stream: subscribe(session, { form: "events", after: Number(seq), on: (kind, body) => {
      if (kind !== "events" || body.events.some(({ update }) => update.sessionUpdate === "_ask")) refresh();
    } }),
  } : null;
}

document.addEventListener("answered", () => refresh(""));
addEventListener("fleet", () => refresh());
when("ask", (link) => refresh(link.dataset.at));
const others = () => [...host.querySelectorAll(".others a")];
key("j", "Next question", () => { if (others()[0]) refresh(others()[0].dataset.at); }, { where: "Inbox" });
key("k", "Previous question", () => { if (others().at(-1)) refresh(others().at(-1).dataset.at); }, { where: "Inbox" });
key("Enter", "Open the session", () => { $(".from a", host)?.click(); }, { where: "Inbox", only: () => document.activeElement === document.body });
watch();
