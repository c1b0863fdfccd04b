// Where frames, points and coordinates are at any time.

class Motion {
  constructor(data) {
    this.data = data;
    this.poses = numbersOf(data.poses);
    this.q = numbersOf(data.q);
    this.frames = data.frames;
    this.count = data.count;
    this.start = data.start;
    this.end = data.end;
  }

  /** The two stored frames around a time, and how far it is from the first to the second. */
  place(time) {
    const span = this.end - this.start;
    const at = span > 0 ? (clamp((time - this.start) / span, 0, 1) * (this.count - 1)) : 0;
    const left = Math.min(Math.floor(at), Math.max(this.count - 2, 0));
    return { left, right: Math.min(left + 1, this.count - 1), share: at - left, at };
  }

  /** The matrices of all frames at a time, and the middle of the moving ones. */
  matrices(time) {
    const { left, right, share } = this.place(time);
    const result = [];
    let middle = [0, 0, 0];
    for (let frame = 0; frame < this.frames; frame++) {
      const a = this.poses.subarray(7 * (left * this.frames + frame)).subarray(0, 7);
      const b = this.poses.subarray(7 * (right * this.frames + frame)).subarray(0, 7);
      const sign = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0 ? -1 : 1;
      const turn = [0, 1, 2, 3].map((k) => (1 - share) * a[k] + sign * share * b[k]);
      const size = Math.hypot(...turn) || 1;
      const origin = [4, 5, 6].map((k) => (1 - share) * a[k] + share * b[k]);
      result.push(poseMatrix(turn.map((entry) => entry / size), origin));
      if (frame > 0) middle = add(middle, scale(1 / (this.frames - 1), origin));
    }
    return { matrices: result, middle };
  }

  /** The path of a point of a frame through all stored frames. */
  path(frame, local) {
    const points = [];
    for (let k = 0; k < this.count; k++) {
      const pose = this.poses.subarray(7 * (k * this.frames + frame)).subarray(0, 7);
      points.push(moved(poseMatrix(pose, pose.subarray(4)), local));
    }
    return points;
  }

  /** The coordinates at a time. */
  coordinates(time) {
    const { left, right, share } = this.place(time);
    const n = this.data.coordinates.length;
    return this.data.coordinates.map(
      (_, k) => (1 - share) * this.q[left * n + k] + share * this.q[right * n + k],
    );
  }
}
