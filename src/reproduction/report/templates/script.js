"use strict";
document.documentElement.classList.add("script");

// A click on a figure opens it in the whole window; a second one shows it at its own size.
const viewer = document.getElementById("viewer");
const enlarged = viewer.querySelector("img");
for (const button of document.querySelectorAll("button.zoom")) {
  button.addEventListener("click", () => {
    const image = button.querySelector("img");
    enlarged.src = image.src;
    enlarged.alt = image.alt;
    viewer.classList.remove("full");
    viewer.showModal();
  });
}
enlarged.addEventListener("click", () => viewer.close());
document.getElementById("close").addEventListener("click", () => viewer.close());
document.getElementById("size").addEventListener("click", () => viewer.classList.toggle("full"));

// The table of all verdicts: filters, and sorting by a click on the head of a column.
const table = document.getElementById("all-verdicts");
const body = table.tBodies[0];
const rows = Array.from(body.rows);
const filters = ["words", "paper", "verdict"].map((name) => document.getElementById("filter-" + name));
const shown = document.getElementById("shown");
function filter() {
  const [words, paper, verdict] = filters.map((field) => field.value.trim().toLowerCase());
  let count = 0;
  for (const row of rows) {
    const fits = (!paper || row.dataset.paper === paper) && (!verdict || row.dataset.verdict === verdict)
      && words.split(/\s+/).every((word) => row.textContent.toLowerCase().includes(word));
    row.hidden = !fits;
    count += fits;
  }
  shown.textContent = count + " of " + rows.length + " rows";
}
for (const field of filters) field.addEventListener("input", filter);
filter();
const heads = Array.from(table.tHead.rows[0].cells);
const order = new Intl.Collator("en", { numeric: true });
function key(row, column) {
  const text = row.cells[column].textContent.trim();
  return { text, number: text === "" ? NaN : Number(text) };
}
function compare(first, second) {
  const numbers = !Number.isNaN(first.number) && !Number.isNaN(second.number);
  return numbers ? first.number - second.number : order.compare(first.text, second.text);
}
heads.forEach((head, column) => {
  head.querySelector("button").addEventListener("click", () => {
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const keyed = rows.map((row) => [key(row, column), row]);
    keyed.sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]));
    body.append(...keyed.map((pair) => pair[1]));
  });
});
