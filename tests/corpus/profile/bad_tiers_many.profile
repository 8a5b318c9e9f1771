tier_bytes 1 2 3 4 5
