"use strict";
const buttons = [...document.querySelectorAll("[data-language]")];
function show(chosen) {
  document.documentElement.lang = chosen.dataset.language;
  for (const button of buttons) button.setAttribute("aria-pressed", String(button === chosen));
}
for (const button of buttons) button.addEventListener("click", () => show(button));
// A reader gets the language of the browser where the page has it.
const own = buttons.find((button) => navigator.language.toLowerCase().startsWith(button.dataset.language.slice(0, 2)));
if (own) show(own);
