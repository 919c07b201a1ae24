// The bar above a session: its clock, and what it says of the session.
import { $, $$, api, apiOf, command, element, readOnly, told, when } from "./main.js";
import { key } from "./keys.js";

export const session = document.body.dataset.session;
export const path = apiOf(session);
const GRACE = 5000;

/** What the bar knows: running, steers, agent, title, state … */
export const facts = () => $("#bar .bar")?.dataset ?? {};
export const readHeader = async () => (await api("GET", `${path}/header`)).header;

// --- the clock -----------------------------------------------------------------------------------

const began = Number($("#transcript")?.dataset.now ?? 0);
const skew = began ? Date.now() - began : 0; // of the two clocks
const SIZES = [[86400, "d", 3600, "h"], [3600, "h", 60, "min"], [60, "min", 1, "s"]];

/** `48 s`, `3 min 5 s`, `2 h`: as in every other face (core/units.py). */
function elapsed(milliseconds) {
  const all = Math.max(0, Math.floor(milliseconds / 1000));
  const found = SIZES.find(([size]) => all >= size);
  if (!found) return `${all} s`;
  const [size, unit, part, smaller] = found;
  const rest = Math.floor((all % size) / part);
  return `${Math.floor(all / size)} ${unit}${rest ? ` ${rest} ${smaller}` : ""}`;
}

/** Without a connection nobody knows: what is shown is what was last heard. */
function showLost() {
  const chip = $("#bar .now"), lost = document.body.hasAttribute("data-lost");
  if (!chip || "lost" in chip.dataset === lost) return;
  chip.toggleAttribute("data-lost", lost);
  if (lost) chip.prepend(element("span", { class: "lost" }, "last seen: "));
  else $(".lost", chip)?.remove();
}

function tick() {
  showLost();
  if (document.body.hasAttribute("data-lost")) return; // its clock stands
  const now = Date.now() - skew;
  for (const node of $$("#bar time")) {
    const { since, until } = node.dataset;
    const shown = since ? elapsed(now - since) : `in ${elapsed(until - now)}`;
    if (node.textContent !== shown) node.textContent = shown;
  }
}

const watchers = new Set();
/** Called now and whenever the bar changed. */
export function onBar(run) {
  watchers.add(run);
  run(facts());
}
/** How many others work in this directory, as the list of sessions counts them. */
function showOthers() {
  const chip = $("#bar .others");
  if (!chip) return;
  const count = Number($(".list")?.dataset.others ?? 0);
  const shown = count ? `${count} other${count === 1 ? "" : "s"} here` : "";
  if (chip.textContent !== shown) chip.textContent = shown;
  const tip = "They may change each other's files: move this session to a worktree of its own";
  if (chip.title !== tip) chip.title = tip;
  if (chip.hidden === Boolean(count)) chip.hidden = !count;
}

if ($("#bar")) {
  let before = "";
  addEventListener("fleet", showOthers);
  const changed = () => {
    tick();
    showOthers();
    const button = $("#bar [data-do=options]"), open = String($("#bar").classList.contains("open"));
    if (button && button.ariaExpanded !== open) button.ariaExpanded = open;
    const now = JSON.stringify(facts());
    if (now === before) return;
    before = now;
    for (const run of watchers) run(facts());
  };
  new MutationObserver(changed).observe($("#bar"), { subtree: true, childList: true, attributes: true });
  setInterval(tick, 1000);
  new MutationObserver(tick).observe(document.body, { attributes: true, attributeFilter: ["data-lost"] });
  changed();
}

// --- what is done here ---------------------------------------------------------------------------

export async function cancel() {
  if (!facts().running) return;
  offerForce();
  await command(session, { do: "cancel" });
}

/** Once an agent has had its time to react. */
function offerForce() {
  const turn = facts().turn;
  setTimeout(() => {
    const force = $(".composer .force");
    if (force && facts().running && facts().turn === turn) force.hidden = false;
  }, GRACE);
}
document.addEventListener("operated", ({ detail }) => { if (detail.name === "cancel" && detail.id === session) offerForce(); });

/** Why a turn may be ended by force: it goes on although it was stopped, or its agent is silent; "": it is healthy. */
export const isStuck = () => ($(".composer .force")?.hidden === false ? "Stop did not help" : facts().quiet ? "the agent is silent" : "");

when("cancel", cancel);
when("back", () => { if (innerWidth < 700) location.assign("/"); else document.body.toggleAttribute("data-column"); });
when("options", () => { $("#bar").classList.toggle("open"); });
document.addEventListener("click", (event) => {
  if (!event.target.closest?.("#bar, dialog")) $("#bar")?.classList.remove("open");
  if (!event.target.closest?.("#column, .back")) document.body.removeAttribute("data-column");
});

if (session && !readOnly) {
  key("Ctrl+.", "Stop the turn", () => cancel().catch(told), { where: "Session", typing: true });
}
