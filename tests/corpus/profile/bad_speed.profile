read_bytes_per_s 0 0 0 0
