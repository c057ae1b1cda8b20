// Play: keys and buttons become actions; the page shows what the program sends.
"use strict";
import { connect, fillTable, find, make, paint, showMap } from "/static/link.js";

const REPEAT_FIRST_MS = 280, REPEAT_MS = 100, CONTINUOUS_MS = 33;
const KEYS = {
  ArrowUp: "forward", w: "forward", ArrowDown: "backward", s: "backward", ArrowLeft: "left", a: "left",
  ArrowRight: "right", d: "right", r: "up", PageUp: "up", f: "down", PageDown: "down",
  " ": "declare", Enter: "declare", x: "end",
};
const NAMES = {
  forward: ["move_forward"], backward: ["move_backward"], left: ["turn_left"], right: ["turn_right"],
  up: ["look_up"], down: ["look_down"],
};
const LABELS = {
  forward: "forward", backward: "back", left: "turn left", right: "turn right", up: "look up", down: "look down",
};
const held = new Set();
let state = {}, sentAt = -1, timer = 0;
let early = "";  // pressed while the last action was under way; done after it

const send = connect(show, () => {
  if (state.phase !== "finished") showNone("The program has ended. Close this page, or start it again.");
  state = { ...state, phase: "ended" };
});

function showNone(text) {
  find("none").hidden = !text;
  find("none").textContent = text;
}

function indexOf(what) {
  const declaration = state.actions.indexOf(state.declaration);
  if (what === "declare") return declaration;
  if (what === "end") return state.declaration === "stop" ? -1 : state.actions.indexOf("stop");
  return (NAMES[what] ?? []).reduce((found, name) => (found >= 0 ? found : state.actions.indexOf(name)), -1);
}

function command(pressed) {
  const has = (what) => Number(pressed.has(what));
  const values = {
    linear_velocity: has("forward") - has("backward"), angular_velocity: has("left") - has("right"),
    camera_pitch_velocity: has("up") - has("down"), [state.declaration]: pressed.has("declare") ? 1 : -1,
  };
  return state.actions.map((name) => values[name] ?? 0);
}

function act(pressed) {
  if (state.phase !== "play" || sentAt === state.step) return;
  if (state.is_on_graphs) {
    if (pressed.has("left") || pressed.has("right")) return void send({ do: "look", left: pressed.has("left") ? 1 : -1 });
    if (!pressed.has("declare")) return;
  }
  if (state.is_continuous) {
    sentAt = state.step;
    return void send({ do: "act", step: state.step, command: command(pressed) });
  }
  const action = [...pressed].map(indexOf).find((index) => index >= 0);
  if (action !== undefined) choose(action);
}

function choose(action) {
  if (state.phase !== "play" || sentAt === state.step) return;
  sentAt = state.step;
  send({ do: "act", step: state.step, action });
}

function repeat(delay) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const moving = new Set([...held].filter((what) => what !== "declare" && what !== "end"));
    if (!moving.size) return;
    act(moving);
    repeat(state.is_continuous ? CONTINUOUS_MS : REPEAT_MS);
  }, delay);
}

function actEarly() {
  if (sentAt === state.step) return;
  const pressed = early ? new Set(state.is_continuous ? [...held, early] : [early]) : null;
  early = "";
  if (pressed) act(pressed);
}

function press(what) {
  if (held.has(what)) return;
  held.add(what);
  if (sentAt === state.step) early = what;
  else act(new Set(state.is_continuous ? held : [what]));
  repeat(state.is_continuous ? CONTINUOUS_MS : REPEAT_FIRST_MS);
}

document.addEventListener("keydown", (event) => {
  if (event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.target.tagName === "BUTTON" && (key === " " || key === "Enter")) return;
  if (key === "n" && !find("next").hidden && !find("score").hidden) return void find("next").click();
  if (state.phase !== "play") return;
  if (state.is_on_graphs && /^[1-9]$/.test(key) && Number(key) <= state.neighbours.length) {
    choose(state.neighbours[Number(key) - 1].action);
  } else if (key === "m" || (!state.is_on_graphs && /^[1-5]$/.test(key))) {
    const view = key === "m" ? state.views.find((one) => one.name === "map") : state.views[Number(key) - 1];
    if (view && !event.repeat) send({ do: "show", name: view.name, on: !view.on });
  } else if (key in KEYS) {
    event.preventDefault();
    if (!event.repeat) press(KEYS[key]);
  }
});
document.addEventListener("keyup", (event) => {
  held.delete(KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key]);
});
window.addEventListener("blur", () => held.clear());

