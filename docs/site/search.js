// The search of the pages that tools/scripts/site.py writes, which puts their texts (PAGES) before
// this. All of it is here: nothing is loaded from anywhere else.
"use strict";

(() => {
  const field = document.getElementById("query");
  const found = document.getElementById("found");
  const up = document.documentElement.dataset.up;

  const simple = (text) => text.toLowerCase();
  const marks = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"};
  const escaped = (text) => text.replace(/[&<>"]/g, (c) => marks[c]);

  // How well an entry has all words; 0: it lacks one. What is called so comes first, then what
  // begins so; of those, what is written so, and references before other pages.
  const score = (entry, words) => {
    let sum = entry.title === field.value.trim() ? 30 : 0;
    for (const word of words) {
      const title = entry.low;
      if (title === word || title.endsWith("::" + word)) sum += 100;
      else if (title.startsWith(word)) sum += 40;
      else if (title.includes(word)) sum += 20;
      else if (entry.text.includes(word)) sum += 1 + Math.min(4, entry.text.split(word).length - 1);
      else return 0;
    }
    if (/^docs\/(reference\/|operations)/.test(entry.url)) sum += 8;
    return sum + (entry.row ? 0 : 2);
  };

  // Some words around the first of `words` in a text, which are marked.
  const around = (text, words) => {
    const places = words.map((word) => simple(text).indexOf(word)).filter((place) => place >= 0);
    const at = Math.max(0, Math.min(...places, text.length) - 40);
    let piece = escaped((at > 0 ? "... " : "") + text.slice(at, at + 160));
    for (const word of words) {
      const literal = escaped(word).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      piece = piece.replace(new RegExp("(?<!&[a-z]*)(" + literal + ")", "gi"), "\0$1\x01");
    }
    return piece.replaceAll("\0", "<mark>").replaceAll("\x01", "</mark>");
  };

  let entries = null;
  const all = () => entries ??= PAGES.flatMap(([url, page, parts]) => parts.map(([title, anchor, text, row]) =>
      ({url: url + "#" + anchor, page, title, low: simple(title), said: text, text: simple(text), row})));

  const show = () => {
    const words = simple(field.value).split(/\s+/).filter(Boolean);
    if (words.length === 0) {
      found.innerHTML = "";
      return;
    }
    const best = all().map((entry) => [score(entry, words), entry]).filter(([s]) => s > 0)
        .sort((a, b) => b[0] - a[0]).slice(0, 30);
    found.innerHTML = best.length === 0 ? "<p>Nothing has all of these words.</p>" : best.map(([, e]) =>
        `<a href="${escaped(up + e.url)}"><b>${escaped(e.title)}</b> <small>${escaped(e.page)}</small>` +
        `<span>${around(e.said, words)}</span></a>`).join("");
  };

  field.addEventListener("input", show);
  field.form.addEventListener("submit", (event) => {
    event.preventDefault();
    found.querySelector("a")?.click();
  });
  document.addEventListener("keydown", (event) => {
    const links = [...found.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    if (event.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) {
      field.focus();
    } else if (event.key === "Escape") {
      field.value = "";
      show();
    } else if (event.key === "ArrowDown" && links.length > 0) {
      links[Math.min(at + 1, links.length - 1)].focus();
    } else if (event.key === "ArrowUp" && at >= 0) {
      (links[at - 1] ?? field).focus();
    } else {
      return;
    }
    event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("form, #found")) found.innerHTML = "";
  });
  found.addEventListener("click", () => setTimeout(() => found.innerHTML = ""));

  // A word may stand in the address: index.html?q=Conv2d.
  const asked = new URLSearchParams(location.search).get("q");
  if (asked) {
    field.value = asked;
    show();
  }
})();
