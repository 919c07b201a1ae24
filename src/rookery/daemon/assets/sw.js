// The service worker: notifications with their answers, and a page for when Rookery is not reachable.
const SHELL = "rookery-shell";

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(keep().then(() => clients.claim())));

/** The offline page. What it is made of stays in the browser's own cache. */
async function keep() {
  try {
    await registration.navigationPreload?.enable();
    const page = await fetch("/offline", { cache: "no-store" });
    if (!page.ok || page.redirected) return;
    const text = await page.clone().text();
    await (await caches.open(SHELL)).put("/offline", page);
    await Promise.all([...new Set(text.match(/\/assets\/[^"]+/g))].map((path) => fetch(path)));
  } catch { /* the next start tries again */ }
}

addEventListener("fetch", (event) => {
  const { method, mode } = event.request;
  if (method === "GET" && mode === "navigate") event.respondWith(page(event));
});

async function page({ request, preloadResponse }) {
  try {
    return (await preloadResponse) ?? (await fetch(request));
  } catch {
    return (await (await caches.open(SHELL)).match("/offline")) ?? Response.error();
  }
}

// --- notifications -------------------------------------------------------------------------------

addEventListener("push", (event) => {
  let news = {};
  try { news = event.data.json(); } catch { /* nothing that is ours */ }
  event.waitUntil(tell(news, true));
});
addEventListener("message", (event) => {
  if (event.data?.show) event.waitUntil(tell(event.data.show, false));
});

async function tell(news, pushed) {
  if (pushed && await looking(news.session)) return;
  const answers = news.event === "ask" ? await answersTo(news.session) : null;
  await registration.showNotification(news.heading ?? "Rookery", {
    body: news.text ?? "",
    tag: news.session || "rookery",
    renotify: true,
    icon: "/apple-touch-icon.png",
    badge: "/apple-touch-icon.png",
    data: { session: news.session ?? "", ...answers },
    actions: answers ? answers.ways.map(({ way, name }) => ({ action: way, title: name })) : [],
  });
}

/** Whether somebody looks at that session right now. */
async function looking(session) {
  const open = await clients.matchAll({ type: "window" });
  return open.some((each) => each.visibilityState === "visible" && each.focused && new URL(each.url).pathname === `/sessions/${session}`);
}

/** The two plain ways of the only open ask; null: it is destructive, a form, or one of several. */
async function answersTo(session) {
  try {
    const answer = await ask(`/api/v1/sessions/${session}/header`);
    const asks = Object.entries((await answer.json()).header.asks);
    const [id, open] = asks[0] ?? [];
    if (asks.length !== 1 || open.danger || open.kind !== "permission") return null;
    const ways = ["allow_once", "reject_once"].flatMap((kind) => {
      const option = open.options.find((each) => each.kind === kind);
      return option ? [{ way: option.optionId, name: option.name || option.optionId }] : [];
    });
    return ways.length ? { ask: id, nonce: open.nonce, ways } : null;
  } catch {
    return null;
  }
}

addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(event.action ? answer(event) : show(event.notification.data.session));
});

async function answer({ action, notification: { data, title } }) {
  const sent = await ask(`/api/v1/sessions/${data.session}/answer`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ask: data.ask, nonce: data.nonce, option: action }),
  }).catch(() => null);
  if (sent?.ok) return;
  await registration.showNotification(title, {
    body: "The answer did not arrive. Open the session to answer.", tag: data.session, data: { session: data.session },
  });
}

async function show(session) {
  const path = session ? `/sessions/${session}` : "/inbox";
  const open = await clients.matchAll({ type: "window", includeUncontrolled: true });
  const there = open.find((each) => new URL(each.url).pathname === path) ?? open[0];
  if (!there) { await clients.openWindow(path); return; }
  await there.focus().catch(() => {});
  if (new URL(there.url).pathname !== path) there.postMessage({ open: path });
}
