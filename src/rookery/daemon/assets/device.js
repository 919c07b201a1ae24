// This browser's key, and requests that prove it. The key is kept for this origin alone, port
// included, and cannot be read out: scripts can sign with it as long as the page is open. What it
// earns is a token for this tab, which is kept nowhere. The service worker has this file, too.
const PURPOSE = "rookery tab ";
const CHALLENGE = /^Rookery challenge="([\w.]+)"$/;
const ECDSA = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
let token = "";
let entering = null; // the request that proves the key: others wait for its token

/** A transaction of the one store that there is. */
async function stored(mode, run) {
  const db = await new Promise((done, fail) => {
    const opening = indexedDB.open("rookery", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("device");
    opening.onsuccess = () => done(opening.result);
    opening.onerror = () => fail(opening.error);
  });
  try {
    return await new Promise((done, fail) => {
      const work = db.transaction("device", mode);
      const asked = run(work.objectStore("device"));
      work.oncomplete = () => done(asked.result);
      work.onabort = work.onerror = () => fail(work.error);
    });
  } finally {
    db.close();
  }
}

/** `{ id, key }` of this device; undefined: it is not logged in. */
export const own = () => stored("readonly", (store) => store.get("own"));
export const remember = (device) => stored("readwrite", (store) => store.put(device, "own"));
/** Throws where nothing can be kept. */
export const tryToKeep = () => stored("readwrite", (store) => store.put(1, "trial"));

const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
/** Plain http at an address of the network: the browser signs nothing there, so we do. */
const plain = () => import("./plain_key.js");

/** A new key, and its public half in hex. */
export async function makeKey() {
  if (!crypto.subtle) return (await plain()).makeKey();
  const { privateKey, publicKey } = await crypto.subtle.generateKey(ECDSA, false, ["sign"]);
  return { key: privateKey, open: hex(await crypto.subtle.exportKey("raw", publicKey)) };
}

/** The signature of a challenge, in hex. */
export async function signature(challenge, { key }) {
  const bytes = new TextEncoder().encode(PURPOSE + challenge);
  if (!(key instanceof Uint8Array)) return hex(await crypto.subtle.sign(ECDSA, key, bytes));
  return (await plain()).signature(key, bytes);
}

/** What a WebSocket has to name. */
export const protocols = () => (token ? ["rookery", token] : []);

/** A header only where there is something to say: one that a proxy's own login needs stays free. */
async function send(path, init, authorization) {
  const headers = { ...init.headers, ...(authorization && { Authorization: authorization }) };
  const answer = await fetch(path, { ...init, headers });
  token = answer.headers.get("Rookery-Tab") ?? token;
  return answer;
}

/** Like fetch, by this device. 401: it is not logged in. */
export async function ask(path, init = {}, challenge = "") {
  for (let tries = 0; ; tries++) {
    while (entering) await entering.catch(() => {});
    const before = token;
    const answer = challenge ? null : await send(path, init, token ? `Bearer ${token}` : (await own().catch(() => null)) && "Rookery");
    if (answer && answer.status !== 401) return answer;
    challenge ||= CHALLENGE.exec(answer.headers.get("WWW-Authenticate") ?? "")?.[1];
    if (!challenge || tries > 2) return answer;
    if (entering || token !== before) { challenge = ""; continue; } // another one has proved it
    const proved = await (entering = prove(path, init, challenge).finally(() => { entering = null; }));
    if (!proved || proved.status !== 401) return proved ?? answer;
    challenge = CHALLENGE.exec(proved.headers.get("WWW-Authenticate") ?? "")?.[1];
    if (!challenge) return proved;
  }
}

/** The same request with a proof; null: there is no key. */
async function prove(path, init, challenge) {
  const device = await own().catch(() => null);
  if (!device) return null;
  return send(path, init, `Rookery ${device.id} ${challenge} ${await signature(challenge, device)}`);
}
