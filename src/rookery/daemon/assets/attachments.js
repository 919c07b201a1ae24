// Files that go with a prompt: picked, pasted or dropped, and kept on this device until it is sent.
import { $, element, kept, toast, told, when } from "./main.js";

const size = (bytes) => (bytes < 1024 * 1024 ? `${Math.max(1, Math.round(bytes / 1024))} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`);

function read(file) {
  return new Promise((settle, fail) => {
    const reader = new FileReader();
    reader.onload = () => settle(reader.result);
    reader.onerror = () => fail(new Error(`${file.name} cannot be read.`));
    reader.readAsDataURL(file);
  });
}

/** Of a form with its limits in data-files, data-largest and data-together, whose prompt is `field`.
 * `refusal(file)`: why this one cannot go along, if there is a reason. */
export function attachments(form, field, refusal = () => "") {
  let files = [];
  const draft = form.dataset.session || "new", mark = `files.${draft}`; // where there is no mark, nothing has to be looked for

  async function keep() {
    if (!files.length && !kept.get(mark)) return;
    kept.set(mark, files.length ? "1" : "");
    if (!await (await import("./kept_files.js")).keep(draft, files)) toast("This browser keeps no files: send them before you leave the page.");
  }

  /** Those of before a reload come first; the limits held when they were attached. */
  async function restore() {
    const found = await (await import("./kept_files.js")).read(draft);
    files = [...found, ...files];
    show();
  }
  if (kept.get(mark)) restore().catch(told);

  function changed() {
    show();
    keep().catch(told);
  }

  function show() {
    const list = $(".attached", form);
    list.hidden = !files.length;
    list.replaceChildren(...files.map((file, at) => element("li", { class: "chip" },
      ...(file.url ? [element("img", { src: file.url, alt: "" })] : []),
      element("span", { dir: "auto" }, file.name), element("small", {}, size(file.size)),
      element("button", { type: "button", class: "quiet", "data-do": "detach", "data-at": at, "aria-label": `Remove ${file.name}` }, "×"))));
  }

  function why(file) {
    const { largest, together, files: most } = form.dataset;
    if (!file.size) return `${file.name} is empty.`;
    if (file.size > largest) return `${file.name} has ${size(file.size)}; the limit is ${size(largest)}.`;
    if (files.length >= Number(most)) return `The limit is ${most} files.`;
    if (files.reduce((sum, each) => sum + each.size, file.size) > together) return `Attached files may have ${size(together)} in total.`;
    return refusal(file);
  }

  async function attach(given) {
    for (const file of given) {
      const words = why(file);
      if (words) { toast(words, { kind: "failed", action: { label: "Choose another", run: () => $("#picker").click() } }); continue; }
      try {
        const url = await read(file);
        const name = (file.name || "pasted").replace(/[/\\\u0000-\u001f]/g, "_").slice(0, 200);
        files.push({ name, size: file.size, data: url.slice(url.indexOf(",") + 1), url: /^image\/(png|jpeg|gif|webp)$/.test(file.type) ? url : "" });
      } catch (error) { told(error); }
    }
    changed();
  }

  field.addEventListener("paste", (event) => {
    if (!event.clipboardData.files.length || event.clipboardData.getData("text/plain")) return;
    event.preventDefault();
    attach([...event.clipboardData.files]);
  });
  $("#picker").addEventListener("change", ({ target }) => { attach([...target.files]); target.value = ""; });
  document.addEventListener("dragover", (event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); });
  document.addEventListener("drop", (event) => {
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    attach([...event.dataTransfer.files]);
  });
  when("attach", () => $("#picker").click());
  when("detach", (button) => { files.splice(Number(button.dataset.at), 1); changed(); field.focus(); });

  return {
    get many() { return files.length; },
    /** As a request carries them. */
    bodies: () => files.map(({ name, data }) => ({ name, data })),
    attach,
    /** Those of a prompt that comes back. */
    add(given) {
      files.push(...given.map((each) => ({ ...each, size: Math.floor(each.data.length * 0.75), url: "" })));
      changed();
    },
    clear() { files = []; changed(); },
  };
}
