"""MPI for rlk: `mpirun -n 4 rlk run --algo ppo2 --plugin mpi`."""
