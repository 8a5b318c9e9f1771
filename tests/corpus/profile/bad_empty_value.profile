cores
