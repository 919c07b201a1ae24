// Answers to asks, loaded with the first one: one key or one tap. What cannot be undone is held or typed, what is allowed for
// good shows its rule first.
import { $, $$, command, copy, element, say, toast, told, when } from "./main.js";
import { given } from "./fields.js";
import { isTyping, key } from "./keys.js";

const FIRST = 700; // milliseconds for which a new card takes no key
const PAUSE = 250; // an answer is a letter that stands alone
const QUIET = 1000; // without a key: nobody is typing
const HOLD = 1000;
const WORD = "allow";
const seen = new Map();
const cards = document.getElementsByClassName("answers");
let chosen = 0;

// --- cards come and go ---------------------------------------------------------------------------

const idOf = (card) => `${card.dataset.session} ${card.dataset.ask} ${card.dataset.nonce}`;

function notice() {
  if (alone && !$(".answers", alone)) giveBack(); // answered elsewhere
  for (const card of cards) {
    if (seen.has(idOf(card))) continue;
    seen.set(idOf(card), performance.now());
    takeFocus(card);
  }
}
function restartTimes() {
  if (!document.hidden) for (const id of seen.keys()) seen.set(id, performance.now());
}
/** `at`: when the cards came that are there already. */
export function begin(at) {
  for (const card of cards) {
    seen.set(idOf(card), at);
    takeFocus(card);
  }
  new MutationObserver(notice).observe($("#main"), { childList: true, subtree: true });
  document.addEventListener("visibilitychange", restartTimes);
}

const open = () => [...cards].filter((card) => !card.dataset.sent && card.offsetParent);

/** The card that keys are for: the one with the focus, else the first that is still open. */
function current() {
  const here = document.activeElement?.closest?.(".answers, .card.asked, .asking");
  const card = here && (here.matches(".answers") ? here : $(".answers", here));
  return card && !card.dataset.sent ? card : open()[0];
}

const inView = (card) => {
  const { top, bottom } = card.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
};

/** Brings a card to the reader, and the keys to the card. */
export function reach(card) {
  const around = card.closest(".card") ?? card;
  around.scrollIntoView({ block: "nearest" });
  around.tabIndex = -1;
  around.focus({ preventScroll: true });
}

// --- sending -------------------------------------------------------------------------------------

/** Sends an answer; resolves to its outcome, or false where it did not count. */
async function send(card, said) {
  if (card.dataset.sent) return false;
  const { session, ask, nonce } = card.dataset;
  card.dataset.sent = "1";
  card.setAttribute("aria-busy", "true");
  try {
    const outcome = await command(session, { do: "answer", ask, nonce, ...said });
    if (outcome.kind === "_done" && /already/.test(outcome.update.detail)) { elsewhere(card, outcome.update.by); return false; }
    if (said.defer) { delete card.dataset.sent; toast("It stays open. The agent waits for your answer."); }
    over();
    return outcome;
  } catch (error) {
    delete card.dataset.sent;
    if (/wrong_nonce|unknown_ask|answered/.test(error.error ?? "")) { elsewhere(card); return false; }
    const wrong = $(".wrong.failed", card);
    if (!wrong) throw error;
    Object.assign(wrong, { hidden: false, textContent: error.message });
    return false;
  } finally {
    card.removeAttribute("aria-busy");
  }
}

/** The card itself may be gone by now. */
const over = () => document.dispatchEvent(new Event("answered"));

const WHERE = { web: "in another window", terminal: "in the terminal", cli: "on the command line", acp: "in an editor" };

function elsewhere(card, by = "") {
  card.dataset.sent = "late";
  const [, face, device, person] = /^(\w+):\S+(?: ([^|]+?))?(?: \| (.+))?$/.exec(by) ?? ["", by];
  const unnamed = device === "unnamed"; // senders.py
  const who = [person, unnamed ? "" : device].filter(Boolean).join(", ");
  toast(`This was already answered${who ? ` (${who})` : unnamed ? " on another device" : by ? ` ${WHERE[face] ?? `by ${by}`}` : ""}.`);
  over();
}

