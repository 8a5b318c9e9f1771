cores 2 2
