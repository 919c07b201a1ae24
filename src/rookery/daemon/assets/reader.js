// What a reader does to look further up, apart from what the browser does to a place.

const KEYS = new Set(["ArrowUp", "PageUp", "Home"]);
const TYPES = "input, textarea, select, [contenteditable]";

/** Whether something between here and the scroller takes the motion: the output of a command. */
function isTaken(target, scroller) {
  for (let each = target; each && each !== scroller; each = each.parentElement) {
    if (each.scrollTop > 0 && each.scrollHeight > each.clientHeight) return true;
  }
  return false;
}

/** Calls `up` when the wheel, a finger or a key moves the scroller up, or the focus goes to what is
 *  above. The function that comes back says whether the pointer is held down, on the scroll bar or to
 *  select: only then a motion up is the reader's. */
export function onReader(scroller, up) {
  let held = false, finger = null;
  const moved = (event) => { if (scroller.scrollTop > 0 && !isTaken(event.target, scroller)) up(); };
  const on = (home, kind, run) => home.addEventListener(kind, run, { passive: true });

  on(scroller, "wheel", (event) => { if (event.deltaY < 0 && !event.ctrlKey) moved(event); });
  on(scroller, "touchstart", ({ touches }) => { finger = touches[0].clientY; });
  on(scroller, "touchmove", (event) => {
    const now = event.touches[0].clientY;
    if (finger !== null && now > finger) moved(event);
    finger = now;
  });
  on(document, "keydown", (event) => {
    const { key, target } = event;
    const here = target === document.body || scroller.contains(target);
    if (!here || target.closest(TYPES) || event.defaultPrevented) return;
    if (KEYS.has(key) || (key === " " && event.shiftKey)) moved(event);
    else if ((key === "f" && (event.ctrlKey || event.metaKey)) || key === "F3") moved(event); // the browser's search jumps
  });
  on(scroller, "focusin", ({ target }) => {
    if (target !== scroller && target.getBoundingClientRect().top < scroller.getBoundingClientRect().top) up();
  });
  on(scroller, "pointerdown", () => { held = true; });
  for (const kind of ["pointerup", "pointercancel", "pointermove"]) {
    on(window, kind, (event) => { if (!event.buttons) held = false; });
  }
  return () => held;
}