// --- second steps --------------------------------------------------------------------------------

function back(card) {
  delete card.dataset.keep;
  $(".step", card)?.remove();
  for (const node of $$(":scope > .ways, :scope > .wider", card)) node.hidden = false;
}

/** In the place of the buttons: words, perhaps a field, and what goes on. */
function step(card, node) {
  back(card);
  card.dataset.keep = "1"; // what is written here outlives a new rendering
  for (const node of $$(":scope > .ways, :scope > .wider", card)) node.hidden = true;
  card.append(node);
  ($("input, textarea, button", node) ?? node).focus();
}

const leave = (card) => {
  const button = element("button", { type: "button", class: "quiet" }, "Back", " ", element("kbd", {}, "Esc"));
  button.addEventListener("click", () => { back(card); reach(card); });
  return button;
};

function form(card, inner, run) {
  const made = element("form", { class: "step" }, ...inner);
  made.addEventListener("submit", async (event) => {
    event.preventDefault();
    try { await run(made, event.submitter); } catch (error) { told(error); }
  });
  made.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    back(card);
    reach(card);
  });
  step(card, made);
}

function why(card, button, said) {
  const { question, no } = button.dataset;
  const needs = "needs" in button.dataset;
  const field = element("textarea", { rows: 2, "aria-label": question, placeholder: `${question}${needs ? "" : " Optional; sent to the agent"}`, ...(needs ? { required: true } : {}) });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); field.form.requestSubmit(); }
  });
  const ways = element("div", { class: "ways" }, element("button", { class: "primary" }, no), leave(card));
  form(card, [field, ways], () => send(card, { ...said, ...(field.value.trim() ? { reason: field.value.trim() } : {}) }));
}

/** What is between backticks as code. */
const coded = (text) => text.split("`").map((part, at) => (at % 2 ? element("code", {}, part) : part));

/** What is allowed from now on: one of several, each with what it reaches; `digit` chooses one. */
function always(card, button, digit = "") {
  const choices = JSON.parse(button.dataset.lasting);
  const first = choices.find((each) => each.digit === digit) ?? choices[0];
  const rows = choices.map((each, at) => element("label", {},
    element("input", { type: "radio", name: "lasting", value: at, checked: each === first }),
    element("span", {}, ...coded(each.label), ...(each.words ? [element("small", {}, ...coded(each.words))] : []))));
  const list = element("fieldset", { class: "lasting" }, element("legend", {}, "From now on, allow without asking:"), ...rows);
  const edit = element("button", { name: "edit", value: "1" }, "Always allow, then edit the rule");
  const ways = element("div", { class: "ways" }, element("button", { class: "primary" }, "Always allow"), edit, leave(card));
  const chosen = () => choices[new FormData(list.form).get("lasting")];
  const fit = () => { edit.hidden = !chosen().rule; }; // of the agent's own, there is nothing to edit
  form(card, [list, ways], async (made, by) => {
    const outcome = await send(card, chosen().answer);
    const { rule } = outcome?.update ?? {};
    if (by === edit && rule) location.assign(`/settings/rules/edit?${new URLSearchParams({ name: rule })}`);
  });
  list.addEventListener("change", fit);
  fit();
  $("button", ways).focus();
}

/** Allows it, and asks less from now on in this session. */
async function less(card, button) {
  if (!await send(card, saidOf(button))) return;
  await command(card.dataset.session, { do: "set", option: "confirm", value: button.dataset.mode });
}

/** One answer to all that are alike, once they are shown: each is sent for itself. */
function alike(card, button) {
  const { verdict } = button.dataset;
  const same = JSON.parse(button.dataset.same);
  const words = `${verdict === "allow" ? "Allow" : "Reject"} these ${same.length} once`;
  const listed = element("ol", {}, ...same.map(({ text }) => element("li", {}, element("pre", { class: "out", tabindex: 0 }, text))));
  const ways = element("div", { class: "ways" }, element("button", { class: "primary" }, words), leave(card));
  form(card, [listed, ways], async () => {
    const { session } = card.dataset;
    card.dataset.sent = "1";
    try {
      for (const { ask, nonce, [verdict]: option } of same) {
        await command(session, { do: "answer", ask, nonce, option });
      }
      over();
    } catch (error) {
      delete card.dataset.sent;
      throw error;
    }
  });
  $("button", ways).focus();
}

