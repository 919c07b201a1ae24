// What every screen loads on demand: nothing that is loaded here may be needed by main.js or keys.js.
import { $, fill, told, when } from "./main.js";
import { key } from "./keys.js";

addEventListener("pictures", () => import("./pictures.js").then(({ look }) => setTimeout(look)).catch(told));
fill(document);

when("column", () => document.body.toggleAttribute("data-column"));
when("action", async (button) => (await import("./actions.js")).act(JSON.parse(button.dataset.action), button));
when("row", async (button) => (await import("./choices.js")).open(button));

const palette = () => import("./palette.js").then(({ open }) => open()).catch(told);
when("palette", palette);
key("Ctrl+k", "Search sessions, actions and settings", palette, { typing: true });
key("?", "Show the keys", () => import("./help.js").then(({ help }) => help()).catch(told));
key("n", "New session", () => location.assign("/new"));
key("/", "Find", () => $("#find")?.focus());
key("g", "Inbox", () => location.assign("/inbox"));
