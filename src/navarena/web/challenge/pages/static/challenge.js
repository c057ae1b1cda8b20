// Pages work without this: it sorts short tables, and shows the progress of a submission as it comes.
"use strict";
(() => {
function keyOf(text) {
  if (text.startsWith("∞")) return Infinity;
  const number = /^[-+−]?[\d,]*\.?\d+/.exec(text);
  return number && !/^\d{4}-\d\d-\d\d/.test(text) ? Number(number[0].replaceAll(",", "").replace("−", "-")) : text;
}

function compare(a, b) {
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function makeSortable(table) {
  const body = table.tBodies[0];
  if (body.rows.length < 2) return;
  for (const heading of table.tHead.rows[0].cells) {
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

function follow(section) {
  const stream = new EventSource(section.dataset.events);
  stream.addEventListener("message", (event) => {
    const progress = JSON.parse(event.data);
    if (progress.ended) {
      stream.close();
      location.reload();
      return;
    }
    const bar = section.querySelector("progress");
    bar.max = progress.of || 1;
    bar.value = progress.done;
    section.querySelector("#done").textContent = `${progress.done} of ${progress.of}`;
    document.querySelector("#state .chip").textContent = progress.state;
    section.querySelector("#so-far").replaceChildren(...progress.so_far.map((one) => {
      const line = document.createElement("li");
      line.textContent = `${one.title} so far: ${one.text} (n = ${one.n})`;
      return line;
    }));
  });
}

document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll("[data-events]").forEach(follow);
document.documentElement.dataset.ready = "true";
})();
