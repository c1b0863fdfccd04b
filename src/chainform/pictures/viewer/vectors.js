// Vectors are arrays of three numbers, rotations quaternions (x, y, z, w), matrices 4 x 4 by columns.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const subtract = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scale = (s, a) => [s * a[0], s * a[1], s * a[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const length = (a) => Math.hypot(a[0], a[1], a[2]);
const mixed = (a, b, s) => add(scale(1 - s, a), scale(s, b));

function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

function unit(a) {
  const size = length(a);
  return size > 0 ? scale(1 / size, a) : [0, 0, 1];
}

/** The matrix of a rotation and an origin. */
function poseMatrix(r, p) {
  const [x, y, z, w] = r;
  return new Float32Array([
    1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w), 0,
    2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w), 0,
    2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y), 0,
    p[0], p[1], p[2], 1,
  ]);
}

/** The matrix with three columns and an origin. */
function columnsMatrix(x, y, z, p) {
  return new Float32Array([...x, 0, ...y, 0, ...z, 0, ...p, 1]);
}

function product(a, b) {
  const out = new Float32Array(16);
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[4 * k + row] * b[4 * column + k];
      out[4 * column + row] = sum;
    }
  }
  return out;
}

/** Where a matrix takes a point. */
function moved(m, p) {
  return [0, 1, 2].map((i) => m[i] * p[0] + m[4 + i] * p[1] + m[8 + i] * p[2] + m[12 + i]);
}

/** Two unit vectors that make a right-handed set with the unit vector z. */
function besides(z) {
  const least = [0, 1, 2].reduce((a, b) => (Math.abs(z[a]) <= Math.abs(z[b]) ? a : b));
  const x = unit(cross([0, 1, 2].map((k) => (k === least ? 1 : 0)), z));
  return [x, cross(z, x)];
}

/** Bytes of base64 as numbers of single precision. */
function numbersOf(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

/** Red, green and blue, 0 to 255, of #rrggbb. */
const channels = (colour) => [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
