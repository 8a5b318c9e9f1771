tier_bytes 4 3 2 1
