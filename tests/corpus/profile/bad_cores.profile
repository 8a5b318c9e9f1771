cores 0
