"""What can be done on one tab, by noun; and ``records``, the words for what a tab did."""
