"use strict";
for (const button of document.querySelectorAll("[data-language]")) {
  button.addEventListener("click", () => {
    document.documentElement.lang = button.dataset.language;
    for (const other of document.querySelectorAll("[data-language]")) {
      other.setAttribute("aria-pressed", String(other === button));
    }
  });
}
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  opened.forEach((details) => { details.open = true; });
});
addEventListener("afterprint", () => opened.forEach((details) => { details.open = false; }));
