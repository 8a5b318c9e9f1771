cores 2.5
