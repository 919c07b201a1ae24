// Makes the changes that the daemon sends (pieces/live.py says what each is), and holds the
// reader's place: at the end it follows, anywhere else nothing moves.
import { $, element, html } from "./main.js";
import { morph } from "./morph.js";
import { onReader } from "./reader.js";

const MOST_BLOCKS = 1500, KEPT_BLOCKS = 1000, FEWEST_BELOW = 50;
const NEAR = 40;

/** `scroller` scrolls `list`; `region(name, html)` takes what is no part of the transcript. */
export class Live {
  constructor(scroller, list, { region, onNew, past = false }) {
    Object.assign(this, { scroller, list, region, onNew, past });
    this.queue = [];
    this.due = false;
    this.blocks = Infinity; // at most as many as there are; counted when it is too many
    this.following = !past;
    this.last = scroller.scrollTop;
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.dragged = onReader(scroller, () => { this.following = false; });
    const sizes = new ResizeObserver(() => { if (this.following) this.toEnd(); });
    sizes.observe(scroller);
    sizes.observe(list);
    document.addEventListener("visibilitychange", () => { if (document.hidden && this.due) this.#frame(); });
  }

  /** A place further up may be the browser's doing: text that shrinks and grows again moves it, too.
   *  So only what the reader does ends the following; to come near the end begins it. */
  #scrolled() {
    const top = this.scroller.scrollTop;
    if (top < this.last - 1 && this.dragged()) this.following = false;
    else if (top > this.last && this.left() < NEAR) this.following = !this.past;
    this.last = top;
    if (this.following) this.onNew(false);
  }

  left() { return this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight; }

  toEnd() {
    this.following = !this.past;
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.last = this.scroller.scrollTop;
    this.onNew(false);
  }

  /** Changes; they are made with the next frame. */
  take(ops) {
    for (const op of ops) {
      const before = this.queue.at(-1);
      if (op[0] === "text" && before?.[0] === "text" && before[1] === op[1]) before[2] += op[2];
      else this.queue.push(op);
    }
    if (this.due) return;
    this.due = true;
    if (document.hidden) setTimeout(() => this.#frame(), 100);
    else requestAnimationFrame(() => this.#frame());
  }

  #frame() {
    this.due = false;
    const ops = this.queue;
    this.queue = [];
    if (!ops.length) return;
    this.held(() => {
      const outputs = this.#outputs(ops);
      for (const op of ops) this.#apply(op);
      for (const output of outputs) output.scrollTop = output.scrollHeight;
      if (this.following) this.#trim();
    });
  }

  /** Runs what changes the list; the reader's place stays where it is on the screen. */
  held(run) {
    if (this.following) { run(); this.toEnd(); return; }
    const anchor = this.anchor(), at = anchor?.getBoundingClientRect().top;
    const height = this.scroller.scrollHeight;
    run();
    const now = anchor?.isConnected ? anchor : anchor && document.getElementById(anchor.id);
    if (now) {
      const moved = now.getBoundingClientRect().top - at;
      if (moved) this.scroller.scrollTop += moved;
    }
    this.last = this.scroller.scrollTop;
    if (!this.past && this.scroller.scrollHeight > height && this.left() > NEAR) this.onNew(true);
  }

  /** The first unit that is in sight. */
  anchor() {
    const units = this.list.children, top = this.scroller.getBoundingClientRect().top;
    let low = 0, high = units.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (units[middle].getBoundingClientRect().bottom > top) high = middle;
      else low = middle + 1;
    }
    return units[low]?.id === "older" ? units[low + 1] : units[low];
  }

  /** A row whose beginning is not on this page has the name of its first call here: it gets its own. */
  adopted(name) {
    const last = this.list.lastElementChild;
    if (!name.endsWith("*") || !last?.matches(".row")) return null;
    last.id = `b${name}`;
    return last;
  }

  /** Terminals that follow their own end. */
  #outputs(ops) {
    const found = new Set();
    for (const op of ops) {
      if (op[0] !== "lines") continue;
      const output = document.getElementById(`o${op[1]}`);
      if (output && output.scrollHeight - output.scrollTop - output.clientHeight < NEAR) found.add(output);
    }
    return found;
  }

