// Calls a function of the kit; answers with it the highest element number handed out so far.
async (name, ...values) => {
  const value = await vfa[name](...values);
  return { last: vfa.last, value };
}
