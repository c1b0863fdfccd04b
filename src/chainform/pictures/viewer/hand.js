// Mouse, touch and pen on the picture: one finger turns, two move and zoom.

function handle(canvas, camera, changed) {
  const held = new Map();

  const spread = () => {
    const [a, b] = [...held.values()];
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, gap: Math.hypot(a.x - b.x, a.y - b.y) };
  };

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, { x: event.clientX, y: event.clientY });
    canvas.classList.add("held");
  });

  canvas.addEventListener("pointermove", (event) => {
    const old = held.get(event.pointerId);
    if (!old) return;
    const height = canvas.clientHeight || 1;
    const before = held.size === 2 ? spread() : null;
    const [dx, dy] = [event.clientX - old.x, event.clientY - old.y];
    held.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (before) {
      const after = spread();
      camera.pan((after.x - before.x) / height, (after.y - before.y) / height);
      if (after.gap > 0 && before.gap > 0) camera.zoom(before.gap / after.gap);
    } else if (event.shiftKey || event.buttons & 6) {
      camera.pan(dx / height, dy / height);
    } else {
      camera.orbit(dx, dy);
    }
    changed();
  });

  for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
    canvas.addEventListener(end, (event) => {
      held.delete(event.pointerId);
      if (held.size === 0) canvas.classList.remove("held");
    });
  }

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 0 ? 1 : 30;
    camera.zoom(Math.exp(clamp(event.deltaY * lines, -200, 200) * 0.0015));
    changed();
  }, { passive: false });

  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("dblclick", () => {
    camera.home();
    changed();
  });
}
