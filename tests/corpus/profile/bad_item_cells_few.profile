item_cells 4
