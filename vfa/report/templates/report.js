// Comfort only: the report is complete, and its filters work, without this.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const findings = [...document.querySelectorAll(".finding")];
  const boxes = [...document.querySelectorAll(".toggle input")];
  const words = document.querySelector("#words");
  const shown = document.querySelector("#shown");

  const show = () => {
    const wanted = (words?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const off = new Set(boxes.filter((box) => !box.checked).map((box) => box.id.slice("show-".length)));
    let count = 0;
    for (const finding of findings) {
      finding.hidden = !wanted.every((word) => finding.dataset.words.includes(word));
      if (!finding.hidden && !off.has(finding.dataset.severity) && !off.has(finding.dataset.category)) count += 1;
    }
    if (shown) shown.textContent = `${count} of ${findings.length} shown`;
  };
  for (const box of boxes) box.addEventListener("change", show);
  words?.addEventListener("input", show);
  show();

  for (const button of document.querySelectorAll("[data-fold]")) {
    button.addEventListener("click", () => {
      for (const finding of findings) finding.firstElementChild.open = button.dataset.fold === "open";
    });
  }

  const copy = async (button) => {
    const code = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
  for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copy(button));

  // A link into something folded unfolds it.
  const unfold = () => {
    const target = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
    if (!target) return;
    for (let at = target.querySelector(":scope > details") ?? target; at; at = at.parentElement) {
      if (at.localName === "details") at.open = true;
    }
    target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();

  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const details of folded) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of folded) details.open = false;
  });
})();
