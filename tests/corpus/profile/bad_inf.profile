write_cost 1e999
