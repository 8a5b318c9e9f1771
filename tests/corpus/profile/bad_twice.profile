cores 2
cores 2
