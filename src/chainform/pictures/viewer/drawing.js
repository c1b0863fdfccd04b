// Everything that is drawn, by WebGL.

const SHADOW_SIZE = 768;
const SHADOW_LEVELS = 4;

class Drawing {
  constructor(canvas, motion) {
    const options = { antialias: true, premultipliedAlpha: true, powerPreference: "low-power" };
    const gl = canvas.getContext("webgl2", options);
    if (!gl) throw new Error("no WebGL");
    this.gl = gl;
    this.canvas = canvas;
    this.motion = motion;
    this.stage = motion.data.stage;
    this.programs = {
      body: program(gl, BODY),
      shadow: program(gl, SHADOW),
      floor: program(gl, FLOOR),
      line: program(gl, LINE),
    };
    this.groups = this.makeGroups(motion.data.parts);
    this.struts = motion.data.spans.filter((span) => span.kind === "strut");
    this.springs = motion.data.spans.filter((span) => span.kind === "spring");
    this.rods = this.struts.map((span) => this.makeGroup([{ ...ROD, colour: span.colour }]));
    this.square = arrays(gl, this.programs.floor, [
      ["corner", 2, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1])],
    ]);
    this.coils = this.springs.map(() => line(gl, this.programs.line));
    this.trace = line(gl, this.programs.line);
    this.makeShadow();
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.CULL_FACE);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  /** Corners of parts together, by frame and layer. */
  makeGroups(parts) {
    const sorted = new Map();
    for (const part of parts) {
      const key = `${part.frame} ${part.layer}`;
      if (!sorted.has(key)) sorted.set(key, []);
      sorted.get(key).push(part);
    }
    return Array.from(sorted.values(), (some) => this.makeGroup(some));
  }

  makeGroup(parts) {
    const corners = new Corners();
    for (const part of parts) addPart(corners, part);
    const numbers = new Float32Array(corners.numbers);
    const position = new Float32Array(3 * corners.count);
    const normal = new Float32Array(3 * corners.count);
    for (let k = 0; k < corners.count; k++) {
      position.set(numbers.subarray(6 * k, 6 * k + 3), 3 * k);
      normal.set(numbers.subarray(6 * k + 3, 6 * k + 6), 3 * k);
    }
    const colour = new Uint8Array(corners.colours);
    const own = arrays(this.gl, this.programs.body, [
      ["position", 3, position],
      ["normal", 3, normal],
      ["colour", 3, colour],
    ]);
    const cast = arrays(this.gl, this.programs.shadow, [["position", 3, position]]);
    const { frame, layer } = parts[0];
    return { frame, layer, count: corners.count, own, cast };
  }

  makeShadow() {
    const gl = this.gl;
    this.texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texStorage2D(gl.TEXTURE_2D, SHADOW_LEVELS, gl.RGBA8, SHADOW_SIZE, SHADOW_SIZE);
    for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) {
      gl.texParameteri(gl.TEXTURE_2D, side, gl.CLAMP_TO_EDGE);
    }
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
    this.buffer = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.buffer);
    const place = [gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.texture, 0];
    gl.framebufferTexture2D(...place);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  /** Trace a point, or nothing for null. */
  setTrace(point) {
    const path = point ? this.motion.path(point.frame, point.local) : [];
    setLine(this.gl, this.trace, path);
  }

  /** Draw one picture: `look` holds the view, the layers that are shown and the colours. */
  draw(time, look) {
    const { gl, canvas } = this;
    const { matrices } = this.motion.matrices(time);
    const bodies = this.bodies(matrices, look.layers);
    const floor = this.floorPlace(look.view.target);
    if (look.layers.floor) this.drawShadows(bodies, floor);
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(...look.theme.paper, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (look.layers.floor) this.drawFloor(floor, look);
    this.drawBodies(bodies.filter((body) => body.layer !== "inertia"), look, 1);
    this.drawLines(matrices, time, look);
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    this.drawBodies(bodies.filter((body) => body.layer === "inertia"), look, 0.4);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }

  /** All groups that are shown, with their matrices. */
  bodies(matrices, layers) {
    const shown = this.groups.filter((group) => layers[group.layer] !== false);
    const bodies = shown.map((group) => ({ ...group, matrix: matrices[group.frame] }));
    this.struts.forEach((span, k) => {
      const [start, end] = ends(span, matrices);
      const gap = subtract(end, start);
      if (length(gap) < 1e-9) return;
      const [x, y] = besides(unit(gap));
      const matrix = columnsMatrix(scale(span.radius, x), scale(span.radius, y), gap, start);
      bodies.push({ ...this.rods[k], layer: "body", matrix });
    });
    return bodies;
  }

  /** The square of the floor that is drawn: its middle lies below the target. */
  floorPlace(target) {
    const { normal, floor, radius, axes } = this.stage;
    const middle = add(target, scale(floor - dot(target, normal), normal));
    return { x: axes[0], y: axes[1], middle, reach: 9 * radius, shaded: 2.6 * radius };
  }

  drawShadows(bodies, floor) {
    const { gl, stage } = this;
    const use = this.programs.shadow;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.buffer);
    gl.viewport(0, 0, SHADOW_SIZE, SHADOW_SIZE);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.CULL_FACE);
    gl.useProgram(use.program);
    gl.uniform3fv(use.at("light"), stage.light);
    gl.uniform3fv(use.at("normal"), stage.normal);
    gl.uniform1f(use.at("height"), stage.floor - 1e-4 * stage.radius);
    gl.uniform3fv(use.at("x"), floor.x);
    gl.uniform3fv(use.at("y"), floor.y);
    gl.uniform3fv(use.at("middle"), floor.middle);
    gl.uniform1f(use.at("reach"), floor.shaded);
    for (const body of bodies) {
      if (["inertia", "axes", "frame"].includes(body.layer)) continue;
      gl.uniformMatrix4fv(use.at("model"), false, body.matrix);
      gl.bindVertexArray(body.cast);
      gl.drawArrays(gl.TRIANGLES, 0, body.count);
    }
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.CULL_FACE);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.generateMipmap(gl.TEXTURE_2D);
  }

  drawFloor(floor, look) {
    const { gl } = this;
    const use = this.programs.floor;
    gl.useProgram(use.program);
    gl.uniformMatrix4fv(use.at("view"), false, look.view.matrix);
    for (const name of ["x", "y", "middle"]) gl.uniform3fv(use.at(name), floor[name]);
    for (const name of ["reach", "shaded"]) gl.uniform1f(use.at(name), floor[name]);
    gl.uniform2f(use.at("origin"), dot(floor.middle, floor.x), dot(floor.middle, floor.y));
    gl.uniform1f(use.at("unit"), this.stage.step);
    gl.uniform1f(use.at("strength"), look.theme.strength);
    gl.uniform3fv(use.at("line"), look.theme.line);
    gl.uniform3fv(use.at("dark"), look.theme.shadow);
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.bindVertexArray(this.square);
    gl.enable(gl.BLEND);
    gl.disable(gl.CULL_FACE);
    gl.depthMask(false);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.depthMask(true);
    gl.enable(gl.CULL_FACE);
    gl.disable(gl.BLEND);
  }

  drawBodies(bodies, look, alpha) {
    const { gl, stage } = this;
    const use = this.programs.body;
    gl.useProgram(use.program);
    gl.uniformMatrix4fv(use.at("view"), false, look.view.matrix);
    gl.uniform3fv(use.at("eye"), look.view.eye);
    gl.uniform3fv(use.at("light"), stage.light);
    gl.uniform3fv(use.at("up"), stage.up);
    gl.uniform1f(use.at("alpha"), alpha);
    gl.uniform1f(use.at("glow"), look.theme.glow);
    for (const body of bodies) {
      gl.uniformMatrix4fv(use.at("model"), false, body.matrix);
      gl.uniformMatrix3fv(use.at("turn"), false, normalMatrix(body.matrix));
      gl.bindVertexArray(body.own);
      gl.drawArrays(gl.TRIANGLES, 0, body.count);
    }
  }

  drawLines(matrices, time, look) {
    const { gl, canvas } = this;
    const use = this.programs.line;
    gl.useProgram(use.program);
    gl.uniformMatrix4fv(use.at("view"), false, look.view.matrix);
    gl.uniform2f(use.at("size"), canvas.width, canvas.height);
    gl.uniform1f(use.at("width"), 2.4 * look.density);
    gl.enable(gl.BLEND);
    gl.disable(gl.CULL_FACE);
    this.springs.forEach((span, k) => {
      setLine(gl, this.coils[k], coilBetween(...ends(span, matrices), span.radius));
      drawLine(gl, use, this.coils[k], this.coils[k].points, channels(span.colour), 0);
    });
    const newest = Math.floor(this.motion.place(time).at);
    if (this.trace.points > 1) {
      drawLine(gl, use, this.trace, newest + 1, channels(this.motion.data.traceColour), 1);
    }
    gl.enable(gl.CULL_FACE);
    gl.disable(gl.BLEND);
  }
}

const ends = (span, matrices) =>
  [span.first, span.last].map((end) => moved(matrices[end.frame], end.local));

/** Normals move with the columns of a matrix divided by the squares of their lengths. */
function normalMatrix(m) {
  const out = new Float32Array(9);
  for (let k = 0; k < 3; k++) {
    const column = [m[4 * k], m[4 * k + 1], m[4 * k + 2]];
    out.set(scale(1 / Math.max(dot(column, column), 1e-30), column), 3 * k);
  }
  return out;
}
