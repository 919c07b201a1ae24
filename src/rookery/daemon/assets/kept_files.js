// Files of drafts that are not sent yet, kept on this device: they outlive a reload. localStorage is
// too small for them. Each draft has one entry; the oldest go when there are too many.
const MOST = 20; // drafts
const ROOM = 100 * 1024 * 1024; // characters of all of them, in base64
const LONGEST = 14 * 86400e3; // milliseconds
const STORES = ["about", "files"];

/** `run` gets both stores, in one transaction. */
async function stored(mode, run) {
  const db = await new Promise((done, fail) => {
    const opening = indexedDB.open("rookery-drafts", 1);
    opening.onupgradeneeded = () => { for (const name of STORES) opening.result.createObjectStore(name); };
    opening.onsuccess = () => done(opening.result);
    opening.onerror = () => fail(opening.error);
  });
  try {
    return await new Promise((done, fail) => {
      const work = db.transaction(STORES, mode);
      const asked = run(...STORES.map((name) => work.objectStore(name)));
      work.oncomplete = () => done(asked.result);
      work.onabort = work.onerror = () => fail(work.error);
    });
  } finally {
    db.close();
  }
}

/** The files of a draft; none where nothing is kept. */
export const read = (draft) => stored("readonly", (_, files) => files.get(draft)).then((found) => found ?? [], () => []);

/** Whether they are kept: a full disk, or a private window, keeps nothing. */
export function keep(draft, files) {
  const weight = files.reduce((sum, file) => sum + file.data.length, 0);
  return stored("readwrite", (about, all) => {
    if (files.length) all.put(files, draft);
    else all.delete(draft);
    const noted = files.length ? about.put({ at: Date.now(), weight }, draft) : about.delete(draft);
    tidy(about, all);
    return noted;
  }).then(() => true, () => false);
}

/** What is too old, or too much, goes; the newest stay. */
function tidy(about, all) {
  const known = [], walk = about.openCursor();
  walk.onsuccess = () => {
    if (walk.result) {
      known.push([walk.result.key, walk.result.value]);
      return walk.result.continue();
    }
    let room = 0;
    known.sort((one, other) => other[1].at - one[1].at).forEach(([draft, { at, weight }], n) => {
      room += weight;
      if (n < MOST && room <= ROOM && Date.now() - at < LONGEST) return;
      about.delete(draft);
      all.delete(draft);
    });
  };
}
