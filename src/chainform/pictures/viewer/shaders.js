// Programs of the graphics processor.

const HEAD = "#version 300 es\nprecision highp float;\n";

const BODY = {
  vertex: `${HEAD}
    in vec3 position; in vec3 normal; in vec4 colour;
    uniform mat4 view; uniform mat4 model; uniform mat3 turn;
    out vec3 n; out vec3 place; out vec4 shade;
    void main() {
      vec4 world = model * vec4(position, 1.0);
      place = world.xyz; n = turn * normal; shade = colour;
      gl_Position = view * world;
    }`,
  fragment: `${HEAD}
    in vec3 n; in vec3 place; in vec4 shade;
    uniform vec3 eye; uniform vec3 light; uniform vec3 up; uniform float alpha; uniform float glow;
    out vec4 result;
    void main() {
      vec3 normal = normalize(n);
      vec3 towards = normalize(eye - place);
      float diffuse = max(dot(normal, light), 0.0);
      float sky = 0.5 + 0.5 * dot(normal, up);
      float shine = pow(max(dot(normal, normalize(light + towards)), 0.0), 48.0);
      float rim = pow(1.0 - max(dot(normal, towards), 0.0), 3.0);
      vec3 lit = shade.rgb * (0.5 + 0.24 * sky + 0.44 * diffuse) + 0.22 * shine + glow * 0.16 * rim;
      result = vec4(lit * alpha, alpha);
    }`,
};

// Bodies along the light onto the floor, into a small picture of their shadows.
const SHADOW = {
  vertex: `${HEAD}
    in vec3 position;
    uniform mat4 model; uniform vec3 light; uniform vec3 normal; uniform float height;
    uniform vec3 x; uniform vec3 y; uniform vec3 middle; uniform float reach;
    void main() {
      vec3 world = (model * vec4(position, 1.0)).xyz;
      float above = dot(world, normal) - height;
      vec3 thrown = world - light * (above / dot(light, normal)) - middle;
      gl_Position = vec4(dot(thrown, x) / reach, dot(thrown, y) / reach, above < 0.0 ? 2.0 : 0.0, 1.0);
    }`,
  fragment: `${HEAD}
    out vec4 result;
    void main() { result = vec4(1.0); }`,
};

const FLOOR = {
  vertex: `${HEAD}
    in vec2 corner;
    uniform mat4 view; uniform vec3 x; uniform vec3 y; uniform vec3 middle; uniform float reach;
    out vec2 at;
    void main() {
      at = corner * reach;
      gl_Position = view * vec4(middle + x * at.x + y * at.y, 1.0);
    }`,
  fragment: `${HEAD}
    in vec2 at;
    uniform vec2 origin; uniform float unit; uniform float reach; uniform float shaded;
    uniform vec3 line; uniform vec3 dark; uniform sampler2D shadow; uniform float strength;
    out vec4 result;
    float grid(vec2 place, float width) {
      vec2 wide = fwidth(place) * width;
      vec2 off = abs(fract(place - 0.5) - 0.5);
      vec2 hit = 1.0 - smoothstep(wide * 0.25, wide, off);
      // Lines nearer than their width melt into an even shade.
      hit *= 1.0 - smoothstep(0.2, 0.6, wide);
      return max(hit.x, hit.y);
    }
    void main() {
      vec2 place = (at + origin) / unit;
      float far = length(at) / reach;
      float fade = pow(max(1.0 - far, 0.0), 1.5);
      vec2 axis = abs(place) / max(fwidth(place), vec2(1e-9));
      float middle = 1.0 - smoothstep(0.4, 1.2, min(axis.x, axis.y));
      float lines = max(0.55 * grid(place, 1.0), middle);
      vec2 uv = at / shaded * 0.5 + 0.5;
      float thrown = 0.0;
      if (all(greaterThan(uv, vec2(0.01))) && all(lessThan(uv, vec2(0.99)))) {
        // Four places of a coarse picture make a soft edge.
        for (int i = -1; i <= 1; i += 2)
          for (int j = -1; j <= 1; j += 2)
            thrown += textureLod(shadow, uv + vec2(i, j) * 0.0022, 1.6).r * strength / 4.0;
      }
      float a = lines * fade;
      result = vec4(line * a * (1.0 - thrown) + dark * thrown, a + thrown - a * thrown);
    }`,
};

// Lines of even width on the picture; `age` counts points along a line.
const LINE = {
  vertex: `${HEAD}
    in vec3 before; in vec3 position; in vec3 after; in vec2 sideAge;
    uniform mat4 view; uniform vec2 size; uniform float width;
    out float age;
    vec2 screen(vec4 p) { return p.xy / max(abs(p.w), 1e-9) * size; }
    void main() {
      vec4 here = view * vec4(position, 1.0);
      vec2 a = screen(view * vec4(before, 1.0)), b = screen(view * vec4(after, 1.0));
      vec2 along = b - a;
      along = length(along) > 1e-6 ? normalize(along) : vec2(1.0, 0.0);
      here.xy += vec2(-along.y, along.x) * sideAge.x * width / size * here.w;
      age = sideAge.y;
      gl_Position = here;
    }`,
  fragment: `${HEAD}
    in float age;
    uniform vec3 colour; uniform float newest; uniform float fade;
    out vec4 result;
    void main() {
      float a = mix(1.0, 0.25 + 0.75 * clamp(age / max(newest, 1.0), 0.0, 1.0), fade);
      result = vec4(colour * a, a);
    }`,
};
