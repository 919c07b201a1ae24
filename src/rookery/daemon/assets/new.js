// The screen for a new session.
import { $, api, copy, element, kept, toast, uid, when } from "./main.js";
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
  const body = Object.fromEntries(["cwd", "agent", "confirm", "sandbox", "prompt"].map((name) => [name, String(given.get(name) ?? "")]));
  const rivals = given.getAll("race");
  if (body.confirm === "plan") Object.assign(body, { confirm: "" }, rivals.length ? {} : { mode: "plan" });
  if (rivals.length) {
    body.agents = [...new Set([body.agent, ...rivals])];
    delete body.agent;
  } else if (given.get("worktree")) body.worktree = true;
  body.cwd = body.cwd.trim().replace(/(.)\/+$/, "$1");
  const button = $("button.primary", form);
  button.disabled = true;
  $(".wrong", form).hidden = true;
  try {
    const { id } = await api("POST", rivals.length ? "/api/races" : "/api/sessions", body, { headers: { "Idempotency-Key": keyOf(JSON.stringify(body)) } });
    kept.set("new.prompt", "");
    location.assign(`/${rivals.length ? "races" : "sessions"}/${encodeURIComponent(id)}`);
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
  when("elsewhere", async (button) => {
    const { agent } = button.dataset;
    const list = $("#elsewhere");
    list.replaceChildren(element("li", {}, `${button.textContent} lists its sessions …`));
    const place = `/api/agents/${encodeURIComponent(agent)}/sessions`;
    const asked = api("POST", `${place}/list`, { cwd: cwd.value.trim() });
    const { sessions } = await asked.catch((error) => { list.replaceChildren(); throw error; });
    const rows = sessions.map((each) => {
      const go = element("button", { type: "button" }, each.state === "here" ? "Open" : "Import");
      go.addEventListener("click", async () => {
        go.disabled = true;
        const body = { id: each.id, cwd: each.cwd, title: each.title.slice(0, 500) };
        try {
          const { id } = each.state === "here" ? { id: each.here } : await api("POST", place, body);
          location.assign(`/sessions/${encodeURIComponent(id)}`);
        } catch (error) {
          go.disabled = false;
          toast(error.message, { remedy: error.remedy, kind: "failed" });
        }
      });
      return element("li", {}, element("span", {}, each.updated.slice(0, 10)), element("span", {}, each.title || each.id), go);
    });
    list.replaceChildren(...(rows.length ? rows : [element("li", {}, "No sessions in this directory.")]));
  });
  when("copy-line", async (button) => {
    await copy($("code", button.closest("li")).textContent);
    toast("Copied.");
  });
  prompt.focus();
}

addEventListener("pageshow", () => { const button = $("form.new button.primary"); if (button) button.disabled = false; });
if (form) begin();
