write_cost -1
