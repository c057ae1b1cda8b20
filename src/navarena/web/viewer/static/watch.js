// Watch: the slots of a batch side by side, one of them large.
"use strict";
import { connect, fillTable, find, make, paint, showMap } from "/static/link.js";

const send = connect(show, () => showNone("The run has ended."));

function showNone(text) {
  find("none").hidden = !text;
  find("none").textContent = text;
}

function showTiles(shown, images) {
  const tiles = shown.slots.map((one) => {
    const found = find("tiles").querySelector(`[data-slot="${one.slot}"]`);
    if (found) return found;
    const tile = make("button", "", "tile");
    tile.type = "button";
    tile.dataset.slot = one.slot;
    tile.append(document.createElement("canvas"), make("div", "", "only-text"), make("div", "", "caption"));
    tile.addEventListener("click", () => send({ do: "choose", number: one.slot }));
    return tile;
  });
  find("tiles").replaceChildren(...tiles);
  shown.slots.forEach((one, k) => {
    const [canvas, text, caption] = tiles[k].children, image = images[`slot-${one.slot}`];
    paint(canvas, image);
    text.hidden = Boolean(image);
    text.textContent = "no images";
    caption.textContent = one.episode.split("/").at(-1);
    tiles[k].title = `${one.episode} · ${one.scene}`;
    tiles[k].setAttribute("aria-pressed", String(one.slot === shown.chosen));
  });
}

function showToggles(shown) {
  const names = [...shown.sensors.map((name) => [name, name === shown.sensor, true]), ["map", shown.with_map, !shown.with_map]];
  find("toggles").replaceChildren(...names.map(([name, on, wanted]) => {
    const button = make("button", name);
    button.type = "button";
    button.dataset.view = name;
    button.setAttribute("aria-pressed", String(on));
    button.addEventListener("click", () => send({ do: "show", name, on: wanted }));
    return button;
  }));
}

function show(shown, images) {
  document.body.dataset.phase = shown.phase;
  document.body.dataset.done = String(shown.done ?? 0);
  if (shown.label === undefined) return;
  find("label").textContent = shown.label;
  find("done").textContent = `${shown.done} of ${shown.total}`;
  find("scores").textContent = shown.scores.map((one) => `${one.title} ${one.value}`).join("   ");
  find("rows-section").hidden = !shown.rows.length;
  fillTable(find("rows"), ["episode", "outcome", "steps"], shown.rows.map((one) => [one.episode, one.verdict, String(one.steps)]));
  find("pace-section").hidden = shown.pace === null || shown.phase === "finished";
  if (shown.phase === "finished") return void showNone("");
  if (!shown.slots) return;
  paint(find("chosen"), images.chosen);
  showNone(images.chosen ? "" : "This agent observes no images.");
  find("place").textContent = shown.goal.place || "Goal";
  find("goal").textContent = shown.led ? "an oracle leads the body to the next start" : shown.goal.text;
  find("where").textContent = `step ${shown.step}, collisions ${shown.collisions}`;
  showTiles(shown, images);
  showToggles(shown);
  find("map-section").hidden = !shown.map;
  showMap(find("map"), shown.map);
}

find("pace").addEventListener("input", () => {
  find("rate").value = find("pace").value;
  send({ do: "pace", rate: Number(find("pace").value) });
});
