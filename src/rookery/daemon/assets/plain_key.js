// A key where the browser offers no cryptography: on plain http at an address of the network. It
// is kept for this origin, but scripts of the page could read it (docs/security.md).
const P = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const G = [
  0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
  0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
];

const mod = (value, by = P) => ((value % by) + by) % by;
const text = (number) => number.toString(16).padStart(64, "0");
const number = (bytes) => BigInt(`0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`);

function inverse(value, by) {
  let [old, now, first, second] = [mod(value, by), by, 1n, 0n];
  while (now) {
    const times = old / now;
    [old, now] = [now, old - times * now];
    [first, second] = [second, first - times * second];
  }
  return mod(first, by);
}

// Points are [x, y, z] for x/z², y/z³; null is none.
function doubled([x, y, z]) {
  const yy = mod(y * y), zz = mod(z * z);
  const s = mod(4n * x * yy), slope = mod(3n * (x - zz) * (x + zz));
  const found = mod(slope * slope - 2n * s);
  return [found, mod(slope * (s - found) - 8n * yy * yy), mod(2n * y * z)];
}

function plusG(point) {
  if (!point) return [...G, 1n];
  const [x, y, z] = point;
  const zz = mod(z * z), across = mod(G[0] * zz - x), up = mod(G[1] * zz * z - y);
  if (!across) return up ? null : doubled(point);
  const square = mod(across * across), cube = mod(square * across), base = mod(x * square);
  const found = mod(up * up - cube - 2n * base);
  return [found, mod(up * (base - found) - y * cube), mod(z * across)];
}

/** times·G as [x, y]. */
function multiple(times) {
  let point = null;
  for (const bit of times.toString(2)) {
    point = point && doubled(point);
    if (bit === "1") point = plusG(point);
  }
  const [x, y, z] = point, over = inverse(z, P);
  return [mod(x * over * over), mod(y * over * over * over)];
}

/** From 1 to N − 1. */
function secret() {
  for (;;) {
    const found = number(crypto.getRandomValues(new Uint8Array(32)));
    if (found > 0n && found < N) return found;
  }
}

export function makeKey() {
  const own = secret(), [x, y] = multiple(own);
  return { key: Uint8Array.from(text(own).match(/../g), (pair) => parseInt(pair, 16)), open: `04${text(x)}${text(y)}` };
}

export function signature(key, bytes) {
  const digest = number(sha256(bytes));
  for (;;) {
    const once = secret(), r = mod(multiple(once)[0], N);
    const s = mod(inverse(once, N) * (digest + r * number(key)), N);
    if (r && s) return text(r) + text(s);
  }
}

/** The first 32 bits behind the point of a root of each of the first primes. */
const parts = (count, root) => {
  const found = [];
  for (let each = 2; found.length < count; each++) {
    let prime = true;
    for (let by = 2; by * by <= each; by++) if (each % by === 0) prime = false;
    if (prime) found.push(((each ** root) % 1) * 2 ** 32 | 0);
  }
  return found;
};

function sha256(bytes) {
  const rounds = parts(64, 1 / 3), state = parts(8, 1 / 2);
  const size = (bytes.length + 72) & ~63, padded = new DataView(new ArrayBuffer(size));
  bytes.forEach((byte, at) => padded.setUint8(at, byte));
  padded.setUint8(bytes.length, 0x80);
  padded.setUint32(size - 4, bytes.length * 8);
  const turn = (word, by) => (word >>> by) | (word << (32 - by));
  const words = new Int32Array(64);
  for (let from = 0; from < size; from += 64) {
    for (let at = 0; at < 64; at++) {
      if (at < 16) { words[at] = padded.getInt32(from + 4 * at); continue; }
      const near = words[at - 15], far = words[at - 2];
      words[at] = words[at - 16] + (turn(near, 7) ^ turn(near, 18) ^ (near >>> 3)) + words[at - 7] + (turn(far, 17) ^ turn(far, 19) ^ (far >>> 10));
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let at = 0; at < 64; at++) {
      const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + rounds[at] + words[at]) | 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, at) => { state[at] = (state[at] + word) | 0; });
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, at) => digest.setInt32(4 * at, word));
  return new Uint8Array(digest.buffer);
}
