kind 7
