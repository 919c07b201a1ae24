// What helps after a failure: the buttons of notices and of messages. Which there are is the daemon's to say.
import { $, api, apiOf, command as send, element, toast } from "./main.js";

const session = document.body.dataset.session ?? "";
const SCREENS = { agents: "/settings/agents", model: "/settings/models", servers: "/settings/servers", settings: "/settings", sessions: "/", trash: "/settings/trash" };

/** `button`: what was pressed, in a notice or a message. */
export async function act(action, button) {
  const { command, choose, window: opens, compose } = action;
  if (choose === "agent") return $('#bar [data-option="agent"]')?.click(); // its menu asks what is to be known
  if (opens === "move") return (await import("./branch.js")).move(session, $("#bar .bar")?.dataset.running);
  if (opens === "log") return (await import("./logs.js")).show(session, action.of);
  if (opens === "login") return location.assign(`/settings/agents/login?${new URLSearchParams({ name: action.agent, session })}`);
  if (opens === "kill") return kill();
  if (opens) return location.assign(SCREENS[opens] ?? "/settings");
  if (compose?.recap) return recap(compose.recap);
  if (compose?.prompt) return (await import("./prompts.js")).putTurn(compose.prompt);
  if (command?.do === "rewind") return (await import("./rewind.js")).rewind(session, command.undo ? null : command.turn);
  if (command?.do === "clear") return (await import("./choices.js")).choose("clear", (await import("./menus.js")).shown());
  if (command && (!action.danger || await agreed(action, button))) return send(session, command);
}

/** Asks first, with what is said around the button. */
async function agreed({ label }, button) {
  const { danger, sure } = await import("./dialogs.js");
  const around = $(".words", button.closest(".note, .toast") ?? button);
  const shown = element("p", { class: "shown", tabindex: 0 }, $("strong + *", around ?? button)?.textContent ?? "");
  return sure(`${label}?`, around ? [$("strong", around).textContent] : [], danger(label), shown);
}

async function recap(before) {
  const { text } = await api("GET", `${apiOf(session)}/recap?before=${before}`);
  document.dispatchEvent(new CustomEvent("put-prompt", { detail: { text, before: true } }));
}

async function kill() {
  const { danger, sure } = await import("./dialogs.js");
  const lines = ["The session's worker, its agent and their commands are ended. What was written is kept, and your next prompt wakes the session."];
  if (!(await sure("End its processes?", lines, danger("End them")))) return;
  const { left, summary } = await api("POST", `${apiOf(session)}/kill`, {});
  toast(summary, left.length ? { kind: "failed" } : {});
}
