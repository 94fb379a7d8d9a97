// Makes the kit number elements from above `floor`: what other documents used up is not reused.
(floor) => (vfa.last = Math.max(vfa.last, floor))
