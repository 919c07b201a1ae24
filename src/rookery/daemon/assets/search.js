// The search screen: results as you type. The address always says what is shown.
import { $, html, piece, told } from "./main.js";

const form = $("#search"), results = $("#results");
let timer = 0, asking = null;

function query() {
  const fields = new FormData(form);
  for (const [name, value] of [...fields]) if (!value.trim()) fields.delete(name);
  return new URLSearchParams(fields).toString();
}

async function look({ again = false } = {}) {
  clearTimeout(timer);
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  const asked = query();
  history.replaceState(null, "", asked ? `/search?${asked}` : "/search");
  document.title = `${form.q.value ? `${form.q.value} · ` : ""}Search · Rookery`;
  if (!again) results.setAttribute("aria-busy", "true");
  try {
    const text = await piece(`/search?${asked}${asked ? "&" : ""}piece=1`, { signal });
    const focus = results.contains(document.activeElement) && document.activeElement.getAttribute("href");
    results.replaceChildren(html(text));
    if (focus) $(`a[href="${CSS.escape(focus)}"]`, results)?.focus();
    later();
  } finally {
    if (!signal.aborted) results.removeAttribute("aria-busy");
  }
}

/** While older sessions are being indexed, what was found is not all. */
function later() {
  if ($("[data-again]", results)) timer = setTimeout(() => look({ again: true }).catch(told), 1500);
}

const soon = (wait) => { clearTimeout(timer); timer = setTimeout(() => look().catch(told), wait); };
form.addEventListener("input", (event) => soon(event.target.localName === "select" ? 0 : 250));
form.addEventListener("submit", (event) => { event.preventDefault(); look().catch(told); });
form.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" && event.target.name === "q") { event.preventDefault(); $("a", results)?.focus(); }
});
results.addEventListener("keydown", (event) => {
  const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling", j: "nextElementSibling", k: "previousElementSibling" }[event.key];
  const row = event.target.closest("li");
  if (!step || !row) return;
  event.preventDefault();
  event.stopPropagation();
  (row[step]?.querySelector("a") ?? (event.key === "ArrowUp" ? form.q : null))?.focus();
});
const end = form.q.value.length;
form.q.setSelectionRange?.(end, end);
later();
