// Small helpers around WebGL: programs, arrays of corners, lines.

function program(gl, { vertex, fragment }) {
  const whole = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
      throw new Error(gl.getShaderInfoLog(shader) || "a shader was refused");
    }
    gl.attachShader(whole, shader);
  }
  gl.linkProgram(whole);
  if (!gl.getProgramParameter(whole, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(gl.getProgramInfoLog(whole) || "a program was refused");
  }
  const places = new Map();
  const at = (name) => {
    if (!places.has(name)) places.set(name, gl.getUniformLocation(whole, name));
    return places.get(name);
  };
  return { program: whole, at };
}

/** Arrays of corners for a program: names, numbers per corner, values; bytes count from 0 to 1. */
function arrays(gl, use, attributes) {
  const array = gl.createVertexArray();
  gl.bindVertexArray(array);
  for (const [name, size, values] of attributes) {
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    const place = gl.getAttribLocation(use.program, name);
    const isBytes = values instanceof Uint8Array;
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, isBytes ? gl.UNSIGNED_BYTE : gl.FLOAT, isBytes, 0, 0);
  }
  gl.bindVertexArray(null);
  return array;
}

/** An empty line: each point has two corners, and each corner knows its neighbours. */
function line(gl, use) {
  const array = gl.createVertexArray();
  const buffer = gl.createBuffer();
  gl.bindVertexArray(array);
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  const fields = [["before", 3], ["position", 3], ["after", 3], ["sideAge", 2]];
  let offset = 0;
  for (const [name, size] of fields) {
    const place = gl.getAttribLocation(use.program, name);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, gl.FLOAT, false, 44, offset);
    offset += 4 * size;
  }
  gl.bindVertexArray(null);
  return { array, buffer, points: 0 };
}

function setLine(gl, target, points) {
  const values = new Float32Array(22 * points.length);
  points.forEach((point, k) => {
    const before = points[Math.max(k - 1, 0)];
    const after = points[Math.min(k + 1, points.length - 1)];
    values.set([...before, ...point, ...after, 1, k], 22 * k);
    values.set([...before, ...point, ...after, -1, k], 22 * k + 11);
  });
  gl.bindBuffer(gl.ARRAY_BUFFER, target.buffer);
  gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
  target.points = points.length;
}

function drawLine(gl, use, target, points, colour, fade) {
  gl.uniform3fv(use.at("colour"), scale(1 / 255, colour));
  gl.uniform1f(use.at("newest"), points - 1);
  gl.uniform1f(use.at("fade"), fade);
  gl.bindVertexArray(target.array);
  gl.drawArrays(gl.TRIANGLE_STRIP, 0, 2 * Math.min(points, target.points));
}
