// Time: playing, stepping, scrubbing.

const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];
const PAUSE = 0.6; // seconds at the end before it begins again

class Player {
  constructor(motion, speed) {
    this.motion = motion;
    this.time = motion.start;
    this.speed = speed;
    this.playing = false;
    this.waited = 0;
  }

  get span() {
    return this.motion.end - this.motion.start;
  }

  seek(time) {
    this.time = clamp(time, this.motion.start, this.motion.end);
    this.waited = 0;
  }

  /** Go to the stored frame that lies so many frames ahead. */
  step(frames) {
    this.playing = false;
    const last = this.motion.count - 1;
    const at = clamp(Math.round(this.motion.place(this.time).at) + frames, 0, last);
    this.seek(this.motion.start + (last > 0 ? (at / last) * this.span : 0));
  }

  toggle() {
    this.playing = !this.playing && this.span > 0;
    if (this.playing && this.time >= this.motion.end) this.seek(this.motion.start);
  }

  /** Let seconds pass; at the end wait a moment and begin again. */
  pass(seconds) {
    if (!this.playing) return;
    if (this.time >= this.motion.end) {
      this.waited += seconds;
      if (this.waited > PAUSE) this.seek(this.motion.start);
      return;
    }
    this.time = Math.min(this.time + seconds * this.speed, this.motion.end);
  }

  faster(way) {
    const all = [...new Set([...SPEEDS, this.speed])].sort((a, b) => a - b);
    this.speed = all[clamp(all.indexOf(this.speed) + way, 0, all.length - 1)];
  }
}
