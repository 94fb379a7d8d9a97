// Calls a function of the kit whose result is wanted as an object, not as JSON.
(name, ...values) => vfa[name](...values)
