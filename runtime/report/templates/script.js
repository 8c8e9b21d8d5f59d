"use strict";
for (const button of document.querySelectorAll("[data-language]")) {
  button.addEventListener("click", () => {
    document.documentElement.lang = button.dataset.language;
    for (const other of document.querySelectorAll("[data-language]")) {
      other.setAttribute("aria-pressed", String(other === button));
    }
  });
}