function danger(card, said) {
  const field = element("input", { autocomplete: "off", autocapitalize: "off", spellcheck: "false", "aria-label": `Type ${WORD} to confirm` });
  const go = element("button", { class: "danger", disabled: true }, "Allow it");
  const right = () => field.value.trim().toLowerCase() === WORD;
  field.addEventListener("input", () => { go.disabled = !right(); });
  const words = element("label", {}, "Type ", element("strong", {}, WORD), " to confirm. ", field);
  form(card, [words, element("div", { class: "ways" }, go, leave(card))], () => (right() ? send(card, said) : undefined));
}

// --- buttons -------------------------------------------------------------------------------------

const saidOf = (button) => JSON.parse(button.dataset.answer);

function press(button) {
  const card = button.closest(".answers");
  if (button.dataset.do === "answer-why") return why(card, button, saidOf(button));
  if ("danger" in button.dataset) return danger(card, saidOf(button));
  return send(card, saidOf(button));
}

let held = null;
when("answer", (button) => (held?.done ? undefined : press(button)));
when("answer-why", press);
when("answer-always", (button) => always(button.closest(".answers"), button, button.dataset.by));
when("answer-mode", (button) => less(button.closest(".answers"), button));
when("answer-open", press); // the browser opens it
when("copy-link", async (button) => {
  await copy(button.dataset.text);
  toast("Copied.");
});
when("answer-alike", (button) => alike(button.closest(".answers"), button));
when("answer-no", (button) => send(button.closest(".answers"), { action: button.dataset.action }));
when("answer-form", (card) => {
  Object.assign($(".wrong.failed", card), { hidden: true });
  return send(card, { action: "accept", content: given(card) });
});

// Held for a second: the tap that confirms. A shorter one asks for the word.
document.addEventListener("pointerdown", (event) => {
  const button = event.target.closest?.("button[data-do=answer][data-danger]");
  if (!button || event.button) return;
  held = { button, done: false };
  button.classList.add("held");
  held.timer = setTimeout(() => {
    held.done = true;
    button.classList.remove("held");
    send(button.closest(".answers"), saidOf(button)).catch(told);
  }, HOLD);
});
for (const name of ["pointerup", "pointercancel", "pointerleave", "contextmenu"]) {
  document.addEventListener(name, (event) => {
    if (!held || (name === "pointerleave" && event.target !== held.button)) return;
    clearTimeout(held.timer);
    held.button.classList.remove("held");
    if (name === "contextmenu") event.preventDefault();
    const was = held;
    setTimeout(() => { if (held === was) held = null; }); // after the click that follows
  }, true);
}

// --- keys ----------------------------------------------------------------------------------------

const isEarly = (card) => performance.now() - (seen.get(idOf(card)) ?? 0) < FIRST;
/** What is no answer, but has a key on a card. */
const BESIDE = {
  c: (card) => $("[data-do=copy-link]", card),
  e: (card) => $(".explain > summary", card.closest(".card") ?? card),
  f: (card) => card.matches(".fields") && $("input, textarea, select", card),
};
const buttonOf = (card, letter) =>
  $$("[data-key]", card).find((each) => (each.dataset.key === letter || each.dataset.digit?.split(" ").includes(letter)) && !each.disabled)
  ?? (BESIDE[letter]?.(card) || undefined);

/** Takes back the letter that is about to answer. */
function drop() {
  clearTimeout(chosen);
  chosen = 0;
  const button = $(".chosen"), letter = button?.dataset.by ?? "";
  button?.classList.remove("chosen");
  delete button?.dataset.by;
  return letter;
}

