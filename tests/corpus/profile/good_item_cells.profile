kind 2
item_cells 4 2
