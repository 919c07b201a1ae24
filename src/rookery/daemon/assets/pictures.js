// Pictures of the transcript: fetched when they come near, drawn only as the kind of image that the
// daemon found them to be, and all of one in a window. What is far away takes no memory.
import { ask } from "./device.js";
import { open } from "./dialogs.js";
import { $, $$, element, styled, told, when } from "./main.js";

styled("pictures.css");

const KINDS = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const paths = new WeakMap(); // of each image: what was asked for
const damaged = new Set();

const near = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (isIntersecting) draw(target);
    else forget(target);
  }
}, { rootMargin: "1200px" });

/** Those that came, or became others. */
export function look() {
  for (const image of $$("img[data-src]")) {
    const path = image.dataset.src;
    if (paths.get(image) === path) continue;
    forget(image);
    paths.set(image, path);
    near.unobserve(image);
    near.observe(image);
  }
}

function forget(image) {
  if (image.src.startsWith("blob:")) URL.revokeObjectURL(image.src);
  image.removeAttribute("src");
}

/** The bytes; as an image only if they are one. */
async function fetched(path) {
  const answer = await ask(path);
  if (!answer.ok) throw new Error("It cannot be loaded.");
  const kind = answer.headers.get("Content-Type")?.split(";")[0] ?? "";
  return new Blob([await answer.arrayBuffer()], { type: KINDS.has(kind) ? kind : "application/octet-stream" });
}

async function draw(image) {
  const path = image.dataset.src;
  if (image.src || damaged.has(path)) return damaged.has(path) && refuse(image);
  try {
    const bytes = await fetched(path);
    if (!KINDS.has(bytes.type)) { damaged.add(path); refuse(image); return; }
    if (image.src || paths.get(image) !== path || !image.isConnected) return;
    const address = image.src = URL.createObjectURL(bytes);
    image.decode().catch(() => { if (image.src === address) { damaged.add(path); refuse(image); } }); // it has not gone meanwhile
  } catch { paths.delete(image); } // it is tried again with the next news
}

function refuse(image) {
  const link = image.closest("a");
  if (!link) return;
  forget(image);
  link.dataset.do = "picture-save";
  link.replaceChildren("This picture cannot be shown. Save it");
}

/** What a file of it is called. */
const named = ({ type }) => `picture.${KINDS.has(type) ? type.split("/")[1] : "bin"}`;
const save = async (bytes) => (await import("./save.js")).keep(bytes, named(bytes));
when("picture-save", async (link) => save(await fetched(link.getAttribute("href"))));

/** All of it: as large as the window, and with a click as large as it is. */
when("picture", async (link) => {
  const bytes = await fetched(link.getAttribute("href"));
  const small = $("img", link), words = link.parentNode.querySelector("figcaption")?.textContent ?? small.alt;
  const address = URL.createObjectURL(bytes);
  const image = element("img", { src: address, alt: small.alt });
  const whole = element("button", { type: "button", class: "all", "aria-label": "As large as it is", "aria-pressed": "false" }, image);
  whole.addEventListener("click", () => whole.setAttribute("aria-pressed", String(dialog.classList.toggle("full"))));
  const close = element("button", { type: "button" }, "Close");
  const keep = element("button", { type: "button" }, "Save");
  keep.addEventListener("click", () => save(bytes).catch(told));
  const dialog = element("dialog", { class: "picture", "aria-label": small.alt },
    element("div", { class: "head" }, element("p", { dir: "auto" }, words), keep, close), element("div", { class: "frame" }, whole));
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => URL.revokeObjectURL(address));
  open(dialog, link);
});