find("begin").addEventListener("submit", (event) => {
  event.preventDefault();
  send({ do: "begin", name: find("name").value, consent: find("consent").checked });
});
find("next").addEventListener("click", () => {
  send({ do: "next" });
  find("view").focus();
});

function showCover(shown, before) {
  find("welcome").hidden = shown.phase !== "welcome";
  find("score").hidden = !["score", "finished"].includes(shown.phase);
  find("cover").hidden = find("welcome").hidden && find("score").hidden;
  if (shown.phase === "welcome") {
    find("person").textContent = `Person ${shown.person} of ${shown.people} · ${shown.identity}`;
    find("consent-text").textContent = shown.consent;
    find("problem").hidden = !shown.error;
    find("problem").textContent = shown.error;
    if (before !== "welcome") {
      find("begin").reset();
      find("name").focus();
    }
  } else if (!find("score").hidden && shown.score) {
    find("verdict").textContent = `${shown.score.verdict} after ${shown.score.steps} steps`;
    fillTable(find("metrics"), ["this episode", ""], shown.score.metrics.map((one) => [one.title, one.value]));
    find("summary").hidden = !shown.summary;
    if (shown.summary) fillTable(find("means"), shown.summary.columns, shown.summary.rows);
    find("next").hidden = shown.phase === "finished" && !shown.has_next;
    find("next").textContent = shown.phase === "finished" ? "Next person (N)" : "Next episode (N)";
    find("export").hidden = shown.phase !== "finished" || !shown.people;
  }
}

function showOthers(images) {
  const names = Object.keys(images).filter((name) => name !== "rgb" && name !== "goal");
  const figures = names.map((name) => {
    const old = find("others").querySelector(`[data-name="${name}"]`);
    if (old) return old;
    const figure = make("figure");
    figure.dataset.name = name;
    figure.append(document.createElement("canvas"), make("figcaption", name));
    return figure;
  });
  find("others").replaceChildren(...figures);
  names.forEach((name, k) => paint(figures[k].firstChild, images[name]));
}

function arrow(radians) {
  const holder = make("span");
  holder.innerHTML = '<svg viewBox="-12 -12 24 24" aria-hidden="true"><circle r="11"></circle><path d="M0-9 5 6 0 3-5 6Z"></path></svg>';
  holder.querySelector("path").setAttribute("transform", `rotate(${(-radians * 180) / Math.PI})`);
  return holder.firstChild;
}

function degrees(radians, ahead = "ahead") {
  const value = Math.round((radians * 180) / Math.PI);
  return value === 0 ? ahead : `${Math.abs(value)}° ${value > 0 ? "left" : "right"}`;
}

function showReadings(readings) {
  find("readings").replaceChildren(...Object.entries(readings).map(([name, values]) => {
    const line = make("div", "", "reading");
    if (name.startsWith("pointgoal")) {
      const when = name === "pointgoal" ? " (seen from the start)" : "";
      line.append(arrow(values[1]), make("span", `${values[0].toFixed(2)} m, ${degrees(values[1])}${when}`));
    } else if (name === "compass") {
      line.append(make("span", `compass: ${degrees(values[0], "as at the start")}`, "small"));
    } else {
      line.append(make("span", `${name}: ${values.map((one) => one.toFixed(2)).join(", ")} m`, "small"));
    }
    return line;
  }));
}

function showToggles(views) {
  find("toggles").replaceChildren(...views.map((view, k) => {
    const button = make("button", view.name + (view.privileged ? " *" : ""));
    button.type = "button";
    button.dataset.view = view.name;
    button.disabled = view.name === "rgb";
    button.title = view.name === "map" ? "M" : String(k + 1);
    button.setAttribute("aria-pressed", String(view.on));
    button.addEventListener("click", () => { send({ do: "show", name: view.name, on: !view.on }); find("view").focus(); });
    return button;
  }));
  find("hint").textContent = views.some((view) => view.privileged)
    ? "* help that agents do not have: the run records it" : "";
}

