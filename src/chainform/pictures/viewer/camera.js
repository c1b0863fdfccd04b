// The eye turns about a target; it glides to where it is asked to be.

const FIELD = Math.PI / 6;
const SMOOTH = 0.09; // seconds in which most of a move is done

class Camera {
  constructor(stage) {
    this.stage = stage;
    this.aspect = 1;
    this.follow = stage.follow;
    this.wanted = { azimuth: stage.azimuth, elevation: stage.elevation };
    this.home();
    this.settle();
  }

  /** Look from where the whole motion is seen. */
  home(azimuth = this.stage.azimuth, elevation = this.stage.elevation) {
    const turn = azimuth - this.wanted.azimuth;
    // The shorter way round.
    const nearest = this.wanted.azimuth + turn - 2 * Math.PI * Math.round(turn / (2 * Math.PI));
    Object.assign(this.wanted, { azimuth: nearest, elevation }, this.fit(azimuth, elevation));
    this.isHome = true;
  }

  /** The target and the distance from which all outmost points are seen. */
  fit(azimuth, elevation) {
    const { right, upright, towards } = this.axes(azimuth, elevation);
    const slope = Math.tan(FIELD / 2);
    const room = [slope * this.aspect * 0.92, slope * 0.76];
    const high = [-Infinity, -Infinity];
    const low = [-Infinity, -Infinity];
    const middle = this.stage.centre;
    for (const point of this.stage.outline) {
      const local = subtract(point, middle);
      const z = dot(local, towards);
      [right, upright].forEach((axis, k) => {
        const x = dot(local, axis) / room[k];
        high[k] = Math.max(high[k], z + x);
        low[k] = Math.max(low[k], z - x);
      });
    }
    const distance = Math.max((high[0] + low[0]) / 2, (high[1] + low[1]) / 2, 1e-6);
    const across = [0, 1].map((k) => ((high[k] - low[k]) / 2) * room[k]);
    // The bar of controls covers the lower edge.
    const target = add(middle, add(scale(across[0], right), scale(across[1], upright)));
    return { target: subtract(target, scale(0.09 * slope * distance, upright)), distance };
  }

  axes(azimuth = this.now.azimuth, elevation = this.now.elevation) {
    const { up, across } = this.stage;
    const side = cross(up, across);
    const level = add(scale(Math.cos(azimuth), across), scale(Math.sin(azimuth), side));
    const towards = add(scale(Math.cos(elevation), level), scale(Math.sin(elevation), up));
    const right = add(scale(-Math.sin(azimuth), across), scale(Math.cos(azimuth), side));
    return { right, towards, upright: cross(towards, right) };
  }

  orbit(dx, dy) {
    const limit = Math.PI / 2 - 0.01;
    this.wanted.azimuth -= dx * 0.006;
    this.wanted.elevation = clamp(this.wanted.elevation + dy * 0.006, -limit, limit);
    this.isHome = false;
  }

  /** Move by a share of the height of the picture. */
  pan(dx, dy) {
    const { right, upright } = this.axes();
    const reach = 2 * Math.tan(FIELD / 2) * this.wanted.distance;
    const move = add(scale(-dx * reach, right), scale(dy * reach, upright));
    this.wanted.target = add(this.wanted.target, move);
    this.isHome = false;
  }

  zoom(factor) {
    const far = 60 * this.stage.radius;
    this.wanted.distance = clamp(this.wanted.distance * factor, 0.02 * this.stage.radius, far);
    this.isHome = false;
  }

  settle() {
    this.now = { ...this.wanted };
  }

  /** Glide for some seconds; tell whether the picture has changed. */
  glide(seconds) {
    const share = 1 - Math.exp(-seconds / SMOOTH);
    const { now, wanted } = this;
    const rest =
      Math.abs(wanted.azimuth - now.azimuth) +
      Math.abs(wanted.elevation - now.elevation) +
      Math.abs(wanted.distance / now.distance - 1) +
      length(subtract(wanted.target, now.target)) / wanted.distance;
    if (rest < 1e-5) {
      this.settle();
      return rest > 0;
    }
    now.azimuth += share * (wanted.azimuth - now.azimuth);
    now.elevation += share * (wanted.elevation - now.elevation);
    now.distance *= Math.pow(wanted.distance / now.distance, share);
    now.target = mixed(now.target, wanted.target, share);
    return true;
  }

  /** What is needed to draw: the matrix to the picture, the eye and the way towards it. */
  view(offset) {
    const { right, upright, towards } = this.axes();
    const target = add(this.now.target, offset);
    const eye = add(target, scale(this.now.distance, towards));
    const reach = this.now.distance + 8 * this.stage.radius;
    const near = Math.max(this.now.distance - 4 * this.stage.radius, this.now.distance / 50);
    const f = 1 / Math.tan(FIELD / 2);
    const flat = new Float32Array([
      f / this.aspect, 0, 0, 0, 0, f, 0, 0,
      0, 0, (reach + near) / (near - reach), -1, 0, 0, (2 * reach * near) / (near - reach), 0,
    ]);
    const turn = new Float32Array([
      right[0], upright[0], towards[0], 0, right[1], upright[1], towards[1], 0,
      right[2], upright[2], towards[2], 0,
      -dot(right, eye), -dot(upright, eye), -dot(towards, eye), 1,
    ]);
    return { matrix: product(flat, turn), eye, towards, target };
  }
}

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
