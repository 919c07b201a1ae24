// Notifications of this browser, turned on and off: `<section data-notify>` of any screen.
import { $$, api, element, kept, when } from "./main.js";
import { able, on, pushed, ready, secure, show, subscribed, worker } from "./notify.js";

let lack = "";

/** Web Push where there is one; the page itself notifies in any case. */
async function push() {
  if (!worker()?.pushManager) { lack = "This browser has no Web Push: you are notified only while a Rookery page is open."; return; }
  try {
    const { key } = await api("GET", "/api/v1/push/key");
    const text = atob(key.replaceAll("-", "+").replaceAll("_", "/"));
    const made = await worker().pushManager.subscribe({
      userVisibleOnly: true, applicationServerKey: Uint8Array.from(text, (letter) => letter.charCodeAt(0)),
    });
    await api("POST", "/api/v1/push/subscriptions", made.toJSON());
    subscribed(made);
    lack = "";
  } catch (error) {
    lack = `You are notified only while a Rookery page is open: ${error.message}`;
  }
}

when("notify-on", async () => {
  await ready;
  const answer = await Notification.requestPermission();
  if (answer === "granted") {
    kept.set("notify", "on");
    draw(); // the rest may take a while
    await push();
  }
  draw();
});
when("notify-off", async () => {
  kept.set("notify", "");
  const known = pushed();
  if (known) {
    await api("DELETE", `/api/v1/push/subscriptions?endpoint=${encodeURIComponent(known.endpoint)}`).catch(() => {});
    await known.unsubscribe();
    subscribed(null);
  }
  draw();
});
when("notify-try", () => show({ heading: "Notifications work", text: "Questions and finished turns look like this.", session: "" }));

function words() {
  if (!secure) return ["Notifications need https, or a browser on the machine itself.", "Start Rookery with --tls-cert and --tls-key, or behind a proxy with https.", []];
  if (!able) return ["This browser does not support notifications.", "On an iPhone, add the page to the home screen first.", []];
  if (Notification.permission === "denied") return ["Notifications are blocked for this page.", "Allow them in the browser's settings for this site.", []];
  if (!on()) return ["Get notified of questions and finished turns while you do something else.", "", [["notify-on", "Notify me here", "primary"]]];
  const more = pushed() ? "Even while this page is closed." : lack || "Only while a Rookery page is open.";
  return ["Notifications are on in this browser.", more, [["notify-try", "Try one", ""], ["notify-off", "Turn off", "quiet"]]];
}

/** Into every `<section data-notify>` of the page. */
export function draw() {
  for (const box of $$("[data-notify]")) {
    const [said, more, buttons] = words();
    box.hidden = false;
    box.replaceChildren(element("p", {}, said), ...(more ? [element("p", { class: "soft" }, more)] : []),
      ...(buttons.length ? [element("div", { class: "ways" }, ...buttons.map(([name, label, kind]) => element("button", { type: "button", "data-do": name, class: kind }, label)))] : []));
  }
}

draw();
ready.then(draw); // which knows of Web Push
