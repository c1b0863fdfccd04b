// From the data in the page to a moving picture.

const THEMES = {
  light: { paper: [246, 248, 251], line: [176, 187, 199], shadow: [76, 90, 107], strength: 0.3, glow: 0 },
  dark: { paper: [20, 24, 30], line: [74, 84, 97], shadow: [0, 0, 0], strength: 0.55, glow: 1 },
};

class View {
  constructor(data) {
    this.motion = new Motion(data);
    this.player = new Player(this.motion, data.speed);
    this.camera = new Camera(data.stage);
    this.canvas = byId("picture");
    this.layers = Object.fromEntries(LAYERS.map(([name, , shown]) => [name, shown]));
    this.layers.follow = data.stage.follow;
    this.trace = data.trace;
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.start();
    const act = (change) => {
      change(this);
      this.wake();
    };
    this.controls = new Controls(this.motion, this.player, this.camera, this.layers, act);
    new ResizeObserver(() => this.resize()).observe(this.canvas);
    this.dark.addEventListener("change", () => this.wake());
    this.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    this.canvas.addEventListener("webglcontextrestored", () => act(() => this.start()));
    this.resize();
    this.camera.home();
    this.camera.settle();
  }

  start() {
    this.drawing = new Drawing(this.canvas, this.motion);
    this.setTrace(this.trace);
  }

  setTrace(index) {
    this.trace = index;
    this.drawing.setTrace(this.motion.data.points[index] || null);
  }

  resize() {
    this.density = Math.min(window.devicePixelRatio || 1, 2);
    const { clientWidth, clientHeight } = this.canvas;
    this.canvas.width = Math.max(1, Math.round(clientWidth * this.density));
    this.canvas.height = Math.max(1, Math.round(clientHeight * this.density));
    this.camera.aspect = this.canvas.width / this.canvas.height;
    if (this.camera.isHome) {
      this.camera.home(this.camera.wanted.azimuth, this.camera.wanted.elevation);
      this.camera.settle();
    }
    this.wake();
  }

  /** Draw at the next moment, and go on as long as something moves. */
  wake() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    this.waiting = false;
    // After a rest the clock begins anew.
    const seconds = this.last === undefined ? 0 : Math.min((now - this.last) / 1000, 0.1);
    this.player.pass(seconds);
    const gliding = this.camera.glide(seconds || 0.016);
    this.draw();
    const moving = gliding || this.player.playing;
    this.last = moving ? now : undefined;
    document.documentElement.dataset.moving = moving;
    if (moving) this.wake();
  }

  /** How far the stage has moved: with the mechanism, or not at all. */
  offset() {
    const { motion, player, layers } = this;
    const { middle } = motion.matrices(layers.follow ? player.time : motion.start);
    if (motion.data.stage.follow) return middle;
    return layers.follow ? subtract(middle, motion.matrices(motion.start).middle) : [0, 0, 0];
  }

  draw() {
    if (this.drawing.gl.isContextLost()) return;
    const theme = THEMES[this.dark.matches ? "dark" : "light"];
    const colours = ["paper", "line", "shadow"].map((name) => [name, scale(1 / 255, theme[name])]);
    this.drawing.draw(this.player.time, {
      view: this.camera.view(this.offset()),
      layers: this.layers,
      theme: { ...theme, ...Object.fromEntries(colours) },
      density: this.density,
    });
    this.controls.show();
    document.documentElement.dataset.time = this.player.time.toFixed(6);
  }
}

function main() {
  const root = document.documentElement;
  let view;
  try {
    view = new View(JSON.parse(byId("data").textContent));
  } catch (error) {
    const isOld = error instanceof Error && error.message === "no WebGL";
    const text = isOld ? "this browser has no WebGL 2" : error;
    byId("trouble").textContent = `The motion cannot be shown: ${text}.`;
    byId("trouble").hidden = false;
    root.dataset.state = "failed";
    if (!isOld) console.error(error);
    return;
  }
  root.dataset.state = "ready";
  // Whoever holds this page in a frame may steer it.
  window.chainform = {
    seek: (time) => (view.player.seek(time), view.wake()),
    play: () => (view.player.playing || view.player.toggle(), view.wake()),
    pause: () => ((view.player.playing = false), view.wake()),
  };
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) window.chainform.play();
}

main();
