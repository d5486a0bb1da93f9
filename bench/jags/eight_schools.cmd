model in "bench/jags/eight_schools.jags"
data in "build/bench/data/eight_schools.R"
compile, nchains(4)
initialize
update 1000
monitor mu
monitor tau
monitor theta
update 1000
coda *, stem("build/bench/jags_")
