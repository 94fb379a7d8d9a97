"""Measurements that anyone can rerun: what VFA costs beside the floor of the browser."""
