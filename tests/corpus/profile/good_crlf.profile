name fuzz device
driver 1.0
kind 1
cores 2
zero_copy 1
fp64 1
assumed 0
tier_bytes 32768 1048576 33554432 1e+300
read_bytes_per_s 2e11 1e11 5e10 1e10
write_cost 1.5
launch_sync_ns 40000
