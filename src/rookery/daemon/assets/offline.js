// Shown in the place of a page that could not be fetched: it comes by itself as soon as it can.
const line = document.getElementById("tries");
let wait = 1;

async function look() {
  try {
    await fetch("/favicon.svg", { cache: "no-store" });
    location.reload();
  } catch {
    wait = Math.min(wait * 2, 15);
    line.textContent = `Trying again every ${wait} s.`;
    setTimeout(look, wait * 1000);
  }
}
setTimeout(look, 1000);
addEventListener("online", () => location.reload());
