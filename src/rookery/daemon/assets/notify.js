// Notifications of this browser: for asks and ends while the page is not looked at, and by Web Push
// while it is closed. `notify_form.js` turns them on.
import { kept, screenOf, told } from "./main.js";

export const able = "Notification" in window;
export const secure = window.isSecureContext;
export const on = () => able && Notification.permission === "granted" && kept.get("notify") === "on";
let serving = null;
let subscription = null;
export const worker = () => serving;
export const pushed = () => subscription;
export const subscribed = (made) => { subscription = made; };

async function begin() {
  if (!secure || !navigator.serviceWorker) return;
  try {
    await navigator.serviceWorker.register("/sw.js");
    serving = await navigator.serviceWorker.ready;
    subscription = (await serving.pushManager?.getSubscription()) ?? null;
  } catch (error) {
    console.info(`no service worker: ${error.message}`);
  }
}
export const ready = begin();
navigator.serviceWorker?.addEventListener("message", ({ data }) => { if (data?.open) location.assign(data.open); });

/** By the service worker, which offers answers; else by the page itself. */
export async function show({ heading, text, session, kind = "" }) {
  if (serving?.active) {
    serving.active.postMessage({ show: { heading, text, session, event: kind } });
    return;
  }
  const made = new Notification(heading, { body: text, tag: session || "try", icon: "/apple-touch-icon.png" });
  made.onclick = () => { window.focus(); if (session) location.assign(screenOf(session)); made.close(); };
}

addEventListener("news", async ({ detail }) => {
  if (!on() || !document.hidden) return;
  await ready;
  if (!subscription) show(detail).catch(told); // else the daemon sends it
});
