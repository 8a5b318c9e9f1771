write_cost nan
