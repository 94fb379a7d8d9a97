// Resolves after the second animation frame: layout and paint of what came before are done.
() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(true))))
