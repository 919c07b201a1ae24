// The screen for a new session.
import { $, api, copy, element, html, kept, piece, screenOf, toast, told, uid, when } from "./main.js";
import { attachments } from "./attachments.js";
import { complete } from "./complete.js";

const form = $("form.new");
const coarse = matchMedia("(pointer: coarse)");
let tried = { body: "", key: "" };

/** Of the same request the same key: sent again after a break, it makes one session. */
function keyOf(body) {
  if (body !== tried.body) tried = { body, key: uid() };
  return tried.key;
}

let files = null;
const mentioned = new Set();

function wanted() {
  const given = new FormData(form);
  const text = (name) => String(given.get(name) ?? "").trim();
  const rivals = given.getAll("race");
  const body = { cwd: text("cwd").replace(/(.)\/+$/, "$1"), prompt: String(given.get("prompt") ?? ""), confirm: text("confirm"), sandbox: text("sandbox") };
  if (rivals.length) {
    if (body.confirm === "plan") body.confirm = "";
    return { ...body, agents: [...new Set([text("agent"), ...rivals])] };
  }
  for (const name of ["agent", "model", "effort", "mode"]) body[name] = text(name);
  if (body.confirm === "plan") Object.assign(body, { confirm: "", mode: body.mode || "plan" });
  if (given.get("worktree")) Object.assign(body, { worktree: text("branch") || true, base: text("base") });
  const said = new Set(body.prompt.split(/\s+/));
  return { ...body, files: [...mentioned].filter((name) => said.has(`@${name}`)), attachments: files.bodies() };
}

async function create() {
  const body = wanted();
  const rivals = body.agents ?? [];
  if (rivals.length && files.many) return void toast("A race takes no attached files.", { remedy: "Put them into the directory and mention them, or start one session.", kind: "failed" });
  const button = $("button.primary", form);
  button.disabled = true;
  $(".wrong", form).hidden = true;
  try {
    const { id } = await api("POST", rivals.length ? "/api/v1/races" : "/api/v1/sessions", body, { headers: { "Idempotency-Key": keyOf(JSON.stringify(body)) } });
    kept.set("new.prompt", "");
    files.clear();
    location.assign(`/${rivals.length ? "races" : "sessions"}/${encodeURIComponent(id)}`);
  } catch (problem) {
    button.disabled = false;
    const box = $(".wrong", form);
    box.replaceChildren(...[problem.message, problem.remedy].filter(Boolean).map((words) => element("p", {}, words)));
    box.hidden = false;
    if (problem.error === "no_directory") form.elements.cwd.focus();
  }
}

/** What the chosen agent offers. */
async function offer() {
  const { agent } = form.elements;
  const wanted = agent.value;
  const text = await piece(`/new/options?${new URLSearchParams({ agent: wanted })}`);
  if (agent.value !== wanted) return;
  const [model, rest] = html(text).firstElementChild.content.children;
  $("#new-model").closest(".field").replaceWith(model);
  $(".offers-of-agent", form).replaceWith(rest);
}

/** What a worktree can begin at. */
async function branches() {
  const { worktree, cwd, base } = form.elements;
  const list = $("#new-branches");
  if (!worktree.value || !cwd.value.trim()) return;
  const { current, branches: found } = await api("GET", `/api/v1/directories/branches?${new URLSearchParams({ cwd: cwd.value.trim() })}`);
  list.replaceChildren(...found.map((name) => element("option", { value: name })));
  base.placeholder = current ? `${current}, which is checked out` : "what is checked out";
}

// --- installing ------------------------------------------------------------------------------------

const LOOK_AGAIN = 700;