  #apply([name, id, ...given]) {
    const change = CHANGES[name];
    if (!change) { this.region(name, id); return; }
    change.call(this, document.getElementById((name === "lines" ? "o" : "b") + id), ...given);
  }

  /** What is far above leaves the page, and can be loaded again. */
  #trim() {
    if (this.blocks <= MOST_BLOCKS) return;
    if ((this.blocks = size(this.list)) <= MOST_BLOCKS) return;
    const first = shorten(this.list, KEPT_BLOCKS);
    this.blocks = size(this.list);
    if (first) this.onTrim?.(first);
  }
}

const size = (node) => node.getElementsByClassName("block").length;
const goesOn = (unit) => Boolean($(":scope > [data-since], :scope > .own .tail", unit));

/** Keeps the last units that there is room for, and of one that goes on, its last. The event before
 *  which there is more; 0: nothing went. */
function shorten(home, room) {
  const units = [...home.children].filter((each) => each.matches(".block"));
  let gone = false, first = null;
  for (const unit of units.reverse()) {
    let weight = 1 + size(unit);
    const stays = !first || goesOn(unit) || (!gone && !seqOf(first));
    if (weight > room && !stays) { unit.remove(); room = 0; gone = true; continue; }
    const below = weight > room && unit.matches(":not(.row)") && $(":scope > .below", unit);
    if (below) {
      const before = shorten(below, Math.max(FEWEST_BELOW, room - 1));
      if (before > 1) earlier(below, before);
      weight = 1 + size(unit);
    }
    room = Math.max(0, room - weight);
    if (!gone) first = unit;
  }
  return gone ? seqOf(first) : 0;
}

/** Where to read what a sub-agent did before. */
function earlier(below, before) {
  $(":scope > .earlier", below)?.remove();
  below.prepend(element("p", { class: "earlier" }, element("a", { href: `?at=${before - 1}` }, "Earlier")));
}

/** The event that began a unit; 0: its id does not say. */
export function seqOf(unit) {
  return Number(/^b\d+\.(\d+)/.exec(unit.id)?.[1] ?? 0);
}

const CHANGES = {
  put(known, text, before, inside) {
    if (this.past && inside === null) return;
    const made = html(text).firstElementChild;
    if (known) { known.replaceWith(made); return; }
    let home = this.list;
    this.blocks += 1 + (inside === null ? size(made) : 0);
    if (inside !== null) {
      const unit = document.getElementById(`b${inside}`) ?? this.adopted(inside);
      if (!unit) return;
      if (unit.childElementCount < 2) unit.append(html('<div class="below"></div>'));
      home = unit.children[1];
    }
    const following = before === null ? null : document.getElementById(`b${before}`);
    home.insertBefore(made, following?.parentNode === home ? following : null);
    this.onPut?.(made);
  },
  set(unit, text) {
    if (unit) morph(unit.firstElementChild, text);
  },
  drop(unit) {
    if (!unit) return;
    const home = unit.parentNode;
    unit.remove();
    if (home.className === "below" && !home.childElementCount) home.remove();
  },
  more(unit, text, tail) {
    const end = unit && $(".tail", unit);
    if (!end) return;
    end.before(html(text));
    if (tail === null) end.remove();
    else end.replaceChildren(html(tail));
  },
  tail(unit, text) {
    (unit && $(".tail", unit))?.replaceChildren(html(text));
  },
  text(unit, text) {
    const raw = unit && $(".tail .raw", unit);
    if (!raw) return;
    if (raw.lastChild?.nodeType === 3) raw.lastChild.appendData(text);
    else raw.append(text);
  },
  lines(output, lost, cut, text, kept) {
    const lines = output && $(".lines", output);
    if (!lines) return;
    if (cut < 0) lines.replaceChildren();
    else while (cut-- > 0) lines.lastElementChild?.remove();
    lines.append(html(text));
    while (lines.childElementCount > kept) lines.firstElementChild.remove();
    if (lost) lines.dataset.lost = lost > 0 ? lost : "";
  },
};