function showPad() {
  if (find("pad").dataset.actions === state.actions.join()) return;
  find("pad").dataset.actions = state.actions.join();
  const wanted = state.is_on_graphs ? ["left", "right"] : state.is_continuous ? Object.keys(LABELS)
    : Object.keys(LABELS).filter((what) => indexOf(what) >= 0);
  const buttons = wanted.map((what) => [what, state.is_on_graphs ? `look ${what}` : LABELS[what]]);
  buttons.push(["declare", state.declaration.replaceAll("_", " ").toUpperCase()]);
  if (!state.is_continuous && indexOf("end") >= 0) buttons.push(["end", "END EPISODE"]);
  find("pad").replaceChildren(...buttons.map(([what, label]) => {
    const button = make("button", label, what === "declare" || what === "end" ? "wide" : "");
    button.type = "button";
    button.dataset.what = what;
    button.addEventListener("pointerdown", (event) => { event.preventDefault(); press(what); });
    for (const name of ["pointerup", "pointerleave", "pointercancel"]) button.addEventListener(name, () => held.delete(what));
    button.addEventListener("click", (event) => { if (event.detail === 0) { press(what); held.delete(what); } });
    return button;
  }));
  find("keys").innerHTML = state.is_on_graphs
    ? "<kbd>←</kbd> <kbd>→</kbd> look around, <kbd>1</kbd>–<kbd>9</kbd> go to a neighbour, <kbd>Space</kbd> stop, <kbd>M</kbd> map, <kbd>N</kbd> next episode"
    : "<kbd>↑</kbd> <kbd>←</kbd> <kbd>→</kbd> or <kbd>W</kbd> <kbd>A</kbd> <kbd>D</kbd> move, <kbd>R</kbd> <kbd>F</kbd> look up and down, "
      + "<kbd>Space</kbd> declare, <kbd>M</kbd> map, <kbd>2</kbd>–<kbd>4</kbd> other images, <kbd>N</kbd> next episode";
}

function showNeighbours() {
  find("marks").replaceChildren(...state.neighbours.flatMap((one, k) => {
    if (!one.at) return [];
    const mark = make("button", String(k + 1), "mark");
    mark.type = "button";
    mark.style.left = `${100 * one.at[0]}%`;
    mark.style.top = `${100 * one.at[1]}%`;
    mark.addEventListener("click", () => choose(one.action));
    return [mark];
  }));
  find("neighbours").replaceChildren(...state.neighbours.map((one, k) => {
    const side = one.right === 0 ? "ahead" : `${Math.abs(one.right)}° ${one.right > 0 ? "right" : "left"}`;
    const button = make("button", `${k + 1}: ${side}, ${one.metres.toFixed(1)} m`);
    button.type = "button";
    button.addEventListener("click", () => choose(one.action));
    return button;
  }));
}

function show(shown, images) {
  const before = state.phase;
  state = shown;
  document.body.dataset.phase = shown.phase;
  find("protocol").textContent = shown.protocol ?? "";
  find("who").textContent = shown.name ? `${shown.name}, ${shown.person} of ${shown.people}` : "";
  showCover(shown, before);
  if (shown.step === undefined) return void showNone("Loading the first episode …");
  if (shown.phase !== "play" || shown.step < sentAt || shown.step > sentAt) sentAt = -1;
  document.body.dataset.step = String(shown.step);
  find("number").textContent = `${Math.min(shown.number, shown.count)} of ${shown.count}`;
  find("step").textContent = `${shown.step} of ${shown.max_steps}`;
  find("collisions").textContent = String(shown.collisions);
  find("help").hidden = !shown.help.length;
  find("help").textContent = `help: ${shown.help.join(", ")}`;
  find("view").classList.toggle("hit", shown.hit && shown.phase === "play");
  paint(find("rgb"), images.rgb);
  showNone(images.rgb ? "" : "These places have no images: choose a neighbour by its direction.");
  showOthers(images);
  find("place").textContent = shown.goal.place || "Goal";
  find("goal").textContent = shown.goal.text;
  paint(find("goal-image"), images.goal);
  showReadings(shown.readings);
  showToggles(shown.views);
  showPad();
  showNeighbours();
  find("map-section").hidden = !shown.map;
  showMap(find("map"), shown.map);
  actEarly();
}
