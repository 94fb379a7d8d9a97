// Returns {found, text} of the first match of `selector`, or of the body where it is "".
// Waits for a match until the caller gives up: an observer looks, nobody polls.
// Throws a SyntaxError at once for a selector that is none.
(selector) => {
  const read = () => {
    const element = selector === "" ? document.body : document.querySelector(selector);
    if (element === null) return null;
    const tag = element.localName;
    if (selector !== "" && (tag === "input" || tag === "textarea" || tag === "select")) {
      return element.value;
    }
    // innerText is what a reader sees; SVG and MathML elements have none.
    return element.innerText ?? element.textContent ?? "";
  };
  const now = read();
  if (now !== null) return now;
  return new Promise((resolve, reject) => {
    const observer = new MutationObserver(() => {
      try {
        const text = read();
        if (text === null) return;
        observer.disconnect();
        resolve(text);
      } catch (error) {
        observer.disconnect();
        reject(error);
      }
    });
    observer.observe(document, { subtree: true, childList: true, attributes: true });
  });
}
