item_cells 4 3
