// A file from the daemon, saved by the browser: it is fetched by us, since a link says nothing of
// who follows it.
import { ask } from "./device.js";

/** Bytes, as a file of this name. */
export function keep(bytes, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(bytes);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  return name;
}

/** Of an answer; resolves to the name. */
export async function save(answer) {
  const said = /filename\*=UTF-8''([^;]+)/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1];
  return keep(await answer.blob(), said ? decodeURIComponent(said) : new URL(answer.url).pathname.split("/").pop());
}

export async function download(path) {
  const answer = await ask(path);
  if (!answer.ok) throw Object.assign(new Error("The file did not come."), await answer.json().catch(() => ({})));
  return save(answer);
}
