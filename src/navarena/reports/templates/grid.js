// Long tables: sorted and filtered on embedded arrays, a hundred rows on the page at a time.
"use strict";
(() => {
const PAGE = 100;

function textOf(column, row) {
  const value = column.values[row];
  switch (column.kind) {
    case "coded": return value < 0 ? "–" : column.names[value];
    case "flag": return value ? "yes" : "no";
    case "number": {
      if (value === null) return "∞";
      if (column.unit === "%") return (100 * value).toFixed(column.digits ?? 0) + " %";
      return value.toFixed(column.digits ?? 0) + (column.unit ? " " + column.unit : "");
    }
    default: return value;
  }
}

// Rows in ascending order of a column; equal ones keep their order. Infinite numbers come last.
function sorted(column, rows, descending) {
  const keys = column.kind === "number"
    ? column.values.map((value) => value === null ? Infinity : value)
    : column.values;
  const sign = descending ? -1 : 1;
  return rows.slice().sort((a, b) => keys[a] < keys[b] ? -sign : keys[a] > keys[b] ? sign : a - b);
}

// Rows in which some text holds the words; those of coded columns are looked up once for each name.
function filtered(columns, count, words) {
  const all = Array.from({ length: count }, (_, row) => row);
  if (!words) return all;
  const sought = words.toLowerCase();
  const tests = [];
  for (const column of columns) {
    if (column.kind === "coded") {
      const hits = new Set(column.names.flatMap((name, k) => name.toLowerCase().includes(sought) ? [k] : []));
      if (hits.size) tests.push((row) => hits.has(column.values[row]));
    } else if (column.kind === "text") {
      tests.push((row) => column.values[row].toLowerCase().includes(sought));
    }
  }
  return all.filter((row) => tests.some((test) => test(row)));
}

function element(name, parent, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  parent?.append(made);
  return made;
}

function setUp(grid) {
  const columns = JSON.parse(grid.querySelector("script").textContent);
  const count = columns[0].values.length;
  const state = { rows: filtered(columns, count, ""), page: 0, by: -1, descending: false, words: "" };
  const bar = element("div", grid, undefined, "grid-bar");
  const search = element("input", bar, undefined, "grid-search");
  search.type = "search";
  search.placeholder = "Find…";
  search.setAttribute("aria-label", "Show only rows that hold this text");
  const place = element("span", bar, undefined, "grid-place");
  place.setAttribute("aria-live", "polite");
  const steps = [["« First", () => 0], ["‹ Previous", () => state.page - 1],
    ["Next ›", () => state.page + 1], ["Last »", () => lastPage()]].map(([name, target]) => {
    const button = element("button", bar, name);
    button.type = "button";
    button.addEventListener("click", () => { state.page = target(); show(); });
    return button;
  });
  const table = element("table", element("div", grid, undefined, "scroll"));
  const head = element("tr", element("thead", table));
  const body = element("tbody", table);
  const headings = columns.map((column, k) => {
    const heading = element("th", head, undefined, isNumber(column) ? "number" : "");
    heading.scope = "col";
    const button = element("button", heading, column.title);
    button.type = "button";
    button.addEventListener("click", () => {
      state.descending = state.by === k && !state.descending;
      state.by = k;
      state.page = 0;
      order();
      show();
    });
    return heading;
  });

  function isNumber(column) { return column.kind === "number" || column.kind === "flag"; }
  function lastPage() { return Math.max(0, Math.ceil(state.rows.length / PAGE) - 1); }
  function order() {
    state.rows = filtered(columns, count, state.words);
    if (state.by >= 0) state.rows = sorted(columns[state.by], state.rows, state.descending);
  }
  function show() {
    const first = state.page * PAGE, shown = state.rows.slice(first, first + PAGE);
    const fragment = document.createDocumentFragment();
    for (const row of shown) {
      const line = element("tr", fragment);
      for (const column of columns) element("td", line, textOf(column, row), isNumber(column) ? "number" : "");
    }
    body.replaceChildren(fragment);
    headings.forEach((heading, k) => {
      if (k === state.by) heading.setAttribute("aria-sort", state.descending ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    });
    const total = state.rows.length.toLocaleString("en");
    place.textContent = shown.length
      ? `${(first + 1).toLocaleString("en")} to ${(first + shown.length).toLocaleString("en")} of ${total}`
      : "no row holds this";
    steps[0].disabled = steps[1].disabled = state.page === 0;
    steps[2].disabled = steps[3].disabled = state.page >= lastPage();
  }

  search.addEventListener("input", () => {
    state.words = search.value.trim();
    state.page = 0;
    order();
    show();
  });
  show();
}

// Short tables are in the page as they are; clicking a heading sorts their rows.
function setUpShort(table) {
  const body = table.tBodies[0];
  if (body.rows.length < 2) return;
  for (const heading of table.tHead.rows[0].cells) {
    if (!heading.textContent.trim()) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const descending = heading.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const sign = descending ? -1 : 1, k = heading.cellIndex;
      const rows = Array.from(body.rows, (row) => [keyOf(row.cells[k]?.textContent.trim() ?? ""), row]);
      rows.sort(([a], [b]) => compare(a, b) * sign);
      body.append(...rows.map(([, row]) => row));
    });
  }
}

function keyOf(text) {
  if (text.startsWith("∞")) return Infinity;
  const number = /^[-+−]?[\d,]*\.?\d+/.exec(text);
  return number ? Number(number[0].replaceAll(",", "").replace("−", "-")) : text;
}

function compare(a, b) {
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function listContents() {
  const list = document.querySelector(".contents ul");
  for (const section of document.querySelectorAll("section[id]")) {
    const link = element("a", element("li", list), section.querySelector("h2").textContent);
    link.href = "#" + section.id;
  }
}

// The controls of a player hide what stands at the foot of its image: they come when it plays.
function setUpVideo(video) {
  video.controls = false;
  const button = element("button", video.parentElement.querySelector("figcaption"), "▶ Play", "play");
  button.type = "button";
  button.addEventListener("click", () => video.paused ? video.play() : video.pause());
  video.addEventListener("click", () => { if (!video.controls) video.play(); });
  video.addEventListener("play", () => { video.controls = true; button.textContent = "❚❚ Pause"; });
  video.addEventListener("pause", () => { button.textContent = "▶ Play"; });
  video.addEventListener("ended", () => { video.controls = false; });
}

listContents();
document.querySelectorAll(".grid").forEach(setUp);
document.querySelectorAll("video").forEach(setUpVideo);
document.querySelectorAll("table.sortable").forEach(setUpShort);
document.documentElement.dataset.ready = "true";
})();
