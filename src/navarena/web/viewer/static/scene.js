// Walk through a scene: held keys and drags become small moves, one after each image.
"use strict";
import { connect, find, make, paint } from "/static/link.js";

const METRES_PER_SECOND = 2.2, RADIANS_PER_PIXEL = 0.004, TURN_PER_SECOND = 1.6, LONGEST_SECONDS = 0.1;
const DIRECTIONS = {
  w: ["forward", 1], ArrowUp: ["forward", 1], s: ["forward", -1], ArrowDown: ["forward", -1],
  a: ["side", -1], d: ["side", 1], ArrowLeft: ["turn", 1], ArrowRight: ["turn", -1], q: ["up", 1], e: ["up", -1],
};
const held = new Set(), pending = { forward: 0, side: 0, up: 0, turn: 0, tilt: 0 };
let state = {}, waiting = false, last = performance.now(), frames = 0, counted = performance.now(), drag = null;

const send = connect(show, () => {
  find("none").hidden = false;
  find("none").textContent = "The program has ended.";
});

function clamp(value) { return Math.max(-10, Math.min(10, value)); }

function step() {
  const now = performance.now(), seconds = Math.min((now - last) / 1000, LONGEST_SECONDS);
  last = now;
  for (const key of held) {
    const [axis, sign] = DIRECTIONS[key];
    const speed = axis === "turn" ? TURN_PER_SECOND : METRES_PER_SECOND * (state.orbits ? 3 : 1);
    pending[axis] += sign * speed * seconds;
  }
  if (waiting || !Object.values(pending).some((value) => value !== 0)) return;
  waiting = true;
  send({ do: "move", ...Object.fromEntries(Object.entries(pending).map(([name, value]) => [name, clamp(value)])) });
  for (const name in pending) pending[name] = 0;
}

function loop() {
  step();
  requestAnimationFrame(loop);
}
requestAnimationFrame(loop);

function nameOf(event) { return event.key.length === 1 ? event.key.toLowerCase() : event.key; }

document.addEventListener("keydown", (event) => {
  if (event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey) return;
  const key = nameOf(event);
  if (key in DIRECTIONS) {
    event.preventDefault();
    if (!event.repeat) {
      const [axis, sign] = DIRECTIONS[key];
      pending[axis] += sign * 0.05;
      held.add(key);
    }
  } else if (key === "o") toggle("orbit", !state.orbits);
  else if (key === "g") toggle("navmesh", !state.overlays.includes("navmesh"));
  else if (key === "v") toggle("view points", !state.overlays.includes("view points"));
});
document.addEventListener("keyup", (event) => held.delete(nameOf(event)));
window.addEventListener("blur", () => held.clear());

function toggle(name, on) { send({ do: "show", name, on }); }

const view = find("view");
view.addEventListener("pointerdown", (event) => {
  view.setPointerCapture(event.pointerId);
  drag = { x: event.clientX, y: event.clientY, moved: 0 };
});
view.addEventListener("pointermove", (event) => {
  if (!drag) return;
  const right = event.clientX - drag.x, down = event.clientY - drag.y;
  drag = { x: event.clientX, y: event.clientY, moved: drag.moved + Math.abs(right) + Math.abs(down) };
  pending.turn += (state.orbits ? -1 : 1) * right * RADIANS_PER_PIXEL;
  pending.tilt += (state.orbits ? -1 : 1) * down * RADIANS_PER_PIXEL;
});
view.addEventListener("pointerup", (event) => {
  const clicked = drag && drag.moved < 5;
  drag = null;
  if (!clicked) return;
  const box = find("canvas").getBoundingClientRect();
  const x = (event.clientX - box.left) / box.width, y = (event.clientY - box.top) / box.height;
  if (x >= 0 && x <= 1 && y >= 0 && y <= 1) send({ do: "pick", x, y });
});
view.addEventListener("pointercancel", () => { drag = null; });
view.addEventListener("wheel", (event) => {
  event.preventDefault();
  pending.forward -= Math.sign(event.deltaY) * (state.orbits ? 1 : 0.25);
}, { passive: false });

find("walk").addEventListener("click", () => toggle("orbit", false));
find("orbit").addEventListener("click", () => toggle("orbit", true));
find("navmesh").addEventListener("click", () => toggle("navmesh", !state.overlays.includes("navmesh")));
find("points").addEventListener("click", () => toggle("view points", !state.overlays.includes("view points")));
find("storey").addEventListener("input", () => send({ do: "choose", number: Number(find("storey").value) }));

function press(id, on) { find(id).setAttribute("aria-pressed", String(on)); }

function showPicked(picked) {
  find("nothing").hidden = Boolean(picked);
  find("nothing").textContent = state.labelled ? "Click an object." : "This scene has no labels: there is nothing to pick.";
  const rows = picked ? [["name", picked.name], ["category", picked.category], ...Object.entries(picked.attributes), ["room", picked.room || "–"],
    ["extent", `${picked.size.join(" × ")} m`], ["centre", `${picked.center.join(", ")} m`]] : [];
  find("picked").replaceChildren(...rows.flatMap(([name, value]) => [make("dt", name), make("dd", value)]));
}

function show(shown, images) {
  if (shown.phase !== "scene") return;
  state = shown;
  waiting = false;
  frames += 1;
  const now = performance.now();
  if (now - counted > 1000) {
    find("rate").textContent = String(Math.round((1000 * frames) / (now - counted)));
    document.body.dataset.rate = find("rate").textContent;
    frames = 0;
    counted = now;
  }
  document.body.dataset.phase = "scene";
  find("none").hidden = true;
  paint(find("canvas"), images.view);
  find("scene").textContent = shown.scene;
  find("room").textContent = shown.orbits ? "from above" : shown.room;
  find("place").textContent = shown.place.map((one) => one.toFixed(1)).join(", ");
  press("walk", !shown.orbits);
  press("orbit", shown.orbits);
  press("navmesh", shown.overlays.includes("navmesh"));
  press("points", shown.overlays.includes("view points"));
  find("storey-section").hidden = shown.storeys < 2;
  find("storey").max = String(shown.storeys);
  find("storey").value = String(shown.storey < 0 ? shown.storeys : shown.storey);
  find("storey-name").textContent = shown.storey < 0 ? "all" : `${shown.storey + 1} of ${shown.storeys}`;
  find("hint").textContent = shown.overlays.includes("view points") && !shown.picked ? "View points are those of the object that is picked." : "";
  showPicked(shown.picked);
  find("problem").hidden = !shown.problem;
  find("problem").textContent = shown.problem;
}
