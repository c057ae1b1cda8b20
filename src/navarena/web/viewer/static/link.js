// The link of a page to its program: states as JSON, each followed by the images that it names.
"use strict";

export function connect(onShown, onEnded) {
  const socket = new WebSocket(`ws://${location.host}/stream`);
  socket.binaryType = "blob";
  let state = null, blobs = [], order = Promise.resolve();

  function finish() {
    const shown = state, names = shown.images, data = blobs;
    state = null;
    order = order.then(async () => {
      const images = {};
      await Promise.all(names.map(async (name, k) => { images[name] = await createImageBitmap(data[k]); }));
      onShown(shown, images);
    });
  }

  socket.addEventListener("message", (event) => {
    if (typeof event.data === "string") {
      state = JSON.parse(event.data);
      blobs = [];
    } else {
      blobs.push(event.data);
    }
    if (state && blobs.length === (state.images ?? []).length) {
      state.images ??= [];
      finish();
    }
  });
  socket.addEventListener("close", () => order.then(onEnded));
  return (message) => { if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message)); };
}

export function paint(canvas, bitmap) {
  canvas.hidden = !bitmap;
  if (!bitmap) return;
  if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) {
    canvas.width = bitmap.width;
    canvas.height = bitmap.height;
  }
  canvas.getContext("2d").drawImage(bitmap, 0, 0);
}

export function find(id) { return document.getElementById(id); }

export function make(tag, text = "", name = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  if (name) element.className = name;
  return element;
}

export function fillTable(table, columns, rows) {
  const head = make("tr"), lines = rows.map((row) => {
    const line = make("tr");
    line.append(...row.map((cell) => make("td", cell)));
    return line;
  });
  head.append(...columns.map((name) => make("th", name)));
  table.replaceChildren(head, ...lines);
}

// The program draws maps as SVG of its own; only its elements are taken over.
export function showMap(holder, text) {
  holder.hidden = !text;
  if (holder.dataset.text === text) return;
  holder.dataset.text = text;
  const parsed = text ? new DOMParser().parseFromString(text, "text/html").body.firstElementChild : null;
  holder.replaceChildren(...(parsed ? [parsed] : []));
}
