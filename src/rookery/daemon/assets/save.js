// A file from the daemon, saved by the browser: it is fetched by us, since a link says nothing of
// who follows it.
import { ask } from "./device.js";

/** Of an answer; resolves to the name. */
export async function save(answer) {
  const said = /filename\*=UTF-8''([^;]+)/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1];
  const name = said ? decodeURIComponent(said) : new URL(answer.url).pathname.split("/").pop();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  return name;
}

export async function download(path) {
  const answer = await ask(path);
  if (!answer.ok) throw Object.assign(new Error("The file did not come."), await answer.json().catch(() => ({})));
  return save(answer);
}
