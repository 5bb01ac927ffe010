// Runs before the style sheet, so that the page is never painted on the wrong paper. See app/reading.ts.
(function () {
  try {
    var kept = JSON.parse(localStorage.getItem("fabula.reading") || "{}");
    ["paper", "face", "size", "measure", "leading", "justify", "motion"].forEach(function (name) {
      if (typeof kept[name] === "string" && /^[a-z0-9]{1,12}$/.test(kept[name])) document.documentElement.dataset[name] = kept[name];
    });
  } catch {
    // Storage that cannot be read is no reason to show nothing.
  }
})();