function choose(letter) {
  const card = current();
  const button = card && buttonOf(card, letter);
  if (!button || $(".step", card) || isEarly(card)) return;
  if (!inView(card)) { reach(card); return; }
  drop();
  button.classList.add("chosen");
  button.dataset.by = letter;
  chosen = setTimeout(() => {
    drop();
    if (!button.isConnected) return;
    button.dataset.by = letter;
    if (button.matches("input, textarea, select")) button.focus();
    else button.click();
    delete button.dataset.by;
  }, PAUSE);
}

// --- while somebody writes -----------------------------------------------------------------------
// A card takes the focus from an empty composer when nobody types, so that one key answers it. What
// is no answer after all goes back to where it was meant for.

const composer = () => $("#composer textarea");
let alone = null; // the card that took the focus by itself
let typed = -QUIET;

function takeFocus(card) {
  const field = composer();
  if (!card.isConnected || card.dataset.sent || alone || !field || document.activeElement !== field) return;
  const idle = !field.value && performance.now() - typed >= QUIET;
  if (!idle || !inView(card) || !matchMedia("(pointer: fine)").matches) { setTimeout(takeFocus, 250, card); return; }
  alone = card.closest(".card") ?? card;
  seen.set(idOf(card), performance.now());
  reach(card);
}

function write(text) {
  const field = composer();
  alone = null;
  if (!field) return;
  field.focus();
  field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
  field.dispatchEvent(new Event("input", { bubbles: true }));
  if (open()[0]) setTimeout(takeFocus, QUIET, open()[0]); // once that is sent, or gone
}

addEventListener("keydown", (event) => {
  if (isTyping(event.target)) { typed = performance.now(); return; }
  if (event.key.length > 1 || event.ctrlKey || event.metaKey || event.altKey) return;
  let text = "";
  if (chosen) { // a letter that follows another belongs to a text
    const was = drop();
    text = was + event.key;
  } else if (alone && alone === document.activeElement) {
    const card = current();
    if (!card || !buttonOf(card, event.key) || isEarly(card)) text = event.key;
  }
  if (!text) return;
  event.preventDefault();
  event.stopPropagation();
  typed = performance.now();
  write(text);
}, true);
/** To where it was taken from. */
function giveBack() {
  const lost = !document.activeElement || document.activeElement === document.body || alone?.contains(document.activeElement);
  if (alone && lost) composer()?.focus({ preventScroll: true });
  alone = null;
}
document.addEventListener("answered", giveBack);

const asked = () => open().length > 0;
for (const [letter, words] of [["y", "Allow once"], ["a", "Always allow; shows the rule first"], ["n", "Reject"], ["r", "Reject, and say why"],
  ["m", "Yes, and …: allow it, and tell the agent something with it"], ["Y", "Allow all that are alike; shows them first"], ["N", "Reject all that are alike; shows them first"]]) {
  key(letter, words, () => choose(letter), { where: "Asks", only: asked });
}
for (let digit = 1; digit < 10; digit++) {
  key(String(digit), digit === 1 ? "1–9: the agent's own options" : "", () => choose(String(digit)), { where: "Asks", only: asked });
}
const focused = () => Boolean(document.activeElement?.closest?.(".answers, .card.asked, .asking")) && asked();
for (const [letter, words] of [["d", "Decide later: it stays open"], ["w", "Allow, and ask when risky from now on"], ["p", "Allow, and approve all from now on"],
  ["f", "Fill in the form"], ["x", "Decline the form"], ["c", "Copy the address"]]) {
  key(letter, words, () => choose(letter), { where: "On an ask", only: () => focused() && buttonOf(current(), letter) });
}
key("e", "What the ask would do", () => choose("e"), { where: "Asks", only: asked });
key("o", "Go to the next open ask", () => {
  const all = open();
  const at = all.indexOf(current());
  const next = all[document.activeElement === document.body ? 0 : (at + 1) % all.length];
  if (next) { reach(next); say(next.closest(".card")?.querySelector("strong")?.textContent ?? "An ask"); }
}, { where: "Asks", only: asked });
