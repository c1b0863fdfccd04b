// Solids of revolution as triangles: position, normal and colour of each corner.

/** A growing list of corners: position and normal, six numbers, and a colour of three bytes. */
class Corners {
  constructor() {
    this.numbers = [];
    this.colours = [];
  }

  get count() {
    return this.colours.length / 3;
  }

  add(position, normal, colour) {
    this.numbers.push(...position, ...normal);
    this.colours.push(...colour);
  }
}

/** Add a part, a profile turned about z and moved to its place, to a list of corners. */
function addPart(corners, part) {
  const place = columnsMatrix(...[0, 1, 2, 3].map((k) => part.place.slice(3 * k, 3 * k + 3)));
  const normalOf = normalRule(place);
  const colours = [channels(part.colour), channels(part.second || part.colour)];
  const flat = part.sides === 4;
  for (const strip of part.strips) {
    for (let row = 0; row + 1 < strip.length / 4; row++) {
      for (let side = 0; side < part.sides; side++) {
        addFace(corners, strip, row, side, part.sides, flat, place, normalOf, colours);
      }
    }
  }
}

function addFace(corners, strip, row, side, sides, flat, place, normalOf, colours) {
  const steps = [[0, 0], [0, 1], [1, 1], [1, 0]];
  // Boxes are turned by an eighth, so that their sides are normal to x and y.
  const angle = (k) => ((k + (flat ? 0.5 : 0)) * 2 * Math.PI) / sides;
  const middle = (angle(side) + angle(side + 1)) / 2;
  const points = steps.map(([up, along]) => {
    const [r, z, nr, nz] = strip.slice(4 * (row + up), 4 * (row + up) + 4);
    const at = angle(side + along);
    const facing = flat ? middle : at;
    return {
      local: [r * Math.cos(at), r * Math.sin(at), z],
      normal: normalOf([nr * Math.cos(facing), nr * Math.sin(facing), nz]),
    };
  });
  const centre = points.reduce((sum, point) => add(sum, point.local), [0, 0, 0]);
  const colour = colours[centre[0] * centre[1] * centre[2] < 0 ? 1 : 0];
  for (const k of [0, 1, 2, 0, 2, 3]) {
    corners.add(moved(place, points[k].local), points[k].normal, colour);
  }
}

/** How normals move with a place that may stretch its axes, which are normal to one another. */
function normalRule(place) {
  const columns = [0, 1, 2].map((k) => Array.from(place.slice(4 * k, 4 * k + 3)));
  const shrunk = columns.map((c) => scale(1 / Math.max(dot(c, c), 1e-30), c));
  return (n) => unit(shrunk.reduce((sum, c, k) => add(sum, scale(n[k], c)), [0, 0, 0]));
}

/** The line of a coil spring between two points. */
function coilBetween(start, end, radius) {
  const gap = subtract(end, start);
  const z = unit(gap);
  const [x, y] = besides(z);
  const turns = 9;
  const count = 14 * turns;
  const points = [];
  for (let k = 0; k <= count; k++) {
    const s = k / count;
    // The ends of the coil run straight into the points.
    const wide = radius * Math.min(1, Math.max(0, Math.min(s, 1 - s) * 12 - 0.6));
    const angle = 2 * Math.PI * turns * s;
    const across = add(scale(wide * Math.cos(angle), x), scale(wide * Math.sin(angle), y));
    points.push(add(add(start, scale(s, gap)), across));
  }
  return points;
}

/** A cylinder of radius one from 0 to 1 along z. */
const ROD = {
  place: [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0],
  sides: 24,
  strips: [[0, 0, 0, -1, 1, 0, 0, -1], [1, 0, 1, 0, 1, 1, 1, 0], [1, 1, 0, 1, 0, 1, 0, 1]],
};
