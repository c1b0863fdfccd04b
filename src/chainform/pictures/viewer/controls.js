// The bar, the panel and the keys. Names from the mechanism go into the page as text only.

const LAYERS = [
  ["centre", "mass centres", true],
  ["frame", "named frames", true],
  ["axes", "axes of bodies", false],
  ["inertia", "solids of equal inertia", false],
  ["floor", "floor", true],
  ["follow", "follow the mechanism", false],
];

/** So many marks of events have room beside each other. */
const MARKS = 500;

const byId = (id) => document.getElementById(id);

function make(tag, fields = {}, ...children) {
  const element = Object.assign(document.createElement(tag), fields);
  element.append(...children);
  return element;
}

/** Six characters or so of a number. */
const shown = (value) => (Math.abs(value) < 5e-4 ? 0 : value).toFixed(3).replace("-", "\u2212");

class Controls {
  constructor(motion, player, camera, layers, act) {
    Object.assign(this, { motion, player, camera, layers, act });
    const { data } = motion;
    this.digits = player.span < 1 ? 4 : player.span < 100 ? 2 : 1;
    byId("title").textContent = data.title;
    this.fillSpeeds();
    this.fillTrace();
    this.fillLayers();
    this.fillValues();
    this.fillMarks();
    this.listen();
  }

  fillSpeeds() {
    const all = [...new Set([...SPEEDS, this.player.speed])].sort((a, b) => a - b);
    byId("speed").append(
      ...all.map((speed) => make("option", { value: speed, textContent: `${speed}\u00d7` })),
    );
  }

  fillTrace() {
    const { points, trace } = this.motion.data;
    const names = ["nothing", ...points.map((point) => point.name)];
    byId("trace").append(
      ...names.map((name, k) => make("option", { value: k - 1, textContent: name })),
    );
    byId("trace").value = trace;
  }

  fillLayers() {
    const has = new Set(this.motion.data.parts.map((part) => part.layer));
    for (const [name, text] of LAYERS) {
      if (["centre", "frame", "axes", "inertia"].includes(name) && !has.has(name)) continue;
      const box = make("input", { type: "checkbox", name, checked: this.layers[name] });
      byId("layers").append(make("label", {}, box, text));
    }
  }

  fillValues() {
    const body = byId("values").querySelector("tbody");
    this.cells = this.motion.data.coordinates.map(({ name, unit, colour }) => {
      const dot = make("i");
      dot.style.background = colour;
      const value = make("td");
      const texts = [make("td", { textContent: name, title: name }), value];
      body.append(make("tr", {}, make("td", {}, dot), ...texts, make("td", { textContent: unit })));
      return value;
    });
    byId("values").hidden = this.cells.length === 0;
  }

  fillMarks() {
    const { start } = this.motion;
    const taken = new Set();
    for (const { t } of this.motion.data.events) {
      const share = this.player.span > 0 ? (t - start) / this.player.span : 0;
      // Of marks that would cover each other one is enough.
      const place = Math.round(MARKS * share);
      if (taken.has(place)) continue;
      taken.add(place);
      const mark = make("i");
      mark.style.left = `${100 * share}%`;
      byId("marks").append(mark);
    }
  }

  listen() {
    const { player, camera, act } = this;
    byId("play").addEventListener("click", () => act(() => player.toggle()));
    byId("scrub").addEventListener("input", (event) =>
      act(() => player.seek(this.motion.start + event.target.value * player.span)),
    );
    byId("speed").addEventListener("change", (event) =>
      act(() => (player.speed = Number(event.target.value))),
    );
    byId("trace").addEventListener("change", (event) =>
      act((view) => view.setTrace(Number(event.target.value))),
    );
    byId("layers").addEventListener("change", (event) =>
      act(() => (this.layers[event.target.name] = event.target.checked)),
    );
    byId("views").addEventListener("click", (event) => this.look(event.target.dataset.view));
    byId("values").addEventListener("toggle", () => act(() => {}));
    byId("more").addEventListener("click", () => {
      const panel = byId("panel");
      panel.hidden = !panel.hidden;
      byId("more").setAttribute("aria-expanded", String(!panel.hidden));
    });
    document.addEventListener("keydown", (event) => this.key(event));
    handle(byId("picture"), camera, () => act(() => {}));
  }

  /** Look from a side of the world, or from where it began. */
  look(view) {
    const { stage } = this.camera;
    const front = stage.front;
    const sides = {
      home: [stage.azimuth, stage.elevation],
      front: [front, 0],
      side: [front + Math.PI / 2, 0],
      top: [front, Math.PI / 2 - 0.01],
    };
    if (sides[view]) this.act(() => this.camera.home(...sides[view]));
  }

  key(event) {
    const isField = event.target.matches("select, input[type=checkbox], summary");
    if (event.ctrlKey || event.metaKey || event.altKey || isField) return;
    const { player, act } = this;
    const many = event.shiftKey ? 10 : 1;
    const rules = {
      " ": () => player.toggle(),
      k: () => player.toggle(),
      ArrowLeft: () => player.step(-many),
      ArrowRight: () => player.step(many),
      ArrowUp: () => player.faster(1),
      ArrowDown: () => player.faster(-1),
      Home: () => player.seek(this.motion.start),
      End: () => player.seek(this.motion.end),
    };
    const looks = { r: "home", 1: "front", 2: "side", 3: "top" };
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    // A button that has the focus is pressed by the space bar itself.
    if (name === " " && event.target.matches("button")) return;
    if (rules[name]) act(rules[name]);
    else if (looks[name]) this.look(looks[name]);
    else return;
    event.preventDefault();
  }

  /** Show the state of the player. */
  show() {
    const { player, motion } = this;
    document.documentElement.classList.toggle("playing", player.playing);
    byId("play").setAttribute("aria-label", player.playing ? "Pause" : "Play");
    byId("scrub").value = player.span > 0 ? (player.time - motion.start) / player.span : 0;
    const [time, end] = [player.time, motion.end].map((value) => value.toFixed(this.digits));
    if (this.written !== time) {
      byId("time").replaceChildren(`${time} s`, make("small", { textContent: ` / ${end}` }));
      byId("scrub").setAttribute("aria-valuetext", `${time} s`);
      this.written = time;
    }
    if (Number(byId("speed").value) !== player.speed) byId("speed").value = player.speed;
    this.showEvent();
    if (byId("values").open && !byId("panel").hidden) {
      motion.coordinates(player.time).forEach((q, k) => (this.cells[k].textContent = shown(q)));
    }
  }

  /** Name the last event for half a second of looking. */
  showEvent() {
    const { player } = this;
    const past = this.motion.data.events.filter(({ t }) => t <= player.time + 1e-12);
    const last = past[past.length - 1];
    const recent = last && player.time - last.t <= 0.6 * player.speed;
    if (recent && byId("event").textContent !== last.name) byId("event").textContent = last.name;
    byId("event").classList.toggle("shown", Boolean(recent));
  }
}
