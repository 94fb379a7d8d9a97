"""Rules about what a page asked the network for, and got."""
