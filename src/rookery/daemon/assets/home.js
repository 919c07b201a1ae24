// The screen with all sessions: its filters, its pages, and how they are grouped.
import { $, kept } from "./main.js";
import { refresh, soon } from "./fleet.js";

$("#list").addEventListener("click", (event) => {
  const link = event.target.closest?.(".filters a, .pages a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if ("group" in link.dataset) kept.set("group", link.dataset.group);
  history.replaceState(null, "", link.getAttribute("href"));
  refresh();
  if (link.closest(".pages")) $("#main").scrollTo(0, 0);
});
if (kept.get("group") === "directory" && !location.search) {
  history.replaceState(null, "", "/?group=directory");
  soon(0);
}
