// The screen for a new session.
import { $, api, copy, kept, toast, uid, when } from "./main.js";
import { complete } from "./complete.js";
import "./keys.js";

const form = $("form.new");
const coarse = matchMedia("(pointer: coarse)");
let tried = { body: "", key: "" };

/** Of the same request the same key: sent again after a break, it makes one session. */
function keyOf(body) {
  if (body !== tried.body) tried = { body, key: uid() };
  return tried.key;
}

async function create() {
  const given = new FormData(form);
  const body = Object.fromEntries(["cwd", "agent", "confirm", "prompt"].map((name) => [name, String(given.get(name) ?? "")]));
  body.cwd = body.cwd.trim().replace(/(.)\/+$/, "$1");
  const button = $("button.primary", form);
  button.disabled = true;
  $(".wrong", form).hidden = true;
  try {
    const { id } = await api("POST", "/api/sessions", body, { headers: { "Idempotency-Key": keyOf(JSON.stringify(body)) } });
    kept.set("new.prompt", "");
    location.assign(`/sessions/${encodeURIComponent(id)}`);
  } catch (problem) {
    button.disabled = false;
    const box = $(".wrong", form);
    box.replaceChildren(...[problem.message, problem.remedy].filter(Boolean).map((words) => {
      const line = document.createElement("p");
      line.textContent = words;
      return line;
    }));
    box.hidden = false;
    if (problem.error === "no_directory") form.elements.cwd.focus();
  }
}

function begin() {
  const { prompt, cwd } = form.elements;
  complete(cwd, cwd.closest(".field"), (before) => ({
    from: 0,
    rows: before ? api("GET", `/api/directories?${new URLSearchParams({ prefix: before })}`)
      .then(({ directories }) => directories.map((place) => ({ label: place, insert: place, run: () => choose(place) }))) : [],
  }));
  function choose(place) {
    cwd.value = place;
    cwd.dispatchEvent(new Event("input", { bubbles: true })); // what is in it comes next
  }
  prompt.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || event.altKey) return;
    if (!(event.ctrlKey || event.metaKey || event.shiftKey === coarse.matches)) return;
    event.preventDefault();
    form.requestSubmit();
  });
  prompt.addEventListener("input", () => kept.set("new.prompt", prompt.value));
  if (!prompt.value) prompt.value = kept.get("new.prompt") ?? "";
  when("create", create);
  when("directory", (button) => { cwd.value = button.textContent; prompt.focus(); });
  when("copy-line", async (button) => {
    await copy($("code", button.closest("li")).textContent);
    toast("Copied.");
  });
  prompt.focus();
}

addEventListener("pageshow", () => { const button = $("form.new button.primary"); if (button) button.disabled = false; });
if (form) begin();
