// What of the document is in sight, and how large it is on the screen.
() => ({
  width: innerWidth,
  height: innerHeight,
  ratio: devicePixelRatio,
  scrollX,
  scrollY,
  zoom: visualViewport.scale,
  seenWidth: visualViewport.width,
  seenHeight: visualViewport.height,
})
