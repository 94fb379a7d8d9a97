"""The actors: each one async function that serves one mailbox, with its handle beside it."""