/** What would be run is shown first; then it runs, and its last lines are shown. */
async function install(button) {
  const { agent, title } = button.dataset;
  const place = `/api/v1/agents/${encodeURIComponent(agent)}/install`;
  const row = button.closest("li");
  const box = element("div", { class: "install" });
  const said = element("pre", { class: "said", "aria-live": "off" });
  const told = element("p", { class: "soft", role: "status" });
  const go = element("button", { type: "button", class: "primary small" }, "Install");
  const stop = element("button", { type: "button", class: "quiet small" }, "Cancel");
  let now = await api("GET", place);
  const draw = () => {
    said.textContent = [...now.plan, ...now.output.slice(-8)].join("\n");
    told.textContent = now.state === "running" ? `Installing ${title} …` : now.state === "failed" ? now.message : "";
    go.hidden = now.state === "running";
    go.textContent = now.state === "failed" ? "Try again" : "Install";
  };
  const follow = async () => {
    while (now.state === "running" && box.isConnected) {
      draw();
      await new Promise((then) => setTimeout(then, LOOK_AGAIN));
      now = await api("GET", place);
    }
    draw();
    if (now.state === "done") installed(row, agent, title, now.message);
  };
  const guarded = (work) => () => Promise.resolve(work()).catch((error) => { told.textContent = [error.message, error.remedy].filter(Boolean).join(" "); });
  go.addEventListener("click", guarded(async () => { now = await api("POST", place); await follow(); }));
  stop.addEventListener("click", guarded(async () => {
    if (now.state === "running") now = await api("DELETE", place);
    box.remove();
    button.hidden = false;
  }));
  if (now.state === "done") return installed(row, agent, title, now.message);
  $(".install", row)?.remove();
  button.hidden = true;
  box.append(said, told, element("p", { class: "acts" }, go, stop));
  row.append(box);
  draw();
  go.focus();
  await follow();
}

function installed(row, agent, title, words) {
  const { agent: select } = form.elements;
  if (![...select.options].some((each) => each.value === agent)) select.append(element("option", { value: agent }, title));
  select.value = agent;
  select.dispatchEvent(new Event("change"));
  row.remove();
  toast(`${title} is installed, and chosen above.`, { remedy: words });
  select.focus();
}

function begin() {
  const { prompt, cwd } = form.elements;
  complete(cwd, cwd.closest(".field"), (before) => ({
    from: 0,
    rows: before ? api("GET", `/api/v1/directories?${new URLSearchParams({ prefix: before })}`)
      .then(({ directories }) => directories.map((place) => ({ label: place, insert: place, run: () => choose(place) }))) : [],
  }));
  function choose(place) {
    cwd.value = place;
    cwd.dispatchEvent(new Event("input", { bubbles: true })); // what is in it comes next
  }
  files = attachments(form, prompt);
  const list = complete(prompt, prompt.closest(".field"), (before) => {
    const at = /(?:^|\s)@([^\s@]*)$/.exec(before);
    if (!at || !cwd.value.trim()) return null;
    const query = new URLSearchParams({ cwd: cwd.value.trim(), query: at[1].slice(0, 200) });
    const rows = api("GET", `/api/v1/directories/files?${query}`)
      .then(({ files: found }) => found.map((name) => { mentioned.add(name); return { label: name, insert: `@${name} ` }; }));
    return { from: before.length - at[1].length - 1, rows };
  });
  when("mention", () => {
    prompt.focus();
    prompt.setRangeText(/\s$|^$/.test(prompt.value.slice(0, prompt.selectionStart)) ? "@" : " @", prompt.selectionStart, prompt.selectionEnd, "end");
    list.look();
  });
  form.elements.agent.addEventListener("change", () => offer().catch(told));
  form.elements.worktree.addEventListener("change", () => branches().catch(() => {}));
  cwd.addEventListener("change", () => branches().catch(() => {}));
  branches().catch(() => {});
  prompt.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing || event.altKey) return;
    if (!(event.ctrlKey || event.metaKey || event.shiftKey === coarse.matches)) return;
    event.preventDefault();
    form.requestSubmit();
  });
  prompt.addEventListener("input", () => kept.set("new.prompt", prompt.value));
  if (!prompt.value) prompt.value = kept.get("new.prompt") ?? "";
  when("create", create);
  when("install", install);
  when("directory", (button) => { cwd.value = button.textContent; prompt.focus(); });
  when("elsewhere", async (button) => {
    const { agent } = button.dataset;
    const list = $("#elsewhere");
    list.replaceChildren(element("li", {}, `${button.textContent} lists its sessions …`));
    const asked = api("POST", "/api/v1/importable", { agent, directory: cwd.value.trim() });
    const { sessions, failed } = await asked.catch((error) => { list.replaceChildren(); throw error; });
    for (const words of failed) toast(words, { kind: "failed" });
    const rows = sessions.map((each) => {
      const go = element("button", { type: "button" }, each.state === "here" ? "Open" : "Import");
      go.addEventListener("click", async () => {
        go.disabled = true;
        const body = { agent, directory: each.cwd, ids: [each.id], removed: true };
        try {
          const [{ here, state, why }] = each.state === "here" ? [each] : (await api("POST", "/api/v1/import", body)).sessions;
          if (state !== "new" && state !== "here") throw new Error(why);
          location.assign(screenOf(here));
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
