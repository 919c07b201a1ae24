// The theme that was chosen on this device: before the first paint, and when another one is chosen.
function theme() {
  let chosen = "";
  try { chosen = localStorage.getItem("theme"); } catch { /* no storage: the system's */ }
  const media = { light: "not all", dark: "screen" }[chosen];
  document.documentElement.style.colorScheme = media ? chosen : "";
  document.getElementById("dark").media = media ?? "screen and (prefers-color-scheme: dark)";
}
theme();
for (const name of ["theme", "storage"]) addEventListener(name, theme);
