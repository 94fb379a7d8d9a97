// Returns what the document sees of its viewport, in CSS pixels.
() => {
  // The getter itself: a form or an image named "documentElement" is a property of document.
  const { get } = Object.getOwnPropertyDescriptor(Document.prototype, "documentElement");
  const root = Reflect.apply(get, document, []);
  return {
    innerWidth,
    innerHeight,
    devicePixelRatio,
    scrollX: Math.round(scrollX),
    scrollWidth: root === null ? 0 : root.scrollWidth,
  };
}
