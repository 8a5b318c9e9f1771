tier_bytes 1 2
