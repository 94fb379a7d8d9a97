// Asks the WebGL stand-in of this document, which lives in the page's world, what it recorded:
// a list of one, or an empty one where there is none.
(token, clear) => {
  let answer = null;
  const hear = (event) => {
    answer = event.detail;
  };
  performance.addEventListener(`${token}!`, hear);
  performance.dispatchEvent(new CustomEvent(`${token}?`, { detail: { clear } }));
  performance.removeEventListener(`${token}!`, hear);
  return answer === null ? [] : [answer];
}
