// What of the document is in sight, and how large it is on the screen.
() => ({
  width: innerWidth,
  height: innerHeight,
  ratio: devicePixelRatio,
  scrollX,
  scrollY,
  zoom: visualViewport.scale,
  left: visualViewport.pageLeft,
  top: visualViewport.pageTop,
  seenWidth: visualViewport.width,
  seenHeight: visualViewport.height,
})
