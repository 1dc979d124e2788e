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

// Words open the verdicts that have them, and hide all others.
const groups = Array.from(document.querySelectorAll("details.verdicts"));
const field = document.getElementById("filter-words");
const shown = document.getElementById("shown");
field.addEventListener("input", () => {
  const words = field.value.trim().toLowerCase().split(/\s+/);
  let count = 0;
  for (const group of groups) {
    let fitting = 0;
    for (const row of group.querySelectorAll("tbody tr")) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      fitting += !row.hidden;
    }
    group.hidden = !fitting;
    group.open = fitting > 0 && words[0] !== "";
    count += fitting;
  }
  shown.textContent = words[0] === "" ? "" : "rows: " + count;
});
